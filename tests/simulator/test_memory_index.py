"""The matrix in memory: it finds exactly what a comparison one by one finds."""

import numpy as np
import pytest

from stackroom_local.simulator.embedding import WIDTH
from stackroom_local.simulator.memory_index import Entry, MemoryIndex


@pytest.mark.parametrize("accepted", [3, 40])
def test_the_nearest_of_the_accepted_documents_are_found(accepted: int) -> None:
    vectors = _unit_vectors(400)
    index = MemoryIndex()
    index.add(
        Entry(row=row, owner=("source", str(row // 10)), vector=vector, visible_from=0)
        for row, vector in enumerate(vectors)
    )

    found = index.nearest(vectors[7], 5, lambda owner, _: int(owner[1]) < accepted)

    cosines = vectors[: accepted * 10] @ vectors[7]
    assert [row for row, _ in found] == np.argsort(-cosines)[:5].tolist()


def test_what_expired_is_not_found_and_what_came_after_it_is() -> None:
    vectors = _unit_vectors(300)
    index = MemoryIndex()
    old, new = ("source", "old"), ("source", "new")
    index.add(Entry(row=row, owner=old, vector=vectors[row], visible_from=0) for row in range(299))
    index.expire(old, 0)
    index.add([Entry(row=299, owner=new, vector=vectors[299], visible_from=0)])

    found = index.nearest(vectors[0], 5, lambda owner, attributes: True)

    assert [row for row, _ in found] == [299]


def _unit_vectors(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(0).normal(size=(count, WIDTH)).astype(np.float32)
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )
    return unit
