"""What is ingested into managed knowledge bases: jobs, direct requests, and what a job deletes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.simulator import data_sources, ingestion_jobs, knowledge_bases, rules
from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.server import Configuration, Simulator
from tests.simulator.holding import holds
from tests.simulator.managed import (
    CUSTOM,
    UNPROTECTED,
    connected,
    ingested,
    managed,
    places,
    s3,
    search,
)
from tests.simulator.world import World, eventually, inline, refused


@holds("managed.rate.IngestKnowledgeBaseDocuments")
def test_a_directly_ingested_document_is_found_and_a_deleted_one_is_not(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, CUSTOM)

    ingested(world, knowledge_base, source, [inline("apple", "Apples are red.", kind="fruit")])

    found = eventually(lambda: search(world, knowledge_base, "apples"))
    assert found[0]["location"] == {"type": "CUSTOM", "customDocumentLocation": {"id": "apple"}}
    assert found[0]["metadata"]["kind"] == "fruit"
    world.agent.delete_knowledge_base_documents(
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        documentIdentifiers=[{"dataSourceType": "CUSTOM", "custom": {"id": "apple"}}],
    )
    eventually(lambda: search(world, knowledge_base, "apples") == [])


@holds("managed.first-ingestion")
def test_the_first_request_into_a_knowledge_base_takes_longer(
    world_at: Callable[..., World],
) -> None:
    """While the first one warms the knowledge base up, others begin and end."""
    world = world_at(50, patient=True)
    cold, warm = managed(world), managed(world)
    first, second = connected(world, cold, CUSTOM), connected(world, warm, CUSTOM)
    ingested(world, warm, second, [inline("a", "Apples are red.", kind="fruit")])
    world.agent.ingest_knowledge_base_documents(
        knowledgeBaseId=cold, dataSourceId=first, documents=[inline("a", "One.", kind="x")]
    )

    ingested(world, warm, second, [inline("b", "Pears are green.", kind="fruit")])

    listed = world.agent.list_knowledge_base_documents(knowledgeBaseId=cold, dataSourceId=first)
    assert [each["status"] for each in listed["documentDetails"]] in (["STARTING"], ["IN_PROGRESS"])


@holds("managed.filter-keys", "document.first-sync")
def test_a_job_takes_in_what_lies_under_the_prefixes_and_matches(world: World) -> None:
    knowledge_base = managed(world)
    parameters = s3(
        world, "a/", "b/", exclusionPrefixes=["b/old/"], exclusionPatterns=[r".*\.tmp\.txt"]
    )
    source = connected(world, knowledge_base, parameters)
    for key in ("a/one.txt", "b/two.txt", "b/old/three.txt", "a/four.tmp.txt", "c/five.txt"):
        world.put(key, f"The text of {key}.")
    world.put("a/six.txt", "Six.", {"kind": "number"})

    job = world.sync(knowledge_base, source)

    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 3
    assert job["statistics"]["numberOfMetadataDocumentsScanned"] == 1
    assert world.statuses(knowledge_base, source) == dict.fromkeys(
        ("a/one.txt", "a/six.txt", "b/two.txt"), "INDEXED"
    )


@holds("managed.file-size")
def test_a_connector_leaves_large_files_out(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, s3(world, maxFileSizeInMegaBytes="1"))
    world.put("small.txt", "Small.")
    world.put("large.txt", "Large. " * 200_000)

    world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"small.txt": "INDEXED"}


@holds("managed.sidecar-size")
def test_a_sidecar_may_have_ten_kilobytes_and_no_more(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, s3(world))
    world.put("rich.txt", "Rich.", {f"key{number}": "x" * 90 for number in range(90)})
    world.put("richer.txt", "Richer.", {f"key{number}": "x" * 120 for number in range(90)})

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"rich.txt": "INDEXED"}
    assert "MaximumFileSizeSupported: 10240 bytes." in job["failureReasons"][0]


@holds("managed.filter-keys")
def test_a_document_brings_no_key_that_begins_as_the_services_own(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, CUSTOM)

    error = refused(
        world.agent.ingest_knowledge_base_documents,
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        documents=[inline("a", "text", _source_uri="s3://elsewhere/a")],
    )

    assert error["Message"] == "The inline attributes are invalid"


@pytest.mark.parametrize(
    ("protection", "kept"),
    [
        ({}, True),
        ({"deletionProtectionConfiguration": {"deletionProtectionStatus": "ENABLED"}}, True),
        ({"deletionProtectionConfiguration": UNPROTECTED}, False),
        (
            {
                "deletionProtectionConfiguration": {
                    "deletionProtectionStatus": "ENABLED",
                    "deletionProtectionThreshold": 50,
                }
            },
            False,
        ),
    ],
)
@holds("managed.deletion-protection")
def test_a_job_that_would_delete_too_much_deletes_nothing(
    world: World, protection: dict[str, Any], *, kept: bool
) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, s3(world), **protection)
    world.put("a.txt", "Apples are red.")
    world.put("b.txt", "Pears are green.")
    world.sync(knowledge_base, source)
    world.drop("a.txt")

    job = world.sync(knowledge_base, source)

    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfDocumentsDeleted"] == (0 if kept else 1)
    assert ("a.txt" in world.statuses(knowledge_base, source)) == kept


@holds("managed.deletion-protection")
def test_fifteen_of_a_hundred_may_go_and_direct_deletion_is_never_held_back(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, s3(world))
    keys = [f"{number}.txt" for number in range(7)]
    for key in keys:
        world.put(key, f"Number {key}.")
    world.sync(knowledge_base, source)
    world.drop(keys[0])  # one of seven: 14.3 %

    job = world.sync(knowledge_base, source)
    world.drop(keys[1])  # one of six: 16.7 %
    held = world.sync(knowledge_base, source)

    assert job["statistics"]["numberOfDocumentsDeleted"] == 1
    assert held["statistics"]["numberOfDocumentsDeleted"] == 0
    world.agent.delete_knowledge_base_documents(
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        documentIdentifiers=[
            {"dataSourceType": "S3", "s3": {"uri": f"s3://{world.bucket}/{keys[1]}"}}
        ],
    )
    eventually(lambda: keys[1] not in world.statuses(knowledge_base, source))


@holds("managed.jobs", "managed.jobs-per-source", "managed.jobs-in-account")
def test_more_than_five_jobs_run_in_a_managed_knowledge_base_one_in_each_data_source(
    unrated: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven stand for fifty, which would end before all of them are started."""
    few = replace(rules.JOBS_PER_MANAGED, value=7)
    monkeypatch.setattr(ingestion_jobs, "JOBS_PER_MANAGED", few)
    knowledge_base = managed(unrated)
    sources = [connected(unrated, knowledge_base, s3(unrated)) for _ in range(8)]
    start = unrated.agent.start_ingestion_job
    jobs = [start(knowledgeBaseId=knowledge_base, dataSourceId=sources[0])["ingestionJob"]]

    again = refused(start, knowledgeBaseId=knowledge_base, dataSourceId=sources[0])
    jobs.extend(
        start(knowledgeBaseId=knowledge_base, dataSourceId=source)["ingestionJob"]
        for source in sources[1:7]
    )
    over = refused(start, knowledgeBaseId=knowledge_base, dataSourceId=sources[7])

    assert again["Code"] == over["Code"] == "ConflictException"
    assert again["Message"].endswith("ingestion jobs per data source: 1")
    assert over["Message"].endswith("ingestion jobs per knowledge base: 7")
    assert rules.JOBS_PER_MANAGED.limit == 50
    assert {unrated.job(job)["status"] for job in jobs} <= {"STARTING", "IN_PROGRESS"}


@holds("managed.jobs-in-account", "job.per-account")
def test_jobs_of_managed_knowledge_bases_may_be_told_to_count_in_the_account(
    assuming: Callable[..., World],
) -> None:
    world = assuming(managed_jobs_in_account=True, managed_starts_rated=False)
    knowledge_base = managed(world)
    sources = [connected(world, knowledge_base, s3(world)) for _ in range(6)]
    start = world.agent.start_ingestion_job
    for source in sources[:5]:
        start(knowledgeBaseId=knowledge_base, dataSourceId=source)

    error = refused(start, knowledgeBaseId=knowledge_base, dataSourceId=sources[5])

    assert error["Code"] == "ConflictException"
    assert error["Message"].endswith("ingestion jobs per account: 5")


@holds("managed.starts")
@pytest.mark.parametrize(("rated", "refusals"), [(True, ["ThrottlingException"]), (False, [])])
def test_starts_of_managed_knowledge_bases_share_the_rate_of_all_unless_told_otherwise(
    assuming: Callable[..., World], *, rated: bool, refusals: list[str]
) -> None:
    world = assuming(managed_starts_rated=rated)
    knowledge_base = managed(world)
    first, second = (connected(world, knowledge_base, s3(world)) for _ in range(2))
    world.start(knowledge_base, first)
    impatient = World(world.endpoint, world.s3_endpoint)

    assert _codes(impatient, knowledge_base, second) == refusals


@holds("managed.direct-or-job")
def test_a_job_keeps_direct_requests_out_of_its_data_source_only(unrated: World) -> None:
    knowledge_base = managed(unrated)
    synced, other = (connected(unrated, knowledge_base, s3(unrated)) for _ in range(2))
    custom = connected(unrated, knowledge_base, CUSTOM)
    uri = unrated.put("a.txt", "Apples are red.")
    unrated.agent.start_ingestion_job(knowledgeBaseId=knowledge_base, dataSourceId=synced)
    named = {"knowledgeBaseId": knowledge_base}
    document = {"content": {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}}

    held = refused(
        unrated.agent.ingest_knowledge_base_documents,
        dataSourceId=synced,
        documents=[document],
        **named,
    )
    unrated.agent.ingest_knowledge_base_documents(
        dataSourceId=custom, documents=[inline("a", "text", kind="x")], **named
    )
    started = unrated.agent.start_ingestion_job(dataSourceId=other, **named)["ingestionJob"]

    assert "at least one running ingestion job" in held["Message"]
    assert started["status"] == "STARTING"


@holds("managed.direct-in-account", "document.concurrent")
def test_direct_requests_into_managed_knowledge_bases_count_among_the_ten(
    unrated: World,
) -> None:
    world = unrated
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, CUSTOM)
    ingest = world.agent.ingest_knowledge_base_documents
    named = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    for number in range(10):
        ingest(documents=[inline(str(number), "text", kind="x")], **named)

    error = refused(ingest, documents=[inline("10", "text", kind="x")], **named)

    assert error["Code"] == "ValidationException"
    assert "can't exceed (10)" in error["Message"]


@holds("managed.list-page")
def test_documents_are_listed_by_a_hundred_at_most(world: World) -> None:
    knowledge_base = managed(world)
    source = connected(world, knowledge_base, CUSTOM)

    error = refused(
        world.agent.list_knowledge_base_documents,
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        maxResults=101,
    )

    assert error["Message"] == "maxResults must be less than or equal to 100"


@holds("managed.parsing")
def test_pictures_are_documents_unless_it_is_told_otherwise(world: World) -> None:
    knowledge_base = managed(world)
    off = {"imageExtractionConfiguration": {"imageExtractionStatus": "DISABLED"}}
    blind = connected(world, knowledge_base, s3(world), mediaExtractionConfiguration=off)
    world.put("a.png", b"no picture at all")

    world.sync(knowledge_base, blind)

    assert world.statuses(knowledge_base, blind) == {"a.png": "IGNORED"}
    seeing = connected(world, knowledge_base, s3(world))
    world.sync(knowledge_base, seeing)
    assert world.statuses(knowledge_base, seeing) == {"a.png": "FAILED"}


def test_passages_of_a_deleted_data_source_are_found_no_more(world: World) -> None:
    knowledge_base = managed(world)
    gone, kept = (connected(world, knowledge_base, CUSTOM) for _ in range(2))
    ingested(world, knowledge_base, gone, [inline("old", "Apples are red.", kind="x")])
    ingested(world, knowledge_base, kept, [inline("new", "Apples are red.", kind="x")])
    eventually(lambda: len(search(world, knowledge_base, "apples")) == 2)

    world.agent.delete_data_source(knowledgeBaseId=knowledge_base, dataSourceId=gone)

    eventually(lambda: places(search(world, knowledge_base, "apples")) == ["new"])


def _codes(world: World, knowledge_base: str, source: str) -> list[str]:
    """Of a start that may be refused, the code of its error."""
    try:
        world.agent.start_ingestion_job(knowledgeBaseId=knowledge_base, dataSourceId=source)
    except world.agent.exceptions.ThrottlingException as error:
        return [error.response["Error"]["Code"]]
    return []


@pytest.fixture
def assuming(
    s3_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., World]]:
    """
    A fresh simulator that assumes what the test says, in which a job outlasts the test, and not
    what comes before it.
    """
    for module, name in (
        (knowledge_bases, "MANAGED_CREATION"),
        (data_sources, "MANAGED_SOURCE_CREATION"),
    ):
        monkeypatch.setattr(module, name, replace(getattr(rules, name), value=1))
    running: list[Simulator] = []

    def start(**assumptions: bool) -> World:
        configuration = Configuration(
            data_dir=tmp_path / "simulator",
            s3_endpoint=s3_endpoint,
            speed=10,
            assumptions=Assumptions(**assumptions),
        )
        running.append(Simulator(configuration).__enter__())
        return World(running[-1].endpoint, s3_endpoint, patient=True)

    yield start
    for simulator in running:
        simulator.__exit__(None, None, None)


@pytest.fixture
def unrated(assuming: Callable[..., World]) -> World:
    return assuming(managed_starts_rated=False)
