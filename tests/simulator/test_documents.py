"""Document operations: reading statuses, and direct ingestion and deletion."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import CUSTOM, World, eventually, inline, refused


def _id(identifier: str) -> dict[str, Any]:
    return {"dataSourceType": "CUSTOM", "custom": {"id": identifier}}


def _uri(uri: str) -> dict[str, Any]:
    return {"dataSourceType": "S3", "s3": {"uri": uri}}


def _status(world: World, key: dict[str, str], identifier: dict[str, Any]) -> str:
    answer = world.agent.get_knowledge_base_documents(**key, documentIdentifiers=[identifier])
    return str(answer["documentDetails"][0]["status"])


@holds("document.first-sync")
def test_a_new_s3_data_source_must_be_synced_before_its_documents_are_read(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    uri = world.put("a.txt", "A text.")

    error = refused(world.agent.list_knowledge_base_documents, **key)
    world.sync(knowledge_base, source)

    assert error["Code"] == "ValidationException"
    assert _status(world, key, _uri(uri)) == "INDEXED"
    assert _status(world, key, _uri(f"{uri}.bak")) == "NOT_FOUND"


@holds("document.identifier", "model.documents-per-call")
def test_a_call_takes_ten_identifiers_of_the_right_type(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    world.sync(knowledge_base, source)
    uris = [_uri(f"s3://{world.bucket}/{number}.txt") for number in range(11)]

    many = refused(world.agent.get_knowledge_base_documents, **key, documentIdentifiers=uris)
    wrong = refused(world.agent.get_knowledge_base_documents, **key, documentIdentifiers=[_id("a")])

    assert many["Code"] == wrong["Code"] == "ValidationException"
    ten = world.agent.get_knowledge_base_documents(**key, documentIdentifiers=uris[:10])
    assert [detail["status"] for detail in ten["documentDetails"]] == ["NOT_FOUND"] * 10


@holds("document.statuses")
def test_a_document_reads_pending_while_its_job_has_not_come_to_it(
    world_at: Callable[[float], World],
) -> None:
    world = world_at(10)  # the job must not be over before it is looked at
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    for number in range(100):
        world.put(f"{number:03}.txt", f"Document {number}.")
    job = world.start(knowledge_base, source)

    seen = eventually(lambda: set(world.statuses(knowledge_base, source).values()))

    assert seen <= {"PENDING", "IN_PROGRESS", "INDEXED"}
    assert "PENDING" in seen
    world.finished(job)
    assert set(world.statuses(knowledge_base, source).values()) == {"INDEXED"}


def test_documents_are_ingested_and_deleted_directly(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    document = inline("doc-1", "Penguins cannot fly.", owner="alice")

    accepted = world.agent.ingest_knowledge_base_documents(**key, documents=[document])
    eventually(lambda: _status(world, key, _id("doc-1")) == "INDEXED")
    alices = {"equals": {"key": "owner", "value": "alice"}}
    (found,) = eventually(lambda: world.search(knowledge_base, "birds", alices))
    deleted = world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=[_id("doc-1")])

    assert accepted["documentDetails"][0]["status"] == "STARTING"
    assert found["location"]["customDocumentLocation"] == {"id": "doc-1"}
    assert deleted["documentDetails"][0]["status"] == "DELETING"
    eventually(lambda: _status(world, key, _id("doc-1")) == "NOT_FOUND")
    assert world.search(knowledge_base, "birds") == []


def test_content_by_s3_location_takes_inline_attributes(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    uri = world.put("falcon.txt", "Falcons dive fast.")
    document = inline("doc-2", "", owner="bob")
    document["content"]["custom"] = {
        "customDocumentIdentifier": {"id": "doc-2"},
        "sourceType": "S3_LOCATION",
        "s3Location": {"uri": uri},
    }

    world.agent.ingest_knowledge_base_documents(**key, documents=[document])

    bobs = {"equals": {"key": "owner", "value": "bob"}}
    (found,) = eventually(lambda: world.search(knowledge_base, "birds", bobs))
    assert found["content"]["text"] == "Falcons dive fast."


def test_a_direct_document_without_text_fails(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}

    world.agent.ingest_knowledge_base_documents(**key, documents=[inline("doc-3", " \n", a="b")])

    eventually(lambda: _status(world, key, _id("doc-3")) == "FAILED")


@holds("job.during-direct", "document.during-job")
def test_direct_calls_and_jobs_of_a_knowledge_base_exclude_each_other(
    world_at: Callable[..., World],
) -> None:
    world = world_at(2, patient=True)  # each must be at work while the other is tried
    knowledge_base = world.knowledge_base()
    synced = world.data_source(knowledge_base)
    custom = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": custom}
    world.agent.ingest_knowledge_base_documents(**key, documents=[inline("doc", "Text.", a="b")])

    during_direct = refused(
        world.agent.start_ingestion_job, knowledgeBaseId=knowledge_base, dataSourceId=synced
    )
    eventually(lambda: _status(world, key, _id("doc")) == "INDEXED")
    world.start(knowledge_base, synced)
    during_job = refused(
        world.agent.ingest_knowledge_base_documents, **key, documents=[inline("d", "T.", a="b")]
    )

    assert during_direct["Code"] == during_job["Code"] == "ValidationException"
    assert "ongoing KnowledgeBaseDocuments API request" in during_direct["Message"]
    assert "at least one running ingestion job" in during_job["Message"]


@holds("document.concurrent")
def test_an_account_has_ten_direct_calls_at_work(world_at: Callable[[float], World]) -> None:
    world = world_at(1)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}

    def crowded() -> str | None:
        document = inline(uuid4().hex, "Text.", a="b")
        try:
            world.agent.ingest_knowledge_base_documents(**key, documents=[document])
        except world.agent.exceptions.ThrottlingException:
            return None
        except world.agent.exceptions.ValidationException as error:
            return str(error)
        return None

    assert "can't exceed (10)" in eventually(crowded)


@holds("request.client-token")
@pytest.mark.parametrize("verb", ["ingest", "delete"])
def test_a_repeated_client_token_does_nothing_again(world: World, verb: str) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source, "clientToken": "t" * 40}
    calls: dict[str, Callable[[], Any]] = {
        "ingest": lambda: world.agent.ingest_knowledge_base_documents(
            **key, documents=[inline("doc", "Text.", a="b")]
        ),
        "delete": lambda: world.agent.delete_knowledge_base_documents(
            **key, documentIdentifiers=[_id("doc")]
        ),
    }
    place = {name: key[name] for name in ("knowledgeBaseId", "dataSourceId")}
    settled = {"ingest": "INDEXED", "delete": "NOT_FOUND"}[verb]
    calls[verb]()
    eventually(lambda: _status(world, place, _id("doc")) == settled)

    again = calls[verb]()

    assert again["documentDetails"][0]["status"] == settled
