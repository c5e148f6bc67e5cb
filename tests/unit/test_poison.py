"""
One poison item among many costs nobody else anything, in every loop over many.

An audit tells of it by name, does all the rest, and comes to its end. What no item can do without
ends the piece instead, told once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from stackroom.errors import (
    DocumentsRefused,
    KnowledgeBaseUnavailable,
    RecordChanged,
    ServiceRefused,
    StoreUnavailable,
)
from stackroom.model.keys import unplaced_partition
from stackroom.model.records import Document, DocumentStatus
from stackroom.reconciler.discrepancies import Kind, Outcome
from stackroom.runs.bedrock_calls import Submission
from stackroom.runs.evidence import MAX_ATTEMPTS
from stackroom.runs.run import RunOutcome
from stackroom.runs.work_queue import OpenWork
from tests.unit.pipeline import CATALOG, SHARED_WORKLIST, Pipeline, place_of
from tests.unit.reconciling import Reconciled

POISON = "alice/poison/a.txt"
GOOD = ["alice/research/1.txt", "zoe/research/2.txt"]  # one sorts before it, one after it
ALL = [GOOD[0], POISON, GOOD[1]]
NOWHERE = "!/poison.txt"
POISON_CATALOG = place_of(POISON).catalog_id


INDISPENSABLE = (
    StoreUnavailable("any", "ThrottlingException"),
    ServiceRefused("any", "ExpiredToken"),
)


class Poisoned(Exception):
    """An error that nobody expected."""


@dataclass(frozen=True)
class Loop:
    """
    `breaks` all the items; one, the `poison`, fails in `port` and `method` of the fakes and is
    told as `named`; `is_mended` says whether the others are.
    """

    breaks: Callable[[Reconciled], object]
    port: str
    method: str
    poison: str
    named: str
    is_mended: Callable[[Reconciled], bool]
    kind: Kind = Kind.NOT_COMPARED


def fails_for(fake: object, method: str, name: str, error: Exception | None = None) -> None:
    """The fake's method, called for anything of that name."""

    def fail(*given: object, **_: object) -> None:
        if any(name in str(each) for each in given):
            raise error or Poisoned(name)

    fake.before(method, fail)  # type: ignore[attr-defined]


def uploaded(world: Reconciled) -> None:
    for key in ALL:
        world.bucket.upload(key)


def registered(world: Reconciled) -> bool:
    return all(world.document(key).status is DocumentStatus.PENDING for key in GOOD)


def sidecars_alone(world: Reconciled) -> None:
    for key in ALL:
        world.bucket.write_sidecar(key, b"{}")


def unplaced_gone(world: Reconciled) -> None:
    for key in ("!/1.txt", NOWHERE, "!/z.txt"):
        world.drop(key)
        world.bucket.delete(key)


def indexed_and_gone(world: Reconciled) -> None:
    for key in ALL:
        world.dropped_and_indexed(key)
        world.bucket.delete(key)
        world.bucket.remove_sidecar(key)


def dead_runs(world: Reconciled) -> None:
    for key in ALL:
        world.drop(key)
        catalog_id = place_of(key).catalog_id
        lease = world.leases.kept[catalog_id]
        world.executions.ended.add(lease.execution_name)


def followed(world: Reconciled) -> bool:
    return all(world.leases.kept[place_of(key).catalog_id].epoch == 2 for key in GOOD)


def unused_slots(world: Reconciled) -> None:
    for key in ALL:
        world.slots.take("KB1", place_of(key).catalog_id, limit=9)


def indexed_by_mistake(world: Reconciled) -> None:
    """Documents of three catalogs, each with a data source of its own, are gone from the index."""
    for key in ALL:
        world.dropped_and_indexed(key)
        world.loses(key)


def runs_asked_for(world: Reconciled) -> bool:
    return registered(world) and all(place_of(key).catalog_id in world.leases.kept for key in GOOD)


def sidecars_gone(world: Reconciled) -> bool:
    return not {*world.bucket.sidecars} & {*GOOD}


def only_poison_is_unplaced(world: Reconciled) -> bool:
    return len(list(world.documents.of_catalog(unplaced_partition("!none")))) == 1


def to_be_deleted(world: Reconciled) -> bool:
    return all(world.document(key).status is DocumentStatus.DELETING for key in GOOD)


def only_poison_has_a_slot(world: Reconciled) -> bool:
    return world.slots.kept["KB1"] == {POISON_CATALOG}


SIDECAR = f"{POISON}.metadata.json"
DOCUMENT = place_of(POISON).document_id
RUN = f"{POISON_CATALOG}-1"
LOST, ALONE = Kind.OBJECT_WITHOUT_RECORD, Kind.SIDECAR_WITHOUT_OBJECT
SHELF = "objects under 'alice/poison/'"
LOOPS = [
    Loop(uploaded, "bucket", "head", POISON, POISON, registered, LOST),
    Loop(uploaded, "catalogs", "get", POISON_CATALOG, SHELF, registered),
    Loop(uploaded, "leases", "ask", POISON_CATALOG, POISON, runs_asked_for, LOST),
    Loop(sidecars_alone, "bucket", "head", POISON, SIDECAR, sidecars_gone),
    Loop(sidecars_alone, "bucket", "remove_sidecar", POISON, SIDECAR, sidecars_gone, ALONE),
    Loop(unplaced_gone, "bucket", "head", NOWHERE, NOWHERE, only_poison_is_unplaced),
    Loop(indexed_and_gone, "bucket", "head", POISON, f"records of {POISON_CATALOG}", to_be_deleted),
    Loop(dead_runs, "executions", "is_running", POISON_CATALOG, RUN, followed),
    Loop(
        unused_slots,
        "catalogs",
        "get",
        POISON_CATALOG,
        f"KB1: {POISON_CATALOG}",
        only_poison_has_a_slot,
    ),
    Loop(indexed_by_mistake, "inventory", "indexed", "DS2", "KB1/DS2", registered),
    Loop(indexed_by_mistake, "documents", "get", DOCUMENT, f"KB1/DS2: {DOCUMENT}", registered),
    # It is the only one, so that there are no others.
    Loop(
        indexed_by_mistake, "inventory", "source_ids", "KB1", "data sources of KB1", lambda _: True
    ),
]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: f"{loop.breaks.__name__}-{loop.method}")
def test_one_poison_item_is_reported_by_name_and_all_others_are_mended(loop: Loop) -> None:
    world = Reconciled()
    loop.breaks(world)
    fails_for(getattr(world, loop.port), loop.method, loop.poison)
    world.clock.pass_by(3600)

    told = [each for each in world.reconcile() if each.outcome is Outcome.FAILED]

    assert loop.is_mended(world)
    assert (loop.kind, loop.named) in [(each.kind, each.what) for each in told]
    assert {type(each.error) for each in told} == {Poisoned}
    assert world.reconciliation().is_over


def test_a_piece_that_fails_as_a_whole_keeps_no_other_stage_waiting() -> None:
    world = Reconciled()
    uploaded(world)
    fails_for(world.inventory, "records", "None")  # the first page
    world.clock.pass_by(3600)

    told = [each for each in world.reconcile() if each.outcome is Outcome.FAILED]

    assert registered(world)
    assert "the rest of records, from its start on" in [each.what for each in told]
    assert world.reconciliation().is_over


@pytest.mark.parametrize("error", INDISPENSABLE)
def test_indispensable_failure_ends_the_reconciliation_piece(error: Exception) -> None:
    world = Reconciled()
    uploaded(world)
    world.documents.fails("save", error)
    world.clock.pass_by(3600)

    with pytest.raises(type(error)):
        world.reconcile()

    assert not world.reconciliation().is_over


def test_dead_runs_get_successors_though_nothing_can_be_granted() -> None:
    world = Reconciled()
    dead_runs(world)
    fails_for(world.book, "waiting", "KB1")

    swept = world.broken_runs.sweep(world.runs.leases.held())

    assert followed(world)
    assert "what is free, to be handed out" in swept.failures


def test_run_that_cannot_be_followed_keeps_no_other_from_its_successor() -> None:
    world = Reconciled()
    dead_runs(world)
    dead = {each.worklist_id: each.execution_name for each in world.runs.leases.held()}
    fails_for(world.executions, "start", POISON_CATALOG)
    world.worklists.fails("entries", Poisoned())

    swept = world.broken_runs.sweep(world.runs.leases.held())

    assert followed(world)
    assert {*swept.failures} == {dead[POISON_CATALOG], "what was set aside, to be asked for"}


def test_failed_removal_of_one_key_still_removes_the_rest_of_the_catalog() -> None:
    world = Reconciled()
    keys = [f"alice/research/{number}.txt" for number in range(4)]
    world.dropped_and_indexed(*keys)
    fails_for(world.documents, "save", keys[0])
    asked_before = world.leases.kept[CATALOG].requested

    with pytest.raises(Poisoned):
        world.deletions.delete_catalog("alice", CATALOG)

    assert {world.document(key).status for key in keys[1:]} == {DocumentStatus.DELETING}
    assert world.leases.kept[CATALOG].requested > asked_before


def test_malformed_record_is_reported_and_the_others_are_compared() -> None:
    world = Reconciled()
    indexed_and_gone(world)
    world.inventory.malformed = ["cat-broken DOC#broken: 1 validation error"]
    world.clock.pass_by(3600)

    told = [(each.kind, each.what, each.outcome) for each in world.reconcile()]

    assert (Kind.MALFORMED_RECORD, world.inventory.malformed[0], Outcome.LEFT) in told
    assert all(world.document(key).status is DocumentStatus.DELETING for key in ALL)


# In a run of documents of many catalogs, ten a call


def dropped(*, count: int = 12) -> tuple[Pipeline, list[str]]:
    """POISON and so many others, each of a catalog of its own on a shared data source."""
    shared = Pipeline(shared=True)
    others = [f"user-{number:02}/shelf/a.txt" for number in range(count)]
    for key in (*others, POISON):
        shared.drop(key)
    return shared, others


def statuses(pipeline: Pipeline, keys: list[str]) -> set[str]:
    return {pipeline.document(key).status for key in keys}


def left(pipeline: Pipeline) -> set[str]:
    """Catalogs that the worklist still has, for a later run."""
    return set(pipeline.worklists.kept[SHARED_WORKLIST])


def ingesting_fails(pipeline: Pipeline, error: Exception) -> list[int]:
    """Over POISON: how many documents each such call had, as they come."""
    sizes = list[int]()

    def fail(_: object, documents: Sequence[Submission], **__: object) -> None:
        if place_of(POISON).document_id in {each.document_id for each in documents}:
            sizes.append(len(documents))
            raise error

    pipeline.bedrock.before("ingest", fail)
    return sizes


def test_a_document_that_bedrock_refuses_fails_alone() -> None:
    shared, others = dropped()
    sizes = ingesting_fails(shared, DocumentsRefused("a member must satisfy a pattern"))

    run = shared.execute(SHARED_WORKLIST)

    assert (sizes[0] > 1, sizes[1:]) == (True, [1, 1])  # alone, and once more
    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    refused = shared.document(POISON)
    assert refused.status is DocumentStatus.FAILED
    assert "must satisfy a pattern" in str(refused.status_reason)
    assert (run.progress.documents.failed, left(shared)) == (1, set())


def test_call_that_cannot_be_bound_keeps_no_other_from_being_sent() -> None:
    shared, others = dropped()

    def fail(keys: Sequence[str]) -> None:
        if POISON in keys:
            raise Poisoned

    shared.bucket.before("sidecars_of", fail)

    shared.execute(SHARED_WORKLIST)

    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    assert shared.document(POISON).status is DocumentStatus.PENDING
    assert left(shared) == {POISON_CATALOG}


def test_shared_refusal_fails_documents_only_after_every_attempt() -> None:
    shared, others = dropped(count=3)
    refusal = DocumentsRefused("the role may not")
    shared.bedrock.fails("ingest", refusal)
    began = shared.clock()

    run = shared.execute(SHARED_WORKLIST, until="WaitForKnowledgeBase")
    at_first = statuses(shared, [*others, POISON])
    run = shared.execute(run=run, state="WaitForKnowledgeBase")

    assert at_first == {DocumentStatus.PENDING}
    assert statuses(shared, [*others, POISON]) == {DocumentStatus.FAILED}
    assert run.progress.outcome is RunOutcome.RELEASED
    assert {each.attempts for each in shared.documents.kept.values()} == {MAX_ATTEMPTS}
    assert (shared.clock() - began).total_seconds() > 60


@pytest.mark.parametrize(
    "error", [KnowledgeBaseUnavailable("IngestKnowledgeBaseDocuments", "500"), Poisoned()]
)
def test_document_that_fails_every_call_does_not_hold_up_the_others(error: Exception) -> None:
    shared, others = dropped()
    sizes = ingesting_fails(shared, error)

    run = shared.execute(SHARED_WORKLIST)

    assert (sizes[0] > 1, sizes[-1]) == (True, 1)
    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    assert shared.document(POISON).status is DocumentStatus.PENDING
    assert {*shared.failures} == left(shared) == {POISON_CATALOG}


@pytest.mark.parametrize("error", [KnowledgeBaseUnavailable("any", "500"), Poisoned()])
def test_catalog_that_cannot_be_settled_does_not_hold_up_the_others(
    error: Exception,
) -> None:
    shared, others = dropped(count=3)
    run = shared.work(SHARED_WORKLIST)
    fails_for(shared.findings, "results_for", POISON_CATALOG, error)

    shared.go_on(run, until="WorklistSettled")

    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    assert POISON_CATALOG in shared.failures
    assert shared.book.read().grants == ()


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b"no JSON", b'{"metadataAttributes": {"a": null}}']
)
def test_foreign_sidecar_leaves_only_its_own_document_out(body: bytes) -> None:
    shared, others = dropped(count=3)
    shared.bucket.write_sidecar(POISON, body)

    run = shared.execute(SHARED_WORKLIST)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    assert shared.document(POISON).status is DocumentStatus.PENDING
    assert left(shared) == {POISON_CATALOG}


@pytest.mark.parametrize("error", INDISPENSABLE)
def test_failure_of_a_shared_store_ends_the_task(error: Exception) -> None:
    shared, others = dropped(count=3)
    shared.documents.fails("open_in", error)

    with pytest.raises(type(error)):
        shared.execute(SHARED_WORKLIST)

    assert len(left(shared)) == len(others) + 1
    assert shared.leases.kept[SHARED_WORKLIST].held


def test_document_that_keeps_changing_is_reported_and_others_are_retried() -> None:
    world = Reconciled()
    keys = [f"alice/research/{number}.txt" for number in range(3)]
    for key in keys:
        world.drop(key)
        world.change(key, status=DocumentStatus.FAILED, status_reason="Bedrock gave no reason")
    changed = place_of(keys[1]).document_id

    def refuse(document: Document) -> None:
        if document.document_id == changed:
            raise RecordChanged(changed)

    world.documents.before("save", refuse)

    retried = world.retrying.retry("alice", CATALOG)

    assert [each.s3_key for each in retried.again] == [keys[0], keys[2]]
    assert [(each.s3_key, why) for each, why in retried.refused] == [
        (keys[1], "others kept changing its record; try again")
    ]


def test_unreadable_catalog_does_not_hold_up_the_others() -> None:
    shared, others = dropped()
    fails_for(shared.documents, "open_in", POISON_CATALOG)

    run = shared.execute(SHARED_WORKLIST)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert statuses(shared, others) == {DocumentStatus.INDEXED}
    assert {key: type(error) for key, error in shared.failures.items()} == {
        POISON_CATALOG: Poisoned
    }
    assert left(shared) == {POISON_CATALOG}


def test_unreadable_call_leaves_its_documents_to_a_later_run() -> None:
    shared, _ = dropped(count=0)
    looking = shared.bedrock.fails("details", Poisoned())
    run = shared.execute(SHARED_WORKLIST)
    released, kept = run.progress.outcome, left(shared)

    looking.end()
    shared.broken_runs.sweep(shared.runs.expired())
    shared.execute(SHARED_WORKLIST)

    assert (released, kept) == (RunOutcome.RELEASED, {POISON_CATALOG})
    assert shared.document(POISON).status is DocumentStatus.INDEXED


def test_document_tried_alone_takes_one_call_after_untried_ones() -> None:
    shared, others = dropped(count=80)
    documents = [shared.document(key) for key in others]
    work = OpenWork(small=deque(documents[:50]), alone=deque(documents[50:]))

    found = work.batches(4, share=1, at_work=0)

    assert [len(each) for each in found] == [10, 10, 10, 1]
    assert work.is_more
