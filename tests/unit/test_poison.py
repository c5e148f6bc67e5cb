"""
One poison item among many costs nobody else anything, in every loop over many.

An audit tells of it by name, does all the rest, and comes to its end. What no item can do without
ends the piece instead, told once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from stackroom.audits.discrepancies import Kind, Outcome
from stackroom.deletions.deletions import Deletions
from stackroom.errors import RecordChanged, ServiceRefused, StoreUnavailable
from stackroom.ingestion.retry import Retrying
from stackroom.keys import unplaced_partition
from stackroom.model import Document, DocumentStatus
from stackroom.ports.admission import Grant, Mode, Waiter
from tests.unit.pipeline import CATALOG, place_of
from tests.unit.reconciling import Reconciled

POISON = "alice/poison/a.txt"
GOOD = ["alice/research/1.txt", "zoe/research/2.txt"]  # one sorts before it, one after it
ALL = [GOOD[0], POISON, GOOD[1]]
POISON_CATALOG = place_of(POISON).catalog_id


class Poisoned(Exception):
    """What nobody has thought of."""


@dataclass(frozen=True)
class Loop:
    """
    `breaks` all the items, of which `fails` poisons one; `is_mended` says whether the others are.
    """

    breaks: Callable[[Reconciled], object]
    fails: Callable[[Reconciled], None]
    named: str
    is_mended: Callable[[Reconciled], bool]
    kind: Kind = Kind.NOT_COMPARED


def fails_for(fake: object, method: str, name: str) -> None:
    """The fake's method, called for anything of that name."""

    def fail(*given: object, **_: object) -> None:
        if any(name in str(each) for each in given):
            raise Poisoned(name)

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
    for key in ("!/1.txt", "!/poison.txt", "!/z.txt"):
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


def dead_waiters(world: Reconciled) -> None:
    for key in ALL:
        world.book.enqueue(
            Waiter(
                worklist_id=place_of(key).catalog_id,
                epoch=1,
                knowledge_base_id="KB1",
                mode=Mode.SHARED,
                since=world.clock(),
                calls=1,
                token=key,
            )
        )


def dead_grants(world: Reconciled) -> None:
    grants = tuple(
        Grant(
            worklist_id=place_of(key).catalog_id,
            epoch=1,
            knowledge_base_id="KB1",
            mode=Mode.SHARED,
            slots=1,
            granted_at=world.clock(),
            until=world.clock() + timedelta(days=1),
        )
        for key in ALL
    )
    ledger = world.book.read()
    world.book.ledger = type(ledger)(**{**vars(ledger), "grants": grants})


def unused_slots(world: Reconciled) -> None:
    for key in ALL:
        world.slots.take("KB1", place_of(key).catalog_id, limit=9)


def indexed_by_mistake(world: Reconciled) -> None:
    """Documents of three catalogs, each with a data source of its own, are gone from the index."""
    for key in ALL:
        world.dropped_and_indexed(key)
        world.bedrock.forget(key)


def taken_up_again(world: Reconciled) -> bool:
    return all(world.document(key).status is DocumentStatus.PENDING for key in GOOD)


LOOPS = {
    "keys": Loop(
        breaks=uploaded,
        fails=lambda world: fails_for(world.bucket, "head", POISON),
        named=POISON,
        is_mended=registered,
        kind=Kind.OBJECT_WITHOUT_RECORD,
    ),
    "shelves": Loop(
        breaks=uploaded,
        fails=lambda world: fails_for(world.catalogs, "get", POISON_CATALOG),
        named="objects under 'alice/poison/'",
        is_mended=registered,
    ),
    "runs asked for": Loop(
        breaks=uploaded,
        fails=lambda world: fails_for(world.leases, "ask", POISON_CATALOG),
        named=POISON,
        is_mended=lambda world: (
            registered(world) and all(place_of(key).catalog_id in world.leases.kept for key in GOOD)
        ),
        kind=Kind.OBJECT_WITHOUT_RECORD,
    ),
    "sidecars": Loop(
        breaks=sidecars_alone,
        fails=lambda world: fails_for(world.bucket, "head", POISON),
        named=f"{POISON}.metadata.json",
        is_mended=lambda world: not {*world.bucket.sidecars} & {*GOOD},
    ),
    "removals of sidecars": Loop(
        breaks=sidecars_alone,
        fails=lambda world: fails_for(world.bucket, "remove_sidecar", POISON),
        named=f"{POISON}.metadata.json",
        is_mended=lambda world: not {*world.bucket.sidecars} & {*GOOD},
        kind=Kind.SIDECAR_WITHOUT_OBJECT,
    ),
    "unplaced records": Loop(
        breaks=unplaced_gone,
        fails=lambda world: fails_for(world.bucket, "head", "!/poison.txt"),
        named="!/poison.txt",
        is_mended=lambda world: (
            len(list(world.documents.of_catalog(unplaced_partition("!none")))) == 1
        ),
    ),
    "records": Loop(
        breaks=indexed_and_gone,
        fails=lambda world: fails_for(world.bucket, "head", POISON),
        named=f"records of {POISON_CATALOG}",
        is_mended=lambda world: all(
            world.document(key).status is DocumentStatus.DELETING for key in GOOD
        ),
    ),
    "leases": Loop(
        breaks=dead_runs,
        fails=lambda world: fails_for(world.executions, "is_running", POISON_CATALOG),
        named=f"{POISON_CATALOG}-1",
        is_mended=followed,
    ),
    "waiters": Loop(
        breaks=dead_waiters,
        fails=lambda world: fails_for(world.leases, "get", POISON_CATALOG),
        named=f"KB1 shared: {POISON_CATALOG}-1",
        is_mended=lambda world: (
            {each.worklist_id for each in world.book.places.values()} == {POISON_CATALOG}
        ),
    ),
    "grants": Loop(
        breaks=dead_grants,
        fails=lambda world: fails_for(world.leases, "get", POISON_CATALOG),
        named=f"KB1 shared: {POISON_CATALOG}-1",
        is_mended=lambda world: (
            [each.worklist_id for each in world.book.read().grants] == [POISON_CATALOG]
        ),
    ),
    "slots": Loop(
        breaks=unused_slots,
        fails=lambda world: fails_for(world.catalogs, "get", POISON_CATALOG),
        named=f"KB1: {POISON_CATALOG}",
        is_mended=lambda world: world.slots.kept["KB1"] == {POISON_CATALOG},
    ),
    "listings of data sources": Loop(
        breaks=indexed_by_mistake,
        fails=lambda world: fails_for(world.inventory, "indexed", "DS2"),
        named="KB1/DS2",
        is_mended=taken_up_again,
    ),
    "documents of data sources": Loop(
        breaks=indexed_by_mistake,
        fails=lambda world: fails_for(world.documents, "get", place_of(POISON).document_id),
        named=f"KB1/DS2: {place_of(POISON).document_id}",
        is_mended=taken_up_again,
    ),
    "data sources": Loop(
        breaks=indexed_by_mistake,
        fails=lambda world: fails_for(world.inventory, "source_ids", "KB1"),
        named="data sources of KB1",
        is_mended=lambda world: True,  # it was the only one
    ),
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_one_poison_item_costs_the_others_nothing_and_is_told_by_its_name(loop: Loop) -> None:
    world = Reconciled()
    loop.breaks(world)
    loop.fails(world)
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


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("PutItem", "ThrottlingException"), ServiceRefused("PutItem", "ExpiredToken")],
    ids=lambda error: type(error).__name__,
)
def test_what_nobody_can_do_without_ends_the_piece_and_is_told_once(error: Exception) -> None:
    world = Reconciled()
    uploaded(world)
    world.documents.fails("save", error)
    world.clock.pass_by(3600)

    with pytest.raises(type(error)):
        world.reconcile()

    assert not world.reconciliation().is_over


def test_a_run_that_nobody_can_wake_keeps_none_behind_it_waiting() -> None:
    world = Reconciled()
    dead_waiters(world)
    fails_for(world.task_tokens, "wake", POISON)

    world.admission.dispatch()

    assert sorted(world.task_tokens.woken) == sorted(GOOD)


def test_dead_runs_are_followed_though_nothing_can_be_handed_out() -> None:
    world = Reconciled()
    dead_runs(world)
    fails_for(world.book, "waiting", "KB1")

    swept = world.broken_runs.sweep(world.runs.held())

    assert followed(world)
    assert "what is free, to be handed out" in swept.failures


def test_a_document_that_others_keep_changing_is_told_and_the_rest_tried_again() -> None:
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
    retrying = Retrying(
        catalogs=world.catalogs, documents=world.documents, requests=world.requests, now=world.clock
    )

    retried = retrying.retry("alice", CATALOG)

    assert [each.s3_key for each in retried.again] == [keys[0], keys[2]]
    assert [(each.s3_key, why) for each, why in retried.refused] == [
        (keys[1], "others kept changing its record; try again")
    ]


def test_a_key_that_can_not_be_removed_leaves_the_rest_of_its_catalog_removed() -> None:
    world = Reconciled()
    keys = [f"alice/research/{number}.txt" for number in range(4)]
    world.dropped_and_indexed(*keys)
    fails_for(world.documents, "save", keys[0])
    asked_before = world.leases.kept[CATALOG].requested
    deletions = Deletions(
        catalogs=world.catalogs,
        documents=world.documents,
        bucket=world.bucket,
        receipts=world.receipts,
        uploads=world.uploads,
        requests=world.requests,
        now=world.clock,
    )

    with pytest.raises(Poisoned):
        deletions.delete_catalog("alice", CATALOG)

    assert {world.document(key).status for key in keys[1:]} == {DocumentStatus.DELETING}
    assert world.leases.kept[CATALOG].requested > asked_before


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[]", b'{"other": 1}'])
def test_a_sidecar_that_is_none_of_ours_leaves_its_document_out_and_no_other(body: bytes) -> None:
    world = Reconciled(shared_first=True)
    keys = [f"alice/research/{number}.txt" for number in range(3)]
    for key in keys:
        world.drop(key)
    world.bucket.write_sidecar(keys[1], body)

    world.work_shared()

    assert world.document(keys[0]).status is DocumentStatus.INDEXED
    assert world.document(keys[2]).status is DocumentStatus.INDEXED
    assert world.document(keys[1]).status is DocumentStatus.PENDING


def test_a_record_that_is_none_is_told_and_the_others_are_compared() -> None:
    world = Reconciled()
    indexed_and_gone(world)
    world.inventory.malformed = ["cat-broken DOC#broken: 1 validation error"]
    world.clock.pass_by(3600)

    told = [(each.kind, each.what, each.outcome) for each in world.reconcile()]

    assert (Kind.MALFORMED_RECORD, world.inventory.malformed[0], Outcome.LEFT) in told
    assert all(world.document(key).status is DocumentStatus.DELETING for key in ALL)
