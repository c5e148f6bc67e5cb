"""After a SIGKILL, finished work is there and interrupted work is marked."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from bedrock_kb_simulator.embedder import WIDTH
from bedrock_kb_simulator.memory_indexes import Entry, MemoryIndexes
from bedrock_kb_simulator.store import Store
from simulator.tests.holding import holds
from simulator.tests.running import running
from simulator.tests.world import World, at, eventually


@holds("document.first-sync")
def test_documents_are_found_and_can_be_ingested_after_a_kill(
    tmp_path: Path, s3_endpoint: str
) -> None:
    with running(tmp_path, s3_endpoint, speed=50) as endpoint:
        world = World(endpoint, s3_endpoint)
        knowledge_base, source = world.pair()
        world.put("otter.txt", "Otters hold hands.", {"owner": "alice"})
        job = world.sync(knowledge_base, source)
        uri = world.put("weasel.txt", "Weasels hold hands.")
        document = {"content": {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}}

    with running(tmp_path, s3_endpoint, speed=50) as endpoint:
        again = World(endpoint, s3_endpoint)
        alices = {"equals": {"key": "owner", "value": "alice"}}
        (found,) = eventually(lambda: again.search(knowledge_base, "otters", alices))
        after = again.job(job)
        answer = again.agent.ingest_knowledge_base_documents(
            **at(knowledge_base, source), documents=[document]
        )
        eventually(lambda: len(again.search(knowledge_base, "weasels")) == 2)

    assert found["content"]["text"] == "Otters hold hands."
    assert after["statistics"] == job["statistics"]
    assert answer["documentDetails"][0]["status"] == "STARTING"


@holds("job.failed")
def test_killed_job_is_failed_and_next_job_finishes_its_work(
    tmp_path: Path, s3_endpoint: str
) -> None:
    with running(tmp_path, s3_endpoint, speed=50) as endpoint:
        world = World(endpoint, s3_endpoint)
        knowledge_base, source = world.pair()
        for number in range(60):
            world.put(f"{number:02}.txt", f"Otter number {number} holds hands.")
        # The last, and so long that the job is not over before the kill.
        world.put("long.txt", "A wall of granite. " * 2_000, {"kind": "long"})
        job = world.start(knowledge_base, source)
        eventually(lambda: world.job(job)["statistics"]["numberOfNewDocumentsIndexed"] > 3)

    with running(tmp_path, s3_endpoint, speed=50) as endpoint:
        again = World(endpoint, s3_endpoint)
        killed = again.job(job)
        statuses = set(again.statuses(knowledge_base, source).values())
        again.sync(knowledge_base, source)
        short = {"notEquals": {"key": "kind", "value": "long"}}
        texts = eventually(
            lambda: len(found := again.search(knowledge_base, "otter", short)) == 60 and found
        )

    assert killed["status"] == "FAILED"
    assert "internal error" in killed["failureReasons"][0]
    assert statuses == {"INDEXED", "FAILED"}
    assert len({hit["content"]["text"] for hit in texts}) == 60


def test_passage_lost_to_full_disk_is_not_found_under_another_owner(
    tmp_path: Path,
) -> None:
    """The next passage gets the row id of the lost one."""
    store = Store(tmp_path / "store.db")
    indexes = MemoryIndexes(store)
    vector = np.full(WIDTH, WIDTH**-0.5, np.float32)
    indexes.of("arn")

    def write(owner: str, *texts: str) -> None:
        values: dict[str, object] = {
            "index_arn": "arn",
            "data_source_id": "DS",
            "identifier": owner,
            "key": owner,
            "vector": vector.tobytes(),
            "model": "m",
            "visible_from": 0,
        }
        with store.transaction():
            for text in texts:
                row = store.insert("vectors", values | {"text": text})
                entry = Entry(row=row, owner=("DS", owner), vector=vector, visible_from=0)
                if loaded := indexes.loaded("arn"):
                    loaded.add([entry])

    (pages,) = store.rows("PRAGMA page_count")
    store.rows(f"PRAGMA max_page_count = {pages[0] + 8}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        write("alice", "It fits.", "It does not. " * 100_000)
    write("bob", "It fits, too.")

    found = indexes.of("arn").nearest(vector, 10, lambda owner, _: True)
    kept = store.rows("SELECT id, identifier FROM vectors")
    assert [row for row, _ in found] == [kept[0]["id"]]
    assert [row["identifier"] for row in kept] == ["bob"]
