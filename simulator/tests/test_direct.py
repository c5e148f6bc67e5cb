"""Direct ingestion and deletion: validation of requests, and statuses of documents."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from bedrock_kb_simulator.chunk_strategies import Chunk
from bedrock_kb_simulator.indexing import limited
from bedrock_kb_simulator.rules import DOCUMENT_WORK
from bedrock_kb_simulator.service_errors import Unindexable
from simulator.tests.holding import holds
from simulator.tests.world import (
    CUSTOM,
    World,
    at,
    by_location,
    eventually,
    fixed,
    inline,
    invalid,
    refused,
)

BUSY = "You have reached the maximum number of concurrent ingestion jobs per knowledge base: 1"


def custom(world: World) -> dict[str, str]:
    return at(*world.pair(dataSourceConfiguration=CUSTOM))


def synced(world: World) -> dict[str, str]:
    """Create an S3 data source that accepts direct requests."""
    pair = world.pair("shelf/")
    world.sync(*pair)
    return at(*pair)


def named(identifier: str) -> dict[str, Any]:
    """Return the identifier of a document by its id or URI."""
    if identifier.startswith("s3://"):
        return {"dataSourceType": "S3", "s3": {"uri": identifier}}
    return {"dataSourceType": "CUSTOM", "custom": {"id": identifier}}


def by_uri(uri: str, *, described: bool = True) -> dict[str, Any]:
    """Return a document by URI, with its sidecar if `described`."""
    content = {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}
    sidecar = {"type": "S3_LOCATION", "s3Location": {"uri": f"{uri}.metadata.json"}}
    return {"content": content} | ({"metadata": sidecar} if described else {})


def ingest(world: World, key: dict[str, str], *documents: dict[str, Any]) -> list[str]:
    """Ingest documents and return their first statuses."""
    answer = world.agent.ingest_knowledge_base_documents(**key, documents=documents)
    return [each["status"] for each in answer["documentDetails"]]


def delete(world: World, key: dict[str, str], *identifiers: str) -> None:
    given = [named(each) for each in identifiers]
    world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=given)


def status(world: World, key: dict[str, str], identifier: str) -> str:
    """Return a document's status, NOT_FOUND if there is none."""
    answer = world.agent.get_knowledge_base_documents(
        **key, documentIdentifiers=[named(identifier)]
    )
    return str(answer["documentDetails"][0]["status"])


def owned(world: World, key: dict[str, str], owner: str) -> list[str]:
    """Return the texts of documents whose sidecars have this owner."""
    condition = {"equals": {"key": "owner", "value": owner}}
    return [hit["content"]["text"] for hit in world.search(key["knowledgeBaseId"], "x", condition)]


def settled(world: World, key: dict[str, str]) -> dict[str, dict[str, Any]] | None:
    """Return final statuses by id, or None while any isn't final."""
    details = world.agent.list_knowledge_base_documents(**key)["documentDetails"]
    over = {"IGNORED", "FAILED", "INDEXED"}
    if {each["status"] for each in details} <= over:
        return {each["identifier"]["custom"]["id"]: each for each in details}
    return None


@holds("document.statuses", "document.duration")
def test_document_status_progresses_to_indexed_and_then_to_not_found(
    world_at: Callable[..., World],
) -> None:
    world = world_at(4, patient=True)  # each status must last until it is seen
    key = custom(world)

    def seen(until: str) -> list[str]:
        statuses = [status(world, key, "doc")]
        while statuses[-1] != until:
            statuses.append(status(world, key, "doc"))
        return [statuses[0], *(after for before, after in pairwise(statuses) if after != before)]

    accepted = world.agent.ingest_knowledge_base_documents(
        **key, documents=[inline("doc", "Text.", a="b")]
    )
    ingested = seen(until="INDEXED")
    done = world.agent.list_knowledge_base_documents(**key)["documentDetails"][0]["updatedAt"]
    delete(world, key, "doc")
    deleted = seen(until="NOT_FOUND")

    assert ingested == ["STARTING", "IN_PROGRESS", "INDEXED"]
    assert deleted == ["DELETING", "DELETE_IN_PROGRESS", "NOT_FOUND"]
    begun = accepted["documentDetails"][0]["updatedAt"]
    assert (done - begun).total_seconds() >= 4 / 4


@holds("document.work")
def test_document_exceeding_work_limit_is_ignored_with_reason(
    world: World,
) -> None:
    ingestion = {"chunkingConfiguration": fixed(1, 20)}
    pair = world.pair(dataSourceConfiguration=CUSTOM, vectorIngestionConfiguration=ingestion)
    key, one_line = at(*pair), "1," * DOCUMENT_WORK.limit

    ingest(world, key, by_location("much", world.put("much.csv", one_line), a="b"))
    ingest(world, key, inline("little", "Text.", a="b"))

    found = eventually(lambda: settled(world, key))
    assert (found["much"]["status"], found["little"]["status"]) == ("IGNORED", "INDEXED")
    assert found["much"]["statusReason"] == DOCUMENT_WORK.message.format(count=1)
    with pytest.raises(Unindexable):  # of one passage, which is as long
        list(limited([Chunk(text="1," * 1000 * DOCUMENT_WORK.limit)]))


@holds("document.payload")
def test_request_takes_at_most_six_megabytes(world: World) -> None:
    key = custom(world)
    halves = [inline(name, "\n" * 3_145_728, a="b") for name in ("one", "two")]
    more = inline("three", "Text.", a="b")

    said = invalid(world.agent.ingest_knowledge_base_documents, **key, documents=[*halves, more])

    assert "6291456 bytes" in said
    assert len(ingest(world, key, *halves)) == 2


@holds("job.searchable-lag")
def test_indexed_document_is_found_after_a_lag(
    world_at: Callable[..., World],
) -> None:
    world = world_at(3, patient=True)
    key = custom(world)
    ingest(world, key, inline("doc", "Text.", a="b"))
    eventually(lambda: status(world, key, "doc") == "INDEXED")

    at_once = world.search(key["knowledgeBaseId"], "text")

    assert at_once == []
    assert eventually(lambda: world.search(key["knowledgeBaseId"], "text"))


@holds(
    "document.during-job",
    "job.during-direct",
    "job.per-knowledge-base",
    "data-source.has-job",
    "job.stopping",
)
def test_ingestion_jobs_and_direct_requests_exclude_each_other(
    world_at: Callable[..., World],
) -> None:
    world = world_at(8, patient=True)  # each must be at work while the other is tried
    agent = world.agent
    knowledge_base, source = world.pair()
    key, other = at(knowledge_base, source), at(knowledge_base, world.data_source(knowledge_base))
    direct = at(knowledge_base, world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM))
    document = inline("doc", "Text.", a="b")
    ingest(world, direct, document)
    during_direct = invalid(agent.start_ingestion_job, **key)
    eventually(lambda: status(world, direct, "doc") == "INDEXED")
    job = world.start(knowledge_base, source)

    during_job = invalid(agent.ingest_knowledge_base_documents, **direct, documents=[document])
    stopping = agent.stop_ingestion_job(**key, ingestionJobId=job["ingestionJobId"])["ingestionJob"]
    still = invalid(agent.ingest_knowledge_base_documents, **direct, documents=[document])
    second = refused(agent.start_ingestion_job, **other)
    deletion = invalid(agent.delete_data_source, **key)
    stopped = world.finished(job)

    assert "ongoing KnowledgeBaseDocuments API request" in during_direct
    assert during_job == still
    assert "at least one running ingestion job" in still
    assert (stopping["status"], stopped["status"]) == ("STOPPING", "STOPPED")
    assert second == {"Code": "ConflictException", "Message": BUSY}
    assert deletion == "There is at least one running ingestion job for this data source"
    assert (stopped["updatedAt"] - stopping["updatedAt"]).total_seconds() >= 25 / 8
    agent.delete_data_source(**key)


@holds("document.first-sync", "document.content", "document.identifier")
def test_direct_requests_are_accepted_only_after_a_completed_sync(
    world: World,
) -> None:
    key, agent = at(*world.pair("shelf/")), world.agent
    uri = world.put("elsewhere/a.txt", "Text.", {"owner": "alice"})
    of_custom = inline("a", "Text.", a="b")
    inline_metadata = by_uri(uri) | {"metadata": of_custom["metadata"]}

    listing = invalid(agent.list_knowledge_base_documents, **key)
    ingesting = invalid(agent.ingest_knowledge_base_documents, **key, documents=[by_uri(uri)])
    deleting = invalid(
        agent.delete_knowledge_base_documents, **key, documentIdentifiers=[named(uri)]
    )
    world.sync(*key.values())
    described = invalid(agent.ingest_knowledge_base_documents, **key, documents=[inline_metadata])
    written = invalid(agent.ingest_knowledge_base_documents, **key, documents=[of_custom])
    before = status(world, key, uri)
    taken = ingest(world, key, by_uri(uri))

    assert all("must be synced at least once" in each for each in (listing, ingesting, deleting))
    assert described == "An S3 data source takes metadata from S3 only"
    assert "does not match" in written
    assert (before, taken) == ("NOT_FOUND", ["STARTING"])


@holds("document.by-uri")
def test_document_is_identified_by_uri_and_replaced_with_its_sidecar(
    world: World,
) -> None:
    key = synced(world)
    uri = world.put("shelf/é.txt", "Otters hold hands.", {"owner": "alice"})
    bare = world.put("elsewhere/b.txt", "Foxes dig.", {"owner": "alice"})

    ingest(world, key, by_uri(uri), by_uri(bare, described=False))

    def both() -> set[str] | None:
        found = world.found_keys(key["knowledgeBaseId"], "animals")
        return found if len(found) == 2 else None

    assert eventually(both) == {"shelf/é.txt", "elsewhere/b.txt"}
    assert owned(world, key, "alice") == ["Otters hold hands."]
    world.put("shelf/é.txt", "Otters swim.", {"owner": "bob"})
    ingest(world, key, by_uri(uri))
    eventually(lambda: owned(world, key, "bob") == ["Otters swim."])
    assert owned(world, key, "alice") == []


@holds("job.equal-to-bucket")
def test_sync_reverts_direct_changes_to_match_the_bucket(world: World) -> None:
    inside, gone = (world.put(f"shelf/{name}.txt", "Inside.") for name in ("inside", "gone"))
    outside = world.put("elsewhere/outside.txt", "Outside.")
    key = synced(world)
    delete(world, key, inside, gone)
    world.drop("shelf/gone.txt")
    ingest(world, key, by_uri(outside, described=False))
    of = {inside: "NOT_FOUND", gone: "NOT_FOUND", outside: "INDEXED"}
    eventually(lambda: {uri: status(world, key, uri) for uri in of} == of)

    job = world.sync(*key.values())

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
    assert job["statistics"]["numberOfDocumentsDeleted"] == 1
    assert world.statuses(*key.values()) == {"shelf/inside.txt": "INDEXED"}
    eventually(lambda: world.found_keys(key["knowledgeBaseId"], "text") == {"shelf/inside.txt"})
