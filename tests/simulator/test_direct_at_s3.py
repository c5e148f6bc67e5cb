"""Direct requests at an S3 data source: from when on, by which URIs, and what a job makes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, refused

LONGEST = len("s3://") + 128


def new(world: World, prefix: str = "shelf/") -> dict[str, str]:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, prefix)
    return {"knowledgeBaseId": knowledge_base, "dataSourceId": source}


def synced(world: World, prefix: str = "shelf/") -> dict[str, str]:
    key = new(world, prefix)
    world.sync(key["knowledgeBaseId"], key["dataSourceId"])
    return key


def document(uri: str, *, described: bool = True) -> dict[str, Any]:
    """With the attributes of its sidecar, if `described`."""
    content = {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}}
    sidecar = {"type": "S3_LOCATION", "s3Location": {"uri": f"{uri}.metadata.json"}}
    return {"content": content} | ({"metadata": sidecar} if described else {})


def named(uri: str) -> dict[str, Any]:
    return {"dataSourceType": "S3", "s3": {"uri": uri}}


def ingest(world: World, key: dict[str, str], *documents: dict[str, Any]) -> list[str]:
    """What each reads at once."""
    answer = world.agent.ingest_knowledge_base_documents(**key, documents=list(documents))
    return [each["status"] for each in answer["documentDetails"]]


def status(world: World, key: dict[str, str], uri: str) -> str:
    answer = world.agent.get_knowledge_base_documents(**key, documentIdentifiers=[named(uri)])
    return str(answer["documentDetails"][0]["status"])


def owned(world: World, key: dict[str, str], owner: str) -> list[str]:
    """The texts whose sidecars say so."""
    condition = {"equals": {"key": "owner", "value": owner}}
    return [hit["content"]["text"] for hit in world.search(key["knowledgeBaseId"], "x", condition)]


@holds("document.after-sync")
def test_it_takes_direct_requests_once_a_job_was_complete_though_it_found_nothing(
    world: World,
) -> None:
    key = new(world)
    uri = world.put("elsewhere/a.txt", "Text.", {"owner": "alice"})

    ingesting = refused(
        world.agent.ingest_knowledge_base_documents, **key, documents=[document(uri)]
    )
    deleting = refused(
        world.agent.delete_knowledge_base_documents, **key, documentIdentifiers=[named(uri)]
    )
    world.sync(key["knowledgeBaseId"], key["dataSourceId"])
    taken = ingest(world, key, document(uri))

    assert ingesting["Code"] == deleting["Code"] == "ValidationException"
    assert "must be synced at least once" in ingesting["Message"]
    assert taken == ["STARTING"]


@holds("document.after-sync")
def test_a_job_that_was_stopped_does_not_count_as_a_sync(world_at: Callable[..., World]) -> None:
    world = world_at(20, patient=True)
    key = new(world)
    uri = world.put("shelf/a.txt", "Text.", {"owner": "alice"})
    job = world.start(key["knowledgeBaseId"], key["dataSourceId"])
    world.agent.stop_ingestion_job(**key, ingestionJobId=job["ingestionJobId"])
    ended = world.finished(job)["status"]

    early = refused(world.agent.ingest_knowledge_base_documents, **key, documents=[document(uri)])

    assert ended == "STOPPED"
    assert "must be synced at least once" in early["Message"]


@holds("document.by-uri")
def test_a_document_is_found_by_its_uri_and_by_the_sidecar_that_the_request_names(
    world: World,
) -> None:
    key = synced(world)
    uri = world.put("shelf/é.txt", "Otters hold hands.", {"owner": "alice"})
    bare = world.put("elsewhere/b.txt", "Foxes dig.", {"owner": "alice"})

    ingest(world, key, document(uri), document(bare, described=False))

    def both() -> set[str] | None:
        found = world.found_keys(key["knowledgeBaseId"], "animals")
        return found if len(found) == 2 else None

    assert eventually(both) == {"shelf/é.txt", "elsewhere/b.txt"}
    assert owned(world, key, "alice") == ["Otters hold hands."]


@holds("document.by-uri", "model.identifier-uri")
@pytest.mark.parametrize(("longer", "is_taken"), [(0, True), (1, False)])
def test_a_uri_has_at_most_128_characters_after_its_scheme(
    world: World, longer: int, is_taken: bool
) -> None:
    key = synced(world)
    start = f"s3://{world.bucket}/shelf/"
    name = "n" * (LONGEST - len(start) - len(".txt") + longer) + ".txt"
    uri = world.put(f"shelf/{name}", "Text.", {"owner": "alice"})
    request = {**key, "documents": [document(uri)]}

    if is_taken:
        answer = world.agent.ingest_knowledge_base_documents(**request)
        assert answer["documentDetails"][0]["status"] == "STARTING"
    else:
        error = refused(world.agent.ingest_knowledge_base_documents, **request)
        assert error["Code"] == "ValidationException"
        assert "s3://.{1,128}" in error["Message"]


@holds("document.overwritten")
def test_a_changed_object_replaces_what_was_indexed_of_its_uri(world: World) -> None:
    uri = world.put("shelf/a.txt", "Old.", {"owner": "alice"})
    key = synced(world)
    eventually(lambda: owned(world, key, "alice") == ["Old."])
    world.put("shelf/a.txt", "New.", {"owner": "bob"})

    ingest(world, key, document(uri))

    eventually(lambda: owned(world, key, "bob") == ["New."])
    assert owned(world, key, "alice") == []


@holds("job.incremental")
def test_a_sync_skips_what_was_ingested_with_its_sidecar_and_reads_a_newer_sidecar(
    world: World,
) -> None:
    key = synced(world)
    same = world.put("shelf/same.txt", "The same.", {"owner": "alice"})
    moved = world.put("shelf/moved.txt", "Moved.", {"owner": "alice"})
    ingest(world, key, document(same), document(moved))
    eventually(lambda: {status(world, key, each) for each in (same, moved)} == {"INDEXED"})
    world.put("shelf/moved.txt", "Moved.", {"owner": "bob"})

    job = world.sync(key["knowledgeBaseId"], key["dataSourceId"])

    assert job["statistics"]["numberOfDocumentsSkipped"] == 1
    assert job["statistics"]["numberOfMetadataDocumentsModified"] == 1
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 0
    eventually(lambda: owned(world, key, "bob") == ["Moved."])
    assert owned(world, key, "alice") == ["The same."]


@holds("job.equal-to-bucket")
def test_a_sync_leaves_out_what_was_deleted_directly_and_from_the_bucket(world: World) -> None:
    uri = world.put("shelf/a.txt", "Text.", {"owner": "alice"})
    key = synced(world)
    world.drop("shelf/a.txt")
    world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=[named(uri)])
    eventually(lambda: status(world, key, uri) == "NOT_FOUND")

    job = world.sync(key["knowledgeBaseId"], key["dataSourceId"])

    assert job["statistics"]["numberOfDocumentsDeleted"] == 0
    assert status(world, key, uri) == "NOT_FOUND"
    assert owned(world, key, "alice") == []
