"""A start embeds passages of another model anew, and shows its progress."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from bedrock_kb_simulator.embedder import WIDTH, MiniLM
from bedrock_kb_simulator.re_embedding import STORE, count_outdated
from bedrock_kb_simulator.store import Store
from stackroom_local.servers import Ports
from stackroom_local.supervisor import LocalMode
from tests.local.running import directory


@pytest.mark.processes
def test_start_with_another_model_embeds_all_documents_again(tmp_path: Path) -> None:
    state, said, counted = directory(tmp_path), list[str](), list[tuple[str, int]]()
    with closing(Store(state / "simulator" / STORE)) as store:
        for number in range(3):
            store.insert("vectors", _row(number))

    @contextmanager
    def counting(text: str, total: int) -> Iterator[Callable[[int], None]]:
        counted.append((text, total))
        yield lambda _done: None

    mode = LocalMode(
        state=state, ports=Ports(aws=1), speed=1.0, announce=said.append, counting=counting
    )
    mode.re_embed()
    mode.re_embed()  # there is nothing more to do, and nothing is said

    assert count_outdated(state / "simulator", MiniLM().model) == 0
    assert said == ["embedding 3 passages again with the model minilm"]
    assert counted == [("passages", 3)]


def _row(number: int) -> dict[str, object]:
    return {
        "key": str(number),
        "index_arn": "index",
        "data_source_id": "source",
        "identifier": "document",
        "text": f"text {number}",
        "vector": np.zeros(WIDTH, dtype=np.float32).tobytes(),
        "model": "before",
        "visible_from": 0,
    }
