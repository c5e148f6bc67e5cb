"""Rejected files leave the index, however they came into it: a search of no filter finds none."""

from collections.abc import Callable, Iterable, Sequence

import pytest

import stackroom.runs.placing
from stackroom.aws.documents import DynamoDocuments
from stackroom.errors import StoreUnavailable
from stackroom.model import DataSource, Document
from stackroom.ports.ingestion import Busy
from stackroom.runs.placing import OwnFirst
from stackroom.settlement.eviction import Eviction
from stackroom_local.simulator.disturbances import Kind
from tests.aws.stores import BUCKET
from tests.workflow.world import World

GOOD = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
REJECTED = "alice/research/report.doc"  # Bedrock takes it, and we don't
DELETE = "DeleteKnowledgeBaseDocuments"


@pytest.fixture(autouse=True)
def own_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs crawl the catalogs' prefixes."""
    monkeypatch.setattr(stackroom.runs.placing, "SharedFirst", lambda **_: OwnFirst())


def found(world: World) -> list[str]:
    """Whose all of it is that a search without a filter finds."""
    return sorted(str(each.get("user_id")) for each in world.bedrock.passages())


def settled(world: World) -> bool:
    """By ends that all succeeded, with nothing left to do."""
    return {each.states[-1] for each in world.executions()} == {"WorklistSettled"}


def put(world: World, key: str, **metadata: str) -> None:
    """An object whose event has yet to come."""
    world.s3.put_object(Bucket=BUCKET, Key=key, Body=b"some text", Metadata=metadata)


@pytest.mark.parametrize(
    "key", [REJECTED, "alice/research//report.txt", f"alice/research/{'x' * 60}.xls"]
)
def test_a_rejected_file_that_a_job_has_crawled_leaves_the_index(world: World, key: str) -> None:
    world.drop(key)
    world.drop(GOOD)

    assert settled(world)
    assert len(world.bedrock.jobs()) == 1
    assert found(world) == ["alice"]
    assert world.status(key) == "failed"
    assert world.catalog(GOOD).open_count == 0


def test_one_whose_key_no_call_can_tell_is_nobodys_and_left_there(world: World) -> None:
    key = f"alice/research/{'x' * 128}.doc"
    world.drop(key)
    world.drop(GOOD)

    assert settled(world)
    assert found(world) == ["!rejected", "alice"]
    assert world.catalog(GOOD).open_count == 0


def test_rejected_files_leave_though_others_can_only_be_brought_by_a_job(world: World) -> None:
    """Whose keys are too long for a call."""
    world.drop(REJECTED)
    world.drop(f"alice/research/{'x' * 128}.txt")
    world.executions()

    world.drop(f"alice/research/{'y' * 128}.txt")

    assert settled(world)
    assert len(world.bedrock.jobs()) == len(world.bedrock.accepted(DELETE)) == 2
    assert found(world) == ["alice", "alice"]


def test_it_leaves_again_after_each_job_that_takes_it_in(world: World) -> None:
    world.drop(REJECTED)
    world.drop(GOOD)
    world.executions()

    world.drop(OTHER)

    assert settled(world)
    assert len(world.bedrock.jobs()) == 2
    assert len(world.bedrock.accepted(DELETE)) == 2
    assert found(world) == ["alice", "alice"]


def test_a_version_that_is_rejected_takes_the_indexed_one_along(world: World) -> None:
    world.drop(OTHER)
    world.drop(GOOD)
    world.executions()
    put(world, GOOD, **{"kb-user_id": "bob"})

    world.notify("Object Created", GOOD)

    assert settled(world)
    assert found(world) == ["alice"]
    document = world.document(GOOD)
    assert document is not None
    assert (document.status, document.lingering) == ("failed", False)
    assert "reserved" in str(document.status_reason)


def test_one_that_a_job_has_crawled_before_anybody_knew_it_leaves_the_index(world: World) -> None:
    put(world, REJECTED)
    world.drop(GOOD)
    world.executions()
    before = found(world)

    world.notify("Object Created", REJECTED)

    assert settled(world)
    assert before == ["None", "alice"]
    assert found(world) == ["alice"]


def test_one_that_its_owner_removes_once_a_job_has_crawled_it_leaves_the_index(
    world: World,
) -> None:
    world.drop(REJECTED)
    world.at("settle", 1, lambda: world.remove(REJECTED))
    world.drop(GOOD)

    assert settled(world)
    assert world.document(REJECTED) is None
    assert found(world) == ["alice"]


def test_one_that_is_mended_while_it_is_taken_out_is_indexed(world: World) -> None:
    def mend() -> None:
        world.drop(GOOD, b"a better text")

    put(world, GOOD, **{"kb-user_id": "bob"})
    world.notify("Object Created", GOOD)
    world.at("settle", 2, mend)

    world.drop(OTHER)

    assert settled(world)
    assert world.status(GOOD) == "indexed"
    assert found(world) == ["alice", "alice"]


def test_bedrock_that_is_busy_is_asked_again(world: World) -> None:
    world.bedrock.fail(DELETE, Kind.BUSY)
    world.drop(REJECTED)

    world.drop(GOOD)

    assert settled(world)
    assert DELETE in world.bedrock.refusals
    assert found(world) == ["alice"]


def die_before_writing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    save_all = DynamoDocuments.save_all
    deaths: list[str] = []

    def dying(documents: DynamoDocuments, given: Iterable[Document]) -> list[Document]:
        batch = list(given)
        if not deaths and any(each.lingering for each in batch):
            deaths.append("once")
            raise StoreUnavailable("TransactWriteItems", "the worker died")
        return save_all(documents, batch)

    monkeypatch.setattr(DynamoDocuments, "save_all", dying)
    return deaths


def die_after_asking(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    ask = Eviction.ask
    deaths: list[str] = []

    def dying(eviction: Eviction, source: DataSource, documents: Sequence[Document]) -> Busy | None:
        answer = ask(eviction, source, documents)
        if not deaths:
            deaths.append("once")
            raise StoreUnavailable("PutItem", "the worker died")
        return answer

    monkeypatch.setattr(Eviction, "ask", dying)
    return deaths


@pytest.mark.parametrize("dies", [die_before_writing, die_after_asking])
def test_a_worker_that_dies_in_between_leaves_nothing_behind(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    dies: Callable[[pytest.MonkeyPatch], list[str]],
    no_delay: None,
) -> None:
    deaths = dies(monkeypatch)
    world.drop(REJECTED)

    world.drop(GOOD)

    # The state machine tries the task again.
    assert settled(world)
    assert deaths == ["once"]
    assert found(world) == ["alice"]
    assert world.catalog(GOOD).open_count == 0


@pytest.mark.parametrize(
    ("action", "time", "late"), [("start", 2, True), ("settle", 1, True), ("settle", 2, False)]
)
def test_a_run_that_breaks_leaves_none_behind(
    world: World, no_delay: None, action: str, time: int, late: bool
) -> None:
    """The first of each is about the job, the second about the eviction."""
    world.drop(REJECTED)
    world.at(action, time, lambda: world.functions.interrupt(action, "KeyError", late=late))

    world.drop(GOOD)

    broken, successor = world.executions()
    assert (broken.status, successor.status) == ("FAILED", "SUCCEEDED")
    assert found(world) == ["alice"]
    assert world.catalog(GOOD).open_count == 0
