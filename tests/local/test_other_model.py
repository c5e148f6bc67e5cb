"""A start with another model announces that the simulator embeds everything again."""

from contextlib import closing
from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import WIDTH, MiniLM
from bedrock_kb_simulator.re_embedding import STORE, re_embed
from bedrock_kb_simulator.store import Store
from stackroom_local.servers import Ports
from stackroom_local.supervisor import LocalMode
from tests.local.running import directory


def test_start_with_another_model_announces_what_is_embedded_again(tmp_path: Path) -> None:
    state, said = directory(tmp_path), list[str]()
    mode = LocalMode(state=state, ports=Ports(aws=1), speed=1.0, announce=said.append)
    with closing(Store(state / "simulator" / STORE)) as store:
        for number in range(3):
            store.insert("vectors", _row(number))
        mode.announce_re_embedding()
        re_embedded = sum(re_embed(store, MiniLM()))
        mode.announce_re_embedding()

    assert re_embedded == 3
    assert said == ["embedding 3 passages again with the model minilm"]


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
