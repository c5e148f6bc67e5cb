"""Rejected files are nobody's: no owner finds them, however they came into the index."""

import pytest

from tests.aws.stores import BUCKET
from tests.workflow.world import World

GOOD = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
REJECTED = "alice/research/report.doc"  # Bedrock takes it, and we don't


def owners(world: World) -> list[str]:
    """Whose all of it is that a search without a filter finds."""
    return sorted(str(each.get("user_id")) for each in world.bedrock.passages())


def settled(world: World) -> bool:
    """By ends that all succeeded, with nothing left to do."""
    return {each.states[-1] for each in world.executions()} == {"WorklistSettled"}


def put(world: World, key: str, **metadata: str) -> None:
    """An object whose event has yet to come."""
    world.s3.put_object(Bucket=BUCKET, Key=key, Body=b"some text", Metadata=metadata)


def test_direct_calls_never_index_a_rejected_file(world: World) -> None:
    world.drop_all(REJECTED, GOOD)

    assert settled(world)
    assert owners(world) == ["alice"]
    assert world.status(REJECTED) == "failed"
    assert world.catalog(GOOD).open_count == 0


@pytest.mark.parametrize("key", [REJECTED, "alice/research//report.txt"])
def test_rejected_file_that_a_job_crawls_is_indexed_without_an_owner(
    by_jobs: str, world: World, key: str
) -> None:
    world.drop_all(key, GOOD)
    world.executions()

    world.drop(OTHER)

    assert settled(world)
    assert owners(world) == ["!rejected", "alice", "alice"]
    assert world.status(key) == "failed"
    assert world.bedrock.accepted("DeleteKnowledgeBaseDocuments") == []
    assert world.catalog(GOOD).open_count == 0


@pytest.mark.parametrize(("way", "after"), [("one_knowledge_base", []), ("by_jobs", ["!rejected"])])
def test_a_version_that_is_rejected_takes_the_indexed_one_along(
    request: pytest.FixtureRequest, way: str, after: list[str]
) -> None:
    request.getfixturevalue(way)
    world: World = request.getfixturevalue("world")
    world.drop_all(OTHER, GOOD)
    world.executions()
    put(world, GOOD, **{"kb-user_id": "bob"})

    world.notify("Object Created", GOOD)

    assert settled(world)
    assert owners(world) == [*after, "alice"]
    document = world.document(GOOD)
    assert document is not None
    assert (document.status, document.lingering) == ("failed", False)
    assert "reserved" in str(document.status_reason)


def test_rejected_file_crawled_before_its_event_is_quarantined(by_jobs: str, world: World) -> None:
    put(world, REJECTED)
    world.drop(GOOD)
    world.executions()
    before = owners(world)

    world.notify("Object Created", REJECTED)

    assert settled(world)
    assert before == ["None", "alice"]
    assert owners(world) == ["!rejected", "alice"]
    assert world.catalog(GOOD).open_count == 0
