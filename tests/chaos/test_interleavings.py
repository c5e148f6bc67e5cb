"""Any interleaving of people and faults ends in agreement; `make chaos` draws more of them."""

from hypothesis.stateful import run_state_machine_as_test

from tests.chaos.interleavings import SETTINGS, Interleaving
from tests.chaos.wire import Wire


def test_any_interleaving_of_people_and_faults_ends_in_agreement(wire: Wire) -> None:
    Interleaving.wire = wire

    run_state_machine_as_test(Interleaving, settings=SETTINGS)

    assert Interleaving.injected > 0
