"""Ingestion into managed knowledge bases: jobs, direct requests, deletion protection."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bedrock_kb_simulator import rules
from simulator.tests.holding import holds
from simulator.tests.managed import CUSTOM, connected, ingested, pair, places, s3, search
from simulator.tests.world import World, at, eventually, inline, invalid, refused


@holds("managed.rate.IngestKnowledgeBaseDocuments", "managed.list-page", "managed.filter-keys")
def test_directly_ingested_document_is_found_until_deleted(world: World) -> None:
    knowledge_base, source = pair(world, CUSTOM)
    key, agent = at(knowledge_base, source), world.agent
    other = connected(world, knowledge_base, CUSTOM)
    apples = ("apple", "Apples are red.")

    ingested(world, knowledge_base, source, [inline(*apples, kind="fruit")])
    ingested(world, knowledge_base, other, [inline("other", "Apples are green.", kind="fruit")])
    both = eventually(lambda: len(found := search(world, knowledge_base, "red")) == 2 and found)
    agent.delete_knowledge_base_documents(
        **key, documentIdentifiers=[{"dataSourceType": "CUSTOM", "custom": {"id": "apple"}}]
    )
    eventually(lambda: places(search(world, knowledge_base, "red")) == ["other"])
    agent.delete_data_source(**at(knowledge_base, other))

    assert both[0]["location"] == {"type": "CUSTOM", "customDocumentLocation": {"id": "apple"}}
    assert both[0]["metadata"]["kind"] == "fruit"
    eventually(lambda: search(world, knowledge_base, "red") == [])
    own_key = [inline("a", "text", _source_uri="s3://elsewhere/a")]
    own = invalid(agent.ingest_knowledge_base_documents, **key, documents=own_key)
    page = invalid(agent.list_knowledge_base_documents, **key, maxResults=101)
    assert own == "The inline attributes are invalid"
    assert page == "maxResults must be less than or equal to 100"


@holds("managed.filter-keys", "document.first-sync", "managed.file-size", "managed.sidecar-size")
def test_managed_job_ingests_files_under_its_prefixes_within_size_limits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MANAGED_FILE_SIZE", replace(rules.MANAGED_FILE_SIZE, value=99_999))
    knowledge_base, source = pair(world, s3(world, "a/", "b/"))
    for key in ("a/one.txt", "b/two.txt", "c/three.txt"):
        world.put(key, f"The text of {key}.")
    world.put("a/large.txt", "Large. " * 20_000)
    world.put("a/rich.txt", "Rich.", {f"key{number}": "x" * 90 for number in range(90)})
    world.put("a/richer.txt", "Richer.", {f"key{number}": "x" * 120 for number in range(90)})

    job = world.sync(knowledge_base, source)

    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 3
    assert world.statuses(knowledge_base, source) == {
        **dict.fromkeys(("a/one.txt", "a/rich.txt", "b/two.txt"), "INDEXED"),
        "a/large.txt": "FAILED",
    }
    assert "MaximumFileSizeSupported: 10240 bytes." in "".join(job["failureReasons"])


@holds("managed.deletion-protection")
@pytest.mark.parametrize(
    ("protection", "documents", "kept"),
    [
        (None, 6, True),  # 15 % may go
        (None, 7, False),
        ({"deletionProtectionStatus": "DISABLED"}, 2, False),
        ({"deletionProtectionStatus": "ENABLED", "deletionProtectionThreshold": 50}, 2, False),
    ],
)
def test_deletion_protection_stops_a_job_from_deleting_too_much(
    world: World, protection: dict[str, Any] | None, documents: int, *, kept: bool
) -> None:
    knowledge_base, source = pair(world, deletionProtectionConfiguration=protection)
    for number in range(documents):
        world.put(f"{number}.txt", f"Number {number}.")
    world.sync(knowledge_base, source)
    world.drop("0.txt")

    job = world.sync(knowledge_base, source)

    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfDocumentsDeleted"] == (0 if kept else 1)
    assert ("0.txt" in world.statuses(knowledge_base, source)) == kept


@holds(
    "managed.jobs-per-source",
    "managed.in-account",
    "managed.direct-or-job",
    "document.concurrent",
)
def test_managed_knowledge_base_runs_one_job_per_data_source(
    world_at: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MANAGED_CREATION", "MANAGED_SOURCE_CREATION"):
        monkeypatch.setattr(rules, name, replace(getattr(rules, name), value=0.1))
    monkeypatch.setitem(rules.RATES, "StartIngestionJob", 100.0)
    # At AWS's own speed, jobs and requests are still at work when the test ends.
    world = world_at(1, patient=True)
    start, ingest = world.agent.start_ingestion_job, world.agent.ingest_knowledge_base_documents
    knowledge_base, custom = pair(world, CUSTOM)
    keys = [at(knowledge_base, connected(world, knowledge_base, s3(world))) for _ in range(7)]
    uri = world.put("a.txt", "Apples are red.")
    document = {"content": {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}}

    jobs = [start(**key)["ingestionJob"] for key in keys]
    again = refused(start, **keys[0])
    held = invalid(ingest, **keys[0], documents=[document])
    into = at(knowledge_base, custom)
    for number in range(10):
        ingest(**into, documents=[inline(str(number), "text", kind="x")])
    eleventh = invalid(ingest, **into, documents=[inline("10", "text", kind="x")])

    assert again["Code"] == "ConflictException"
    assert again["Message"].endswith("ingestion jobs per data source: 1")
    assert {world.job(job)["status"] for job in jobs} <= {"STARTING", "IN_PROGRESS"}
    assert "at least one running ingestion job" in held
    assert "can't exceed (10)" in eleventh
