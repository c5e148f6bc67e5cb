"""Direct ingestion and deletion: what a request may hold, and what its documents read meanwhile."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import CUSTOM, World, eventually, inline, refused

# Minutes of embedding; as many bytes as the parser reads in no time.
LONG = "".join(f"{row},{row * 7919 % 10007}\n" for row in range(60_000))


def custom(world: World) -> dict[str, str]:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    return {"knowledgeBaseId": knowledge_base, "dataSourceId": source}


def synced(world: World, prefix: str = "") -> dict[str, str]:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, prefix)
    world.sync(knowledge_base, source)
    return {"knowledgeBaseId": knowledge_base, "dataSourceId": source}


def by_location(identifier: str, uri: str, **attributes: str) -> dict[str, Any]:
    document = inline(identifier, "", **attributes)
    content = document["content"]["custom"]
    content["sourceType"] = "S3_LOCATION"
    content["s3Location"] = {"uri": uri}
    del content["inlineContent"]
    return document


def by_uri(uri: str) -> dict[str, Any]:
    return {"content": {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}}


def details(world: World, key: dict[str, str]) -> dict[str, dict[str, Any]]:
    """By id or URI."""
    listed = world.agent.list_knowledge_base_documents(**key)["documentDetails"]
    return {
        (each["identifier"].get("custom") or {}).get("id") or each["identifier"]["s3"]["uri"]: each
        for each in listed
    }


def settled(world: World, key: dict[str, str]) -> dict[str, dict[str, Any]] | None:
    """None while anything is under way."""
    found = details(world, key)
    over = {"IGNORED", "FAILED", "INDEXED"}
    return found if {each["status"] for each in found.values()} <= over else None


def status(world: World, key: dict[str, str], identifier: str) -> str:
    """NOT_FOUND as AWS says it."""
    answer = world.agent.get_knowledge_base_documents(
        **key,
        documentIdentifiers=[{"dataSourceType": "CUSTOM", "custom": {"id": identifier}}],
    )
    return str(answer["documentDetails"][0]["status"])


@holds("document.statuses", "document.duration")
def test_a_document_goes_from_starting_to_indexed_and_from_deleting_to_not_found(
    world_at: Callable[..., World],
) -> None:
    world = world_at(2, patient=True)  # each status must last until it is seen
    key = custom(world)
    identifier = {"dataSourceType": "CUSTOM", "custom": {"id": "doc"}}

    def seen(until: str) -> list[str]:
        statuses = [status(world, key, "doc")]
        while statuses[-1] != until:
            statuses.append(status(world, key, "doc"))
        return [statuses[0], *(after for before, after in pairwise(statuses) if after != before)]

    accepted = world.agent.ingest_knowledge_base_documents(
        **key, documents=[inline("doc", "Text.", a="b")]
    )
    ingested = seen(until="INDEXED")
    done = details(world, key)["doc"]["updatedAt"]
    world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=[identifier])
    deleted = seen(until="NOT_FOUND")

    assert ingested == ["STARTING", "IN_PROGRESS", "INDEXED"]
    assert deleted == ["DELETING", "DELETE_IN_PROGRESS", "NOT_FOUND"]
    begun = accepted["documentDetails"][0]["updatedAt"]
    assert (done - begun).total_seconds() >= 4 / 2


@holds("document.overwritten")
def test_a_document_of_the_same_id_is_replaced(world: World) -> None:
    key = custom(world)
    base = key["knowledgeBaseId"]
    world.agent.ingest_knowledge_base_documents(**key, documents=[inline("doc", "Old.", a="b")])
    eventually(lambda: world.search(base, "text"))

    world.agent.ingest_knowledge_base_documents(**key, documents=[inline("doc", "New.", a="c")])

    def texts() -> list[str]:
        return [hit["content"]["text"] for hit in world.search(base, "text")]

    eventually(lambda: texts() == ["New."])
    assert world.search(base, "text", {"equals": {"key": "a", "value": "b"}}) == []
    assert len(details(world, key)) == 1


def test_a_custom_document_is_found_by_its_id_and_its_inline_attributes(world: World) -> None:
    key = custom(world)
    uri = world.put("falcon.txt", "Falcons dive fast.")
    document = by_location("doc-9", uri, user_id="alice", filename="falcon.txt")

    world.agent.ingest_knowledge_base_documents(**key, documents=[document])

    alices = {"equals": {"key": "user_id", "value": "alice"}}
    (found,) = eventually(lambda: world.search(key["knowledgeBaseId"], "birds", alices))
    assert found["location"] == {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-9"}}
    assert found["content"] == {"type": "TEXT", "text": "Falcons dive fast."}
    chunk = found["metadata"].pop("x-amz-bedrock-kb-chunk-id")
    assert chunk
    assert found["metadata"] == {
        "user_id": "alice",
        "filename": "falcon.txt",
        "x-amz-bedrock-kb-source-uri": "doc-9",
        "x-amz-bedrock-kb-data-source-id": key["dataSourceId"],
    }


@holds("document.status-reason", "file.format", "file.unreadable")
def test_only_an_ignored_document_has_a_reason(world: World) -> None:
    key = custom(world)
    documents = [
        by_location("ignored", world.put("setup.exe", "MZ"), a="b"),
        by_location("empty", world.put("empty.txt", ""), a="b"),
        by_location("missing", f"s3://{world.bucket}/missing.txt", a="b"),
        inline("good", "Text.", a="b"),
    ]

    world.agent.ingest_knowledge_base_documents(**key, documents=documents)

    found = eventually(lambda: settled(world, key))
    assert {name: each["status"] for name, each in found.items()} == {
        "ignored": "IGNORED",
        "empty": "FAILED",
        "missing": "FAILED",
        "good": "INDEXED",
    }
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
    world.agent.ingest_knowledge_base_documents(**key, documents=[long, inline("next", "T", a="b")])
    eventually(lambda: status(world, key, "long") == "IN_PROGRESS")

    world.drop("long.csv")

    statuses = {"long": "FAILED", "next": "INDEXED"}
    eventually(lambda: {name: status(world, key, name) for name in statuses} == statuses)


@holds("metadata.custom-size", "metadata.custom-keys")
@pytest.mark.parametrize(
    "attributes",
    [{"note": "n" * 1024}, {f"key{number}": "v" for number in range(36)}],
)
def test_more_metadata_than_a_vector_takes_fails_the_document(
    world: World, attributes: dict[str, str]
) -> None:
    key = custom(world)

    world.agent.ingest_knowledge_base_documents(
        **key, documents=[inline("doc", "Text.", **attributes)]
    )

    eventually(lambda: status(world, key, "doc") == "FAILED")


@holds("document.payload")
def test_a_request_holds_six_megabytes(world: World) -> None:
    key = custom(world)
    halves = [inline(name, "\n" * 3_145_728, a="b") for name in ("one", "two")]
    more = inline("three", "Text.", a="b")

    error = refused(world.agent.ingest_knowledge_base_documents, **key, documents=[*halves, more])
    accepted = world.agent.ingest_knowledge_base_documents(**key, documents=halves)

    assert error["Code"] == "ValidationException"
    assert "6291456 bytes" in error["Message"]
    assert len(accepted["documentDetails"]) == 2


@holds("document.content")
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"metadata": {"type": "S3_LOCATION", "s3Location": {"uri": "s3://documents/a.json"}}}, 0),
        ({"metadata": {"type": "S3_LOCATION"}}, 1),
        ({"inlineContent": {"type": "TEXT"}}, 2),
        ({"sourceType": "S3_LOCATION"}, 3),
    ],
)
def test_content_and_metadata_must_go_together(
    world: World, changes: dict[str, Any], problem: int
) -> None:
    problems = (
        "Inline content needs inline metadata",
        "Inline content needs inline metadata",
        "inlineContent is missing",
        "s3Location is missing",
    )
    document = inline("doc", "Text.", a="b")
    document |= {name: value for name, value in changes.items() if name == "metadata"}
    document["content"]["custom"] |= {
        name: value for name, value in changes.items() if name != "metadata"
    }

    error = refused(
        world.agent.ingest_knowledge_base_documents, **custom(world), documents=[document]
    )

    assert error["Code"] == "ValidationException"
    assert error["Message"] == problems[problem]


@holds("document.content", "document.identifier")
def test_an_s3_data_source_takes_content_and_metadata_by_location_only(world: World) -> None:
    key = synced(world)
    inline_metadata = by_uri(world.put("a.txt", "Text.")) | {
        "metadata": inline("a", "", a="b")["metadata"]
    }

    described = refused(
        world.agent.ingest_knowledge_base_documents, **key, documents=[inline_metadata]
    )
    written = refused(
        world.agent.ingest_knowledge_base_documents, **key, documents=[inline("a", "Text.", a="b")]
    )

    assert described["Message"] == "An S3 data source takes metadata from S3 only"
    assert "does not match" in written["Message"]


@holds("job.equal-to-bucket")
def test_a_sync_undoes_what_was_done_directly(world: World) -> None:
    inside = world.put("shelf/inside.txt", "Text inside.")
    outside = world.put("elsewhere/outside.txt", "Text outside.")
    key = synced(world, "shelf/")
    identifier = {"dataSourceType": "S3", "s3": {"uri": inside}}
    world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=[identifier])
    world.agent.ingest_knowledge_base_documents(**key, documents=[by_uri(outside)])
    eventually(
        lambda: {u: d["status"] for u, d in details(world, key).items()} == {outside: "INDEXED"}
    )

    job = world.sync(key["knowledgeBaseId"], key["dataSourceId"])

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
    assert job["statistics"]["numberOfDocumentsDeleted"] == 1
    assert set(details(world, key)) == {inside}
    eventually(lambda: world.found_keys(key["knowledgeBaseId"], "text") == {"shelf/inside.txt"})


@holds("job.incremental")
def test_a_sync_skips_what_was_ingested_directly_from_under_the_prefix(world: World) -> None:
    key = synced(world, "shelf/")
    uri = world.put("shelf/a.txt", "Text.")
    world.agent.ingest_knowledge_base_documents(**key, documents=[by_uri(uri)])
    eventually(lambda: details(world, key).get(uri, {}).get("status") == "INDEXED")

    job = world.sync(key["knowledgeBaseId"], key["dataSourceId"])

    assert job["statistics"]["numberOfDocumentsSkipped"] == 1
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 0


@holds("job.searchable-lag")
def test_a_document_that_reads_indexed_is_found_a_little_later(
    world_at: Callable[..., World],
) -> None:
    world = world_at(1, patient=True)
    key = custom(world)
    world.agent.ingest_knowledge_base_documents(**key, documents=[inline("doc", "Text.", a="b")])
    eventually(lambda: status(world, key, "doc") == "INDEXED")

    at_once = world.search(key["knowledgeBaseId"], "text")

    assert at_once == []
    assert eventually(lambda: world.search(key["knowledgeBaseId"], "text"))


@holds("document.during-job", "job.per-knowledge-base", "data-source.has-job", "job.stopping")
def test_a_job_that_is_stopping_still_excludes_everything_else(
    world_at: Callable[..., World],
) -> None:
    world = world_at(5, patient=True)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    other = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    job = world.start(knowledge_base, source)
    place = {**key, "ingestionJobId": job["ingestionJobId"]}

    stopping = world.agent.stop_ingestion_job(**place)["ingestionJob"]
    direct = refused(
        world.agent.ingest_knowledge_base_documents,
        knowledgeBaseId=knowledge_base,
        dataSourceId=other,
        documents=[inline("doc", "Text.", a="b")],
    )
    second = refused(world.agent.start_ingestion_job, **key)
    deletion = refused(world.agent.delete_data_source, **key)
    stopped = world.finished(job)

    assert stopping["status"] == "STOPPING"
    assert "at least one running ingestion job" in direct["Message"]
    assert "concurrent ingestion jobs per knowledge base" in second["Message"]
    assert deletion["Message"] == (
        "There is at least one running ingestion job for this data source"
    )
    assert stopped["status"] == "STOPPED"
    assert (stopped["updatedAt"] - stopping["updatedAt"]).total_seconds() >= 25 / 5


def test_documents_are_listed_in_pages(world: World) -> None:
    key = custom(world)
    documents = [inline(f"doc-{number}", "Text.", a="b") for number in range(5)]
    world.agent.ingest_knowledge_base_documents(**key, documents=documents)

    pages = list(
        world.agent.get_paginator("list_knowledge_base_documents").paginate(
            **key, PaginationConfig={"PageSize": 2}
        )
    )

    assert [len(page["documentDetails"]) for page in pages] == [2, 2, 1]
    listed = [
        each["identifier"]["custom"]["id"] for page in pages for each in page["documentDetails"]
    ]
    assert listed == [f"doc-{number}" for number in range(5)]
