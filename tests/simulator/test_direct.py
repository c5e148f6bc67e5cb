"""Direct ingestion and deletion: what a request may hold, and what its documents read meanwhile."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import CUSTOM, World, at, eventually, inline, invalid, refused

# Minutes of embedding; as many bytes as the parser reads in no time.
LONG = "".join(f"{row},{row * 7919 % 10007}\n" for row in range(60_000))
BUSY = "You have reached the maximum number of concurrent ingestion jobs per knowledge base: 1"


def custom(world: World) -> dict[str, str]:
    return at(*world.pair(dataSourceConfiguration=CUSTOM))


def named(identifier: str) -> dict[str, Any]:
    return {"dataSourceType": "CUSTOM", "custom": {"id": identifier}}


def by_location(identifier: str, uri: str, **attributes: str) -> dict[str, Any]:
    document = inline(identifier, "", **attributes)
    content = document["content"]["custom"]
    content |= {"sourceType": "S3_LOCATION", "s3Location": {"uri": uri}}
    del content["inlineContent"]
    return document


def ingest(world: World, key: dict[str, str], *documents: dict[str, Any], **more: Any) -> Any:
    """What each reads at once."""
    answer = world.agent.ingest_knowledge_base_documents(**key, documents=documents, **more)
    return [each["status"] for each in answer["documentDetails"]]


def delete(world: World, key: dict[str, str], identifier: str, **more: Any) -> Any:
    identifiers = [named(identifier)]
    answer = world.agent.delete_knowledge_base_documents(
        **key, documentIdentifiers=identifiers, **more
    )
    return answer["documentDetails"][0]["status"]


def status(world: World, key: dict[str, str], identifier: str) -> str:
    """NOT_FOUND as AWS says it."""
    answer = world.agent.get_knowledge_base_documents(
        **key, documentIdentifiers=[named(identifier)]
    )
    return str(answer["documentDetails"][0]["status"])


def settled(world: World, key: dict[str, str]) -> dict[str, dict[str, Any]] | None:
    """By id; None while anything is under way."""
    details = world.agent.list_knowledge_base_documents(**key)["documentDetails"]
    over = {"IGNORED", "FAILED", "INDEXED"}
    if {each["status"] for each in details} <= over:
        return {each["identifier"]["custom"]["id"]: each for each in details}
    return None


@holds("document.statuses", "document.duration")
def test_a_document_goes_from_starting_to_indexed_and_from_deleting_to_not_found(
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


@holds("document.overwritten")
def test_a_document_of_the_same_id_is_replaced_and_a_deleted_one_found_no_more(
    world: World,
) -> None:
    key = custom(world)
    base = key["knowledgeBaseId"]

    def texts(**owner: str) -> list[str]:
        condition = {"equals": {"key": "a", "value": owner["a"]}} if owner else None
        return [hit["content"]["text"] for hit in world.search(base, "text", condition)]

    ingest(world, key, inline("doc", "Old.", a="b"))
    eventually(lambda: texts(a="b") == ["Old."])
    ingest(world, key, inline("doc", "New.", a="c"))
    eventually(lambda: texts() == ["New."])
    of_the_old, of_the_new = texts(a="b"), texts(a="c")
    delete(world, key, "doc")

    assert (of_the_old, of_the_new) == ([], ["New."])
    eventually(lambda: status(world, key, "doc") == "NOT_FOUND")
    assert texts() == []


def test_a_custom_document_is_found_by_its_id_and_its_inline_attributes(world: World) -> None:
    key = custom(world)
    uri = world.put("falcon.txt", "Falcons dive fast.")
    document = by_location("doc-9", uri, user_id="alice", filename="falcon.txt")

    ingest(world, key, document)

    alices = {"equals": {"key": "user_id", "value": "alice"}}
    (found,) = eventually(lambda: world.search(key["knowledgeBaseId"], "birds", alices))
    assert found["location"] == {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-9"}}
    assert found["content"] == {"type": "TEXT", "text": "Falcons dive fast."}
    assert found["metadata"].pop("x-amz-bedrock-kb-chunk-id")
    assert found["metadata"] == {
        "user_id": "alice",
        "filename": "falcon.txt",
        "x-amz-bedrock-kb-source-uri": "doc-9",
        "x-amz-bedrock-kb-data-source-id": key["dataSourceId"],
    }


@holds(
    "document.status-reason",
    "file.format",
    "file.unreadable",
    "metadata.custom-size",
    "metadata.custom-keys",
)
def test_only_an_ignored_document_has_a_reason(world: World) -> None:
    key = custom(world)
    documents = [
        by_location("ignored", world.put("setup.exe", "MZ"), a="b"),
        by_location("empty", world.put("empty.txt", ""), a="b"),
        by_location("missing", f"s3://{world.bucket}/missing.txt", a="b"),
        inline("blank", " \n", a="b"),
        inline("long", "Text.", note="n" * 1024),
        inline("many", "Text.", **{f"key{number}": "v" for number in range(36)}),
        inline("good", "Text.", a="b"),
    ]

    ingest(world, key, *documents)

    found = eventually(lambda: settled(world, key))
    statuses = {name: each["status"] for name, each in found.items()}
    assert (statuses.pop("ignored"), statuses.pop("good")) == ("IGNORED", "INDEXED")
    assert set(statuses.values()) == {"FAILED"}
    reasons = {name: each.get("statusReason") for name, each in found.items()}
    assert reasons.pop("ignored") == "Ignored 1 files as their file format was not supported."
    assert set(reasons.values()) == {None}


@holds("document.object-gone")
def test_a_long_document_whose_object_is_deleted_ends_soon_and_the_next_one_is_indexed(
    world_at: Callable[..., World],
) -> None:
    world = world_at(100, patient=True)
    key = custom(world)
    long = by_location("long", world.put("long.csv", LONG), a="b")
    ingest(world, key, long, inline("next", "T", a="b"))
    eventually(lambda: status(world, key, "long") == "IN_PROGRESS")

    world.drop("long.csv")

    statuses = {"long": "FAILED", "next": "INDEXED"}
    eventually(lambda: {name: status(world, key, name) for name in statuses} == statuses)


@holds("document.payload")
def test_a_request_holds_six_megabytes(world: World) -> None:
    key = custom(world)
    halves = [inline(name, "\n" * 3_145_728, a="b") for name in ("one", "two")]
    more = inline("three", "Text.", a="b")

    said = invalid(world.agent.ingest_knowledge_base_documents, **key, documents=[*halves, more])

    assert "6291456 bytes" in said
    assert len(ingest(world, key, *halves)) == 2


@holds("document.content")
@pytest.mark.parametrize(
    ("metadata", "content", "problem"),
    [
        (
            {"type": "S3_LOCATION", "s3Location": {"uri": "s3://documents/a.json"}},
            {},
            "Inline content needs inline metadata",
        ),
        (None, {"inlineContent": {"type": "TEXT"}}, "inlineContent is missing"),
        (None, {"sourceType": "S3_LOCATION"}, "s3Location is missing"),
    ],
)
def test_content_and_metadata_must_go_together(
    world: World, metadata: object, content: dict[str, Any], problem: str
) -> None:
    document = inline("doc", "Text.", a="b")
    document["metadata"] = metadata or document["metadata"]
    document["content"]["custom"] |= content
    call = world.agent.ingest_knowledge_base_documents

    assert invalid(call, **custom(world), documents=[document]) == problem


@holds("job.searchable-lag")
def test_a_document_that_reads_indexed_is_found_a_little_later(
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
def test_a_job_even_one_that_is_stopping_and_direct_requests_exclude_each_other(
    world_at: Callable[..., World],
) -> None:
    world = world_at(5, patient=True)  # each must be at work while the other is tried
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
    assert (stopped["updatedAt"] - stopping["updatedAt"]).total_seconds() >= 25 / 5
    agent.delete_data_source(**key)


def test_documents_are_listed_in_pages(world: World) -> None:
    key = custom(world)
    ids = [f"doc-{number}" for number in range(5)]
    ingest(world, key, *(inline(each, "Text.", a="b") for each in ids))

    paginator = world.agent.get_paginator("list_knowledge_base_documents")
    pages = list(paginator.paginate(**key, PaginationConfig={"PageSize": 2}))

    details = [page["documentDetails"] for page in pages]
    assert list(map(len, details)) == [2, 2, 1]
    assert [each["identifier"]["custom"]["id"] for page in details for each in page] == ids


@holds("document.concurrent")
def test_an_account_has_ten_direct_calls_at_work(world_at: Callable[..., World]) -> None:
    world = world_at(1)
    key = custom(world)

    def crowded() -> str | None:
        try:
            ingest(world, key, inline(uuid4().hex, "Text.", a="b"))
        except world.agent.exceptions.ThrottlingException:
            return None
        except world.agent.exceptions.ValidationException as error:
            return str(error)
        return None

    assert "can't exceed (10)" in eventually(crowded)


@holds("request.client-token")
def test_a_repeated_client_token_does_nothing_again(world: World) -> None:
    key, tokens = custom(world), [{"clientToken": letter * 40} for letter in "id"]
    document = inline("doc", "Text.", a="b")

    ingest(world, key, document, **tokens[0])
    eventually(lambda: status(world, key, "doc") == "INDEXED")
    ingested_again = ingest(world, key, document, **tokens[0])
    delete(world, key, "doc", **tokens[1])
    eventually(lambda: status(world, key, "doc") == "NOT_FOUND")
    deleted_again = delete(world, key, "doc", **tokens[1])

    assert ingested_again == ["INDEXED"]
    assert deleted_again == "NOT_FOUND"
