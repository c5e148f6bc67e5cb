"""
The rare ways, in simulated time: the stories of chaos, and what happens so seldom that none of them
tells of it; each needs a right.

The handlers, their clients and what they ask for are the product's own; moto and the simulator
answer. The inspection and the functions behind the gateway are not among them: those are recorded
in a local mode (`recorded.py`).
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

from bedrock_kb_simulator.faults import Fault, Kind
from simulated_time.bedrock import ACCOUNT, REGION
from stackroom.aws.dynamodb.catalog_records import METADATA, DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.model.keys import SIDECAR_SUFFIX
from stackroom.model.records import DocumentStatus
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.campaigns.chaos import deployment, handlers
from tests.campaigns.chaos.deployment import Terms, place_of
from tests.campaigns.chaos.disruptions import ATTEMPTS
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.trials import Trial, expire
from tests.campaigns.chaos.wire import wired
from tests.campaigns.chaos.world import World, world
from tests.campaigns.permissions.aws_call_recorder import record
from tests.campaigns.permissions.needs import Line, Names
from tests.campaigns.permissions.recorded import INDEX

A, B = ("alice/research/a.txt", "alice/research/b.txt")
_QUIET = 180.0  # seconds; what is younger, a reconciliation lets be
_OWN, _BY_JOBS, _SHARED = Terms(), Terms(by_jobs=True), Terms(own_slots=0)


def a_name_too_long_to_be_asked_for(world: World) -> None:
    """GetKnowledgeBaseDocuments takes URIs of 128 characters; then the data source is listed."""
    world.drop(f"alice/research/{'n' * 200}.txt", "a text")
    assert world.settle()


def a_job_that_never_ends(world: World) -> None:
    """For twelve hours it is waited for; then it is stopped."""
    object.__setattr__(world.account.durations, "base", 20 * 3600.0)
    world.drop(A, "a text")
    world.pass_time(14 * 3600.0)


def an_object_without_a_catalog(world: World) -> None:
    """A record tells its owner so, and goes with it; also where nobody was told that it went."""
    for key in ("loose.txt", "lost.txt"):
        world.drop(key, "where do I belong?")
    assert world.settle()
    world.remove("loose.txt")
    assert world.settle()
    with world.unheard():
        world.remove("lost.txt")
    world.reconcile()


def a_document_dropped_into_a_catalog_that_is_going(world: World) -> None:
    """Then it stays."""
    world.drop(A, "a text")
    assert world.settle()
    _mark_deleting(world)
    world.drop(B, "wait!")
    assert world.settle()


def a_deletion_that_died_on_the_way(world: World) -> None:
    world.drop(A, "a text")
    assert world.settle()
    _mark_deleting(world)
    world.pass_time(_QUIET)
    world.reconcile()


def a_document_that_only_the_index_knows(world: World) -> None:
    """Leave documents only in the index: of a catalog that a search finds, and of a deleted one."""
    for key in (A, "bob/notes/b.txt"):
        world.drop(key, "a text")
    assert world.settle()
    for key in (A, "bob/notes/b.txt"):
        with world.unheard():
            world.remove(key)
        world.forget_document(key)
    world.forget(METADATA, "bob/notes/b.txt")
    world.pass_time(_QUIET)
    world.reconcile()


def a_data_source_whose_catalog_is_gone(world: World) -> None:
    """The tables were brought back as of before it was made, and its file is deleted since."""
    world.drop(A, "a text")
    assert world.settle()
    with world.unheard():
        world.remove(A)
    world.forget_document(A)
    world.forget(METADATA, A)
    world.pass_time(_QUIET)
    world.reconcile()


def a_run_that_is_silent_when_the_reconciler_looks(world: World) -> None:
    world.drop(A, "a text")
    world.pass_time(4)
    expire(world)
    answer: Any = world.do(
        lambda: world.account.functions.begin("reconciler", {"action": "reconcile"}).result()
    )
    assert answer["finished"]
    assert world.settle()


def a_run_that_is_silent_when_the_schedule_looks(world: World) -> None:
    world.drop(A, "a text")
    world.pass_time(4)
    expire(world)
    world.do(lambda: world.account.functions.begin("ingest", {"action": "sweep"}).result())
    assert world.settle()


def a_run_whose_name_was_used_before(world: World) -> None:
    """The control table was lost, or set back; Step Functions knows better."""
    world.drop(A, "a text")
    assert world.settle()
    control: Any = world.wire.client("dynamodb")
    kept = control.scan(TableName=CONTROL_TABLE)["Items"]
    for item in (each for each in kept if each["pk"]["S"].startswith("RUN#")):
        control.delete_item(TableName=CONTROL_TABLE, Key={"pk": item["pk"], "sk": item["sk"]})
    world.drop(A, "the second text")
    assert world.settle()


def a_sidecar_that_somebody_has_removed(world: World) -> None:
    """Its document is to be ingested again with another one's run, which can't bring it."""
    world.drop(A, "a text")
    assert world.settle()
    documents = DynamoDocuments(client=world.wire.client("dynamodb"), table=CATALOG_TABLE)
    indexed = documents.get(place_of(A).catalog_id, place_of(A).document_id)
    assert indexed is not None
    with world.unheard():
        world.remove(f"{A}{SIDECAR_SUFFIX}")
    documents.save(indexed.moved(DocumentStatus.PENDING, at=world.hub.now()))
    world.drop(B, "another text")
    world.pass_time(_QUIET)
    world.reconcile()
    assert world.settle()


def _mark_deleting(world: World) -> None:
    catalogs = DynamoCatalogs(client=world.wire.client("dynamodb"), table=CATALOG_TABLE)
    catalogs.mark_deleting(place_of(A).catalog_id, at=world.hub.now() - timedelta(seconds=1))


STORIES: Mapping[Callable[[World], None], Terms] = {
    a_name_too_long_to_be_asked_for: _BY_JOBS,
    a_job_that_never_ends: _BY_JOBS,
    an_object_without_a_catalog: _OWN,
    a_document_dropped_into_a_catalog_that_is_going: _OWN,
    a_deletion_that_died_on_the_way: _OWN,
    a_document_that_only_the_index_knows: _SHARED,
    a_data_source_whose_catalog_is_gone: _OWN,
    a_run_that_is_silent_when_the_reconciler_looks: _OWN,
    a_run_that_is_silent_when_the_schedule_looks: _OWN,
    a_run_whose_name_was_used_before: _OWN,
    a_sidecar_that_somebody_has_removed: _SHARED,
}


TRIALS = (
    # The answer to our own call is lost: the job in the way is found by its description.
    Trial(
        "first drop, by jobs",
        faults=(Fault(operation="StartIngestionJob", kind=Kind.DROPPED, times=ATTEMPTS),),
    ),
    # Every execution is gone, as after a power cut: the sweep follows them.
    Trial("catalog kept, shared source", trouble=("restart", 7)),
    # A direct call is refused for so long that the sidecar, which it was to read, has gone.
    Trial(
        "delete under way, shared source",
        faults=(
            Fault(operation="IngestKnowledgeBaseDocuments", kind=Kind.UNAVAILABLE, times=ATTEMPTS),
        ),
    ),
)

_at_work: ContextVar[str] = ContextVar("name of the function that is at work", default="")


def run(tell: Callable[[str], object]) -> tuple[list[Line], Names]:
    """Return each function's calls in all stories, and the names used there."""
    lines: list[Line] = []
    logging.getLogger("stackroom_local").setLevel(logging.ERROR)  # it tells of every fault
    with _recording(lines), wired() as wire:
        tell(f"{len(SCENARIOS)} stories of chaos")
        for name in SCENARIOS:
            Trial(name).run(wire)
        tell(f"{len(TRIALS)} of them with something going wrong")
        for trial in TRIALS:
            trial.run(wire)
        for story, terms in STORIES.items():
            tell(story.__name__.replace("_", " "))
            with world(wire, terms) as made:
                story(made)
    # Each world has a pool of one knowledge base; only in it are there data sources.
    ids = {each["parameters"].get("knowledgeBaseId") for each in lines}
    machine = {"ingest": "stackroom-ingest-catalog"}
    others = machine | dict.fromkeys((each for each in ids if each), "KnowledgeBase1")
    indexes = {each["parameters"].get("indexArn", "") for each in lines}
    others |= {each.rpartition(":")[2]: INDEX for each in indexes if each}
    return lines, Names(account=ACCOUNT, region=REGION, others=others)


@contextmanager
def _recording(lines: list[Line]) -> Iterator[None]:
    """Calls of functions alone, not those of who sets a world up or looks at it."""

    def write(call: dict[str, Any]) -> None:
        if function := _at_work.get():
            lines.append({"function": function, **call})

    handle = handlers.handle

    def handle_as_function(name: str, *given: Any) -> Any:
        token = _at_work.set(f"stackroom-{name.replace('_', '-')}")
        try:
            return handle(name, *given)
        finally:
            _at_work.reset(token)

    end = record(write)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deployment, "handle", handle_as_function)
        try:
            yield
        finally:
            end()
