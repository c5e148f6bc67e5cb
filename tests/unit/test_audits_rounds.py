"""Full rounds of the reconciler, when they are due, and what is looked at between two."""

from collections.abc import Iterator
from functools import partial

import pytest

from stackroom.audits.discrepancies import Discrepancy, Kind
from stackroom.audits.rounds import BETWEEN
from stackroom.model import DocumentStatus
from tests.unit.pipeline import CATALOG, KEY
from tests.unit.reconciling import LONG, Reconciled

OTHER = "alice/research/other.pdf"


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


def looked(world: Reconciled) -> list[tuple[Kind, str]]:
    world.clock.pass_by(LONG)
    found: Iterator[Discrepancy] = world.reconciliation().look_between(has_time=lambda: True)
    return [(each.kind, each.what) for each in found]


def one_step(world: Reconciled) -> None:
    list(world.reconciliation().go_on(has_time=partial(next, iter([True, False]))))


def test_the_first_round_is_due_at_once_and_the_next_in_an_hour(world: Reconciled) -> None:
    assert world.reconciliation().is_due

    world.reconcile()

    assert not world.reconciliation().is_due
    world.clock.pass_by(BETWEEN.total_seconds() - 1)
    assert not world.reconciliation().is_due
    world.clock.pass_by(1)
    assert world.reconciliation().is_due


def test_a_round_in_pieces_tells_when_it_began_and_what_was_read(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, OTHER)
    began = world.clock()
    for _ in range(100):
        one_step(world)
        world.clock.pass_by(60)
        if world.reconciliation().is_over:
            break

    latest = world.reconciliation().rounds.latest()
    assert latest is not None
    assert latest.began == began
    assert latest.ended is not None
    assert latest.ended > began
    assert latest.read["listed documents"] == 2
    assert latest.read["records"] >= 3  # two documents, and their catalog
    assert latest.read["objects"] >= 4  # with their sidecars


@pytest.mark.parametrize("status", [DocumentStatus.PENDING, DocumentStatus.INDEXING])
def test_between_rounds_a_stalled_document_gets_a_run(
    world: Reconciled, status: DocumentStatus
) -> None:
    world.dropped_and_indexed(KEY, OTHER)
    world.clock.pass_by(LONG)
    world.change(KEY, status=status, updated_at=world.clock())

    at_once = list(world.reconciliation().look_between(has_time=lambda: True))

    assert at_once == []  # it may be about to get its run
    assert looked(world) == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.leases.kept[CATALOG].held
    assert looked(world) == []


def test_between_rounds_a_catalog_unknown_to_the_shared_run_is_found(world: Reconciled) -> None:
    world.forgets_on_shared(KEY, beside="alice/letters/one.txt")

    assert looked(world) == [(Kind.STALLED_DOCUMENT, KEY)]
    assert looked(world) == []


def test_between_rounds_a_stalled_catalog_and_a_dead_run_are_found(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.stays_indexing(CATALOG)

    stalled = looked(world)
    run = world.live_run()
    world.executions.ended.add(f"{run.worklist_id}-{run.epoch}")

    assert stalled == [(Kind.STALLED_CATALOG, CATALOG)]
    assert [kind for kind, _ in looked(world)] == [Kind.DEAD_RUN]


def test_between_rounds_neither_bucket_nor_knowledge_base_is_read(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    read: list[str] = []
    for call in ("objects", "records", "indexed", "source_ids"):
        world.inventory.before(call, lambda *_, name=call, **__: read.append(name))
    world.documents.before("of_catalog", lambda *_: read.append("of_catalog"))

    assert looked(world) == []
    assert read == []
