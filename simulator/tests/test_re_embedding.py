"""Embedding again after a change of model: vectors of two models are never compared."""

from contextlib import closing
from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import MiniLM, Vector, normalise
from bedrock_kb_simulator.re_embedding import STORE, count_outdated, re_embed
from bedrock_kb_simulator.store import Store
from simulator.tests.running import simulated


class Other:
    """Another model with different vectors."""

    model = "other"

    def embed(self, text: str) -> Vector:
        return normalise(-MiniLM().embed(text))

    def embed_question(self, text: str) -> Vector:
        return self.embed(text)


def test_restart_with_another_model_re_embeds_ingested_documents_only(
    tmp_path: Path, s3_endpoint: str
) -> None:
    topic = {"value": {"type": "STRING", "stringValue": "otters"}, "includeForEmbedding": True}
    with simulated(tmp_path, s3_endpoint) as world:
        knowledge_base = world.filled(paws=("They hold hands.", {"topic": topic}))
        index = world.index()
        world.put_vector(index, "own", [1.0, *[0.0] * 1023])
    before = _vectors(tmp_path)
    with closing(Store(tmp_path / STORE)) as store:
        assert sum(re_embed(store, Other())) == 1
    turned = _vectors(tmp_path)

    with simulated(tmp_path, s3_endpoint) as world:
        [found] = world.search(knowledge_base, "otters hold hands")

    assert found["score"] > 0.5
    assert turned.keys() == before.keys()
    assert {key for key in before if not np.array_equal(turned[key], before[key])} == {"paws"}
    assert all(np.array_equal(now, before[key]) for key, now in _vectors(tmp_path).items())


def test_interrupted_re_embedding_is_resumed(tmp_path: Path) -> None:
    with closing(Store(tmp_path / STORE)) as store:
        for number in range(50):
            store.insert("vectors", _row(number))
        next(re_embed(store, Other()))  # and no more: as if it had been killed

    left = count_outdated(tmp_path, "other")
    with closing(Store(tmp_path / STORE)) as store:
        again = sum(re_embed(store, Other()))

    assert 0 < left < 50
    assert again == left
    assert count_outdated(tmp_path, "other") == 0


def _row(number: int) -> dict[str, object]:
    return {
        "key": str(number),
        "index_arn": "index",
        "data_source_id": "source",
        "identifier": "document",
        "text": f"text {number}",
        "vector": np.zeros(384, dtype=np.float32).tobytes(),
        "model": "before",
        "visible_from": 0,
    }


def _vectors(data_dir: Path) -> dict[str, Vector]:
    """Return vectors by the start of a document's name, or by the key of PutVectors."""
    with closing(Store(data_dir / STORE)) as store:
        return {
            Path(row["identifier"]).stem: np.frombuffer(row["vector"], np.float32)
            for row in store.rows("SELECT identifier, vector FROM vectors")
        }
