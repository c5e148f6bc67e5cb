"""Direct requests at an S3 data source: from when on, by which URIs, and what a job makes of it."""

from collections.abc import Callable
from typing import Any

from tests.simulator.holding import holds
from tests.simulator.world import World, at, eventually, inline, invalid

LONGEST = len("s3://") + 128


def new(world: World, prefix: str = "shelf/") -> dict[str, str]:
    return at(*world.pair(prefix))


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


@holds("document.after-sync", "document.first-sync", "document.content", "document.identifier")
def test_it_takes_direct_requests_once_a_job_was_complete_though_it_found_nothing(
    world: World,
) -> None:
    key, agent = new(world), world.agent
    uri = world.put("elsewhere/a.txt", "Text.", {"owner": "alice"})
    of_custom = inline("a", "Text.", a="b")
    inline_metadata = document(uri) | {"metadata": of_custom["metadata"]}

    listing = invalid(agent.list_knowledge_base_documents, **key)
    ingesting = invalid(agent.ingest_knowledge_base_documents, **key, documents=[document(uri)])
    deleting = invalid(
        agent.delete_knowledge_base_documents, **key, documentIdentifiers=[named(uri)]
    )
    world.sync(key["knowledgeBaseId"], key["dataSourceId"])
    described = invalid(agent.ingest_knowledge_base_documents, **key, documents=[inline_metadata])
    written = invalid(agent.ingest_knowledge_base_documents, **key, documents=[of_custom])
    before = status(world, key, uri)
    taken = ingest(world, key, document(uri))

    assert all("must be synced at least once" in each for each in (listing, ingesting, deleting))
    assert described == "An S3 data source takes metadata from S3 only"
    assert "does not match" in written
    assert (before, taken) == ("NOT_FOUND", ["STARTING"])


@holds("document.after-sync")
def test_a_job_that_was_stopped_does_not_count_as_a_sync(world_at: Callable[..., World]) -> None:
    world = world_at(20, patient=True)
    key = new(world)
    uri = world.put("shelf/a.txt", "Text.", {"owner": "alice"})
    job = world.start(key["knowledgeBaseId"], key["dataSourceId"])
    world.agent.stop_ingestion_job(**key, ingestionJobId=job["ingestionJobId"])
    ended = world.finished(job)["status"]

    early = invalid(world.agent.ingest_knowledge_base_documents, **key, documents=[document(uri)])

    assert ended == "STOPPED"
    assert "must be synced at least once" in early


@holds("document.by-uri", "document.overwritten")
def test_a_document_is_found_by_its_uri_and_the_named_sidecar_and_replaced_by_its_uri(
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
    world.put("shelf/é.txt", "Otters swim.", {"owner": "bob"})
    ingest(world, key, document(uri))
    eventually(lambda: owned(world, key, "bob") == ["Otters swim."])
    assert owned(world, key, "alice") == []


@holds("document.by-uri", "model.identifier-uri")
def test_a_uri_has_at_most_128_characters_after_its_scheme(world: World) -> None:
    key = synced(world)
    room = LONGEST - len(f"s3://{world.bucket}/shelf/.txt")
    longest, longer = (
        world.put(f"shelf/{'n' * length}.txt", "Text.", {"owner": "alice"})
        for length in (room, room + 1)
    )

    said = invalid(world.agent.ingest_knowledge_base_documents, **key, documents=[document(longer)])

    assert "s3://.{1,128}" in said
    assert ingest(world, key, document(longest)) == ["STARTING"]


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
def test_a_sync_makes_the_data_source_equal_to_the_bucket_again(world: World) -> None:
    inside, gone = (world.put(f"shelf/{name}.txt", "Inside.") for name in ("inside", "gone"))
    outside = world.put("elsewhere/outside.txt", "Outside.")
    key = synced(world)
    identifiers = [named(inside), named(gone)]
    world.agent.delete_knowledge_base_documents(**key, documentIdentifiers=identifiers)
    world.drop("shelf/gone.txt")
    ingest(world, key, document(outside, described=False))
    of = {inside: "NOT_FOUND", gone: "NOT_FOUND", outside: "INDEXED"}
    eventually(lambda: {uri: status(world, key, uri) for uri in of} == of)

    job = world.sync(key["knowledgeBaseId"], key["dataSourceId"])

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
    assert job["statistics"]["numberOfDocumentsDeleted"] == 1
    assert world.statuses(**_places(key)) == {"shelf/inside.txt": "INDEXED"}
    eventually(lambda: world.found_keys(key["knowledgeBaseId"], "text") == {"shelf/inside.txt"})


@holds("model.documents-per-call", "document.identifier")
def test_a_call_takes_ten_identifiers_of_the_right_type(world: World) -> None:
    key, get = synced(world), world.agent.get_knowledge_base_documents
    uris = [named(f"s3://{world.bucket}/{number}.txt") for number in range(11)]
    of_custom = {"dataSourceType": "CUSTOM", "custom": {"id": "a"}}

    invalid(get, **key, documentIdentifiers=uris)
    invalid(get, **key, documentIdentifiers=[of_custom])

    ten = get(**key, documentIdentifiers=uris[:10])
    assert [detail["status"] for detail in ten["documentDetails"]] == ["NOT_FOUND"] * 10


@holds("document.statuses")
def test_a_document_reads_pending_while_its_job_has_not_come_to_it(
    world_at: Callable[..., World],
) -> None:
    world = world_at(10)  # the job must not be over before it is looked at
    places = world.pair()
    for number in range(30):
        world.put(f"{number:03}.txt", f"Document {number}.")
    job = world.start(*places)

    seen = eventually(lambda: set(world.statuses(*places).values()))

    assert seen <= {"PENDING", "IN_PROGRESS", "INDEXED"}
    assert "PENDING" in seen
    world.finished(job)
    assert set(world.statuses(*places).values()) == {"INDEXED"}


def _places(key: dict[str, str]) -> dict[str, str]:
    return {"knowledge_base": key["knowledgeBaseId"], "data_source": key["dataSourceId"]}
