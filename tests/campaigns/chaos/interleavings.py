"""People and faults in any order: what hypothesis draws, until nothing more is drawn."""

import random
from collections import Counter
from contextlib import ExitStack
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from bedrock_kb_simulator.faults import BY_CHANCE, Fault, Kind
from tests.campaigns.chaos.deployment import Command, Terms
from tests.campaigns.chaos.disruptions import ATTEMPTS, MESSAGES, SLOW, kinds_of
from tests.campaigns.chaos.trials import expire, injected_into
from tests.campaigns.chaos.truth import Truth, discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World, world

# Two catalogs of one user, one of another; the pool has one place of its own to give.
KEYS = ("alice/one/a.txt", "alice/one/b.txt", "alice/two/a.txt", "bob/three/a.txt")
_STEPS = (
    *("upload_handler", "ensure", "admit", "start", "poll", "release", "record_failure", "recover"),
    *("sweep", "reconcile", "delete_document", "delete_catalog", "retry"),
)
_FAULTS = sorted((operation, kind) for operation, kinds in BY_CHANCE.items() for kind in kinds)
_OPERATIONS = (
    *MESSAGES,
    *("dynamodb.PutItem", "dynamodb.UpdateItem", "dynamodb.DeleteItem"),
    *("dynamodb.TransactWriteItems", "dynamodb.GetItem", "dynamodb.Query"),
    *("s3.PutObject", "s3.DeleteObject", "s3.DeleteObjects", "s3.HeadObject", "s3.GetObject"),
    *("stepfunctions.StartExecution", "stepfunctions.SendTaskSuccess"),
)
_DISRUPTIONS = [(each, kind) for each in _OPERATIONS for kind in kinds_of(each)]

SETTINGS = settings(
    max_examples=8,
    stateful_step_count=10,
    deadline=None,
    database=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=list(HealthCheck),  # an example takes a second, whatever it draws
)

keys = st.sampled_from(KEYS)


class Interleaving(RuleBasedStateMachine):
    """`injected` counts what went wrong in all of them, as that of an outcome."""

    injected: ClassVar[Counter[tuple[str, str]]] = Counter()
    wire: ClassVar[Wire]

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.world: World

    @initialize(
        slots=st.sampled_from((0, 1, 4)),
        by_jobs=st.booleans(),
        deliveries=st.sampled_from((1, 2)),
    )
    def open(self, slots: int, by_jobs: bool, deliveries: int) -> None:
        state = random.getstate()
        terms = Terms(own_slots=slots, by_jobs=by_jobs, deliveries=deliveries, shuffle=20.0)
        self.world = self._stack.enter_context(world(self.wire, terms))
        self.world.deliveries = deliveries
        self._stack.callback(random.setstate, state)

    @rule(key=keys, text=st.sampled_from(("one text", "another text", "a third one", "")))
    def drop(self, key: str, text: str) -> None:
        self.world.drop(key, text)

    @rule(key=keys)
    def drop_unheard(self, key: str) -> None:
        with self.world.unheard():
            self.world.drop(key, "nobody was told")

    @rule(key=keys)
    def remove(self, key: str) -> None:
        self.world.remove(key)

    @rule(key=keys, action=st.sampled_from(("delete_document", "delete_catalog", "retry")))
    def command(self, key: str, action: Any) -> None:
        self.world.command(Command(action, key))

    @rule(seconds=st.sampled_from((1, 4, 7, 10, 20, 60)))
    def pass_time(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(step=st.sampled_from(_STEPS), call=st.integers(0, 14), late=st.booleans())
    def kill(self, step: str, call: int, late: bool) -> None:
        self.world.kills.next(step, call, late=late)

    @rule(fault=st.sampled_from(_FAULTS), times=st.sampled_from((1, 4)))
    def fail(self, fault: tuple[str, Kind], times: int) -> None:
        operation, kind = fault
        self.world.faults.ask(Fault(operation=operation, kind=kind, times=times))

    @rule(disruption=st.sampled_from(_DISRUPTIONS), times=st.sampled_from((1, ATTEMPTS)))
    def disrupt(self, disruption: tuple[str, Kind], times: int) -> None:
        operation, kind = disruption
        fault = Fault(operation=operation, kind=kind, times=times, seconds=SLOW)
        self.world.disruptions.asked.ask(fault)

    @rule()
    def expire(self) -> None:
        expire(self.world)
        self.world.troubled += 1

    @rule()
    def restart(self) -> None:
        self.world.restart_account()
        self.world.troubled += 1

    @rule()
    def abort(self) -> None:
        for execution in list(self.world.workflow.executions.values()):
            if execution.status == "RUNNING":
                self.world.workflow.stop(execution.name)
                self.world.troubled += 1

    @rule()
    def reconcile(self) -> None:
        """Beside everything else."""
        self.world.begin("reconciler", {"action": "reconcile"})

    def teardown(self) -> None:
        with self._stack:
            if hasattr(self, "world"):
                problems = self._ended()
                assert not problems, "\n".join(problems)

    def _ended(self) -> list[str]:
        made = self.world
        problems = [] if made.settle() else ["never quiet"]
        made.kills.armed = False
        Interleaving.injected += injected_into(made)
        made.faults.clear()
        made.disruptions.clear()
        made.must_fail |= {key for key, found in Truth(made).objects.items() if not found.size}
        made.may_fail |= made.must_fail
        found = made.reconcile()
        # Whose tries were all cut short has failed honestly, and its owner may try again.
        for key in sorted({each.s3_key for each in made.failed()} - made.must_fail):
            made.command(Command("retry", key))
        made.settle()
        problems += discrepancies(made)
        if found:
            again = made.reconcile()
            problems += [f"found again: {kind} {count}" for kind, count in again.items()]
        return problems
