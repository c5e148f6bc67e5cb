"""Rejected files are nobody's: no owner finds them, however they came into the index."""

from collections.abc import Iterable

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.errors import StoreUnavailable
from stackroom.model import Document
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


def test_by_direct_calls_a_rejected_file_never_comes_into_the_index(world: World) -> None:
    world.drop_all(REJECTED, GOOD)

    assert settled(world)
    assert owners(world) == ["alice"]
    assert world.status(REJECTED) == "failed"
    assert world.catalog(GOOD).open_count == 0


@pytest.mark.parametrize("key", [REJECTED, "alice/research//report.txt"])
def test_one_that_a_job_crawls_is_there_as_nobodys(by_jobs: str, world: World, key: str) -> None:
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


def test_one_that_a_job_has_crawled_before_anybody_knew_it_becomes_nobodys(
    by_jobs: str, world: World
) -> None:
    put(world, REJECTED)
    world.drop(GOOD)
    world.executions()
    before = owners(world)

    world.notify("Object Created", REJECTED)

    assert settled(world)
    assert before == ["None", "alice"]
    assert owners(world) == ["!rejected", "alice"]
    assert world.catalog(GOOD).open_count == 0


def test_a_worker_that_dies_over_one_leaves_nothing_behind(
    by_jobs: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_all = DynamoDocuments.save_all
    deaths: list[str] = []

    def die_once(documents: DynamoDocuments, given: Iterable[Document]) -> list[Document]:
        batch = list(given)
        if not deaths and any(each.is_rejected and not each.lingering for each in batch):
            deaths.append("once")
            raise StoreUnavailable("TransactWriteItems", "the worker died")
        return save_all(documents, batch)

    monkeypatch.setattr(DynamoDocuments, "save_all", die_once)
    put(world, REJECTED)
    world.drop(GOOD)
    world.executions()

    world.notify("Object Created", REJECTED)

    # The state machine tries the task again.
    assert settled(world)
    assert deaths == ["once"]
    assert owners(world) == ["!rejected", "alice"]
    assert world.catalog(GOOD).open_count == 0


@pytest.mark.usefixtures("by_jobs", "no_delay")
@pytest.mark.parametrize(("action", "time", "late"), [("start", 2, False), ("poll", 1, True)])
def test_a_run_that_breaks_leaves_none_behind(
    world: World, action: str, time: int, late: bool
) -> None:
    put(world, REJECTED)
    world.drop(GOOD)
    world.executions()
    world.at(action, time, lambda: world.functions.interrupt(action, "KeyError", late=late))

    world.notify("Object Created", REJECTED)

    _, broken, successor = world.executions()
    assert (broken.status, successor.status) == ("FAILED", "SUCCEEDED")
    assert owners(world) == ["!rejected", "alice"]
    assert world.catalog(GOOD).open_count == 0
