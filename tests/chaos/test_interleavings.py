"""Any interleaving of people and faults ends in agreement; `make chaos` draws more of them."""

from hypothesis.stateful import run_state_machine_as_test

from stackroom_local.simulator.disturbances import Kind
from tests.chaos.interleavings import SETTINGS, Interleaving
from tests.chaos.wire import Wire


def test_any_interleaving_of_people_and_faults_ends_in_agreement(wire: Wire) -> None:
    Interleaving.wire = wire

    run_state_machine_as_test(Interleaving, settings=SETTINGS)

    assert Interleaving.injected.total() > 0


def test_a_reconciliation_that_was_cut_short_is_followed_by_a_whole_one(wire: Wire) -> None:
    """Found by `make chaos`: the first pass has gone by where the file then came to lie."""
    Interleaving.wire = wire
    story = Interleaving()
    story.open(slots=0, by_jobs=False, deliveries=1)
    story.reconcile()
    story.drop_unheard("alice/one/a.txt")
    story.fail(("ListKnowledgeBaseDocuments", Kind.LOST), 4)

    story.teardown()
