"""Everything that is tried: each trial one story, and what goes wrong in it."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bedrock_kb_simulator.faults import BY_CHANCE, DOCUMENTS_BY_CHANCE, Chance, Fault, Kind
from simulated_time.hub import Hub
from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.errors import RecordChanged
from stackroom.reconciler.discrepancies import Kind as Finding
from stackroom.runs.ledger import Ledger
from tests.aws.stores import CONTROL_TABLE
from tests.campaigns.chaos.deployment import Command
from tests.campaigns.chaos.disruptions import ATTEMPTS, Disruptions, faults_at
from tests.campaigns.chaos.events import untold
from tests.campaigns.chaos.kills import Kill, Kills
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.truth import discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World, world
from tests.workflow.machine import DEFINITION

_LOOK = 0.01  # seconds; from state to state it is twice as long


def expire(world: World) -> None:
    """Every lease and every grant is void from now on, whoever holds it."""
    past = world.hub.now() - timedelta(seconds=1)
    dynamodb = world.wire.client("dynamodb")
    for item in dynamodb.scan(TableName=CONTROL_TABLE)["Items"]:
        if "live" in item:
            dynamodb.update_item(
                TableName=CONTROL_TABLE,
                Key={"pk": item["pk"], "sk": item["sk"]},
                UpdateExpression="SET #until = :past",
                ExpressionAttributeNames={"#until": "until"},
                ExpressionAttributeValues={":past": {"S": past.isoformat()}},
            )
    book = DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE)
    ledger = book.read()
    if not ledger.grants:
        return
    try:
        book.write(_voided(ledger, past))
    except RecordChanged:
        expire(world)


def _voided(ledger: Ledger, past: datetime) -> Ledger:
    return replace(ledger, grants=tuple(replace(each, until=past) for each in ledger.grants))


def observe(world: World) -> None:
    """See which states the story goes through."""

    def watch() -> None:
        while world.kills.armed:
            for execution in world.workflow.executions.values():
                world.states.add(execution.state)
            world.hub.sleep(_LOOK)

    world.hub.spawn(watch)


def end_execution(world: World, state: str, status: str) -> None:
    """The first execution that comes to the state ends there."""

    def watch(hub: Hub) -> None:
        while world.kills.armed:
            for execution in list(world.workflow.executions.values()):
                if execution.status == "RUNNING" and execution.state == state:
                    world.troubled += 1
                    world.workflow.stop(execution.name, status)
                    return
            hub.sleep(_LOOK)

    world.hub.spawn(partial(watch, world.hub))


@dataclass
class Outcome:
    """
    `injected` counts what was done to the story, by whom it befell and its kind; `told` is how to
    see it again. `operations` are Bedrock's calls, `calls` those of the other services.
    """

    told: str
    injected: Counter[tuple[str, str]]
    discrepancies: list[str]
    kills: Kills
    operations: dict[str, int]
    calls: Counter[str]
    found: dict[str, int]
    states: set[str]


def injected_into(made: World) -> Counter[tuple[str, str]]:
    """How often anything went wrong, by whom it befell and its kind."""
    counts = Counter({("workers", "death"): len(made.kills.done)})
    counts["runs, leases and events", "trouble"] = made.troubled
    for (_, kind), count in made.faults.counts.items():
        counts["bedrock", str(kind)] += count
    for (operation, kind), count in made.disruptions.asked.counts.items():
        counts[operation.partition(".")[0], str(kind)] += count
    return +counts  # without what never happened


_PASSING = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.LOST, Kind.DROPPED)
# One of these alone is an attempt lost, and nobody hears of it. (Nor of INTERNAL, ever: it is
# UNAVAILABLE by another name.)
_UNHEARD = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.DROPPED, Kind.INTERNAL)
_ENDS = tuple(
    name
    for name, state in json.loads(DEFINITION.read_text("utf-8"))["States"].items()
    if state["Type"] in ("Succeed", "Fail")
)
_OF_DOCUMENTS = (Kind.FAILED, Kind.REFUSED)
_MEASURED = (Kind.UNSEEN, Kind.MISSED, Kind.SLOW)  # of few documents, so not as rare as others
_UNSEEN = 45.0  # seconds for which a document is unseen, or missed by searches
_MOMENTS = (0, 2, 6, 7, 8, 9, 11, 14, 18, 24)
_STORM_KILLS = 3
_OUTAGES = (1.0, 60.0, 7200.0)  # seconds
_LOOKS_AFTER = 8  # of the reconciler's, each quarter of an hour, until all pauses are over


@dataclass(frozen=True)
class Trial:
    """
    `trouble` is the name of one, and its moment or the state where it strikes. An `outage` begins
    at a moment, and lasts for seconds in which Bedrock fails over every document without a reason.
    """

    scenario: str
    kills: tuple[Kill, ...] = ()
    faults: tuple[Fault, ...] = ()  # of Bedrock
    disruptions: tuple[Fault, ...] = ()  # of all others
    rate: float = 0.0
    trouble: tuple[str, float | str] | None = None
    outage: tuple[float, float] | None = None
    deliveries: int = 1
    shuffle: float = 0.0
    seed: int = 0

    def __str__(self) -> str:
        told = [str(each) for each in self.kills]
        told += [
            f"{each.kind} x{each.times} in {each.operation}[{each.skip}]{each.where}"
            for each in (*self.faults, *self.disruptions)
        ]
        if self.rate:
            told.append(f"storm {self.rate}")
        if self.trouble:
            told.append(f"{self.trouble[0]} at {self.trouble[1]}")
        if self.outage:
            told.append("outage at {:g} for {:g} s".format(*self.outage))
        if self.deliveries != 1:
            told.append(f"{self.deliveries} deliveries")
        return f"{self.scenario}: {', '.join(told) or 'nothing'} (seed {self.seed})"

    def run(self, wire: Wire, *, watching: Callable[[World], None] | None = None) -> Outcome:
        """
        The story, its faults, quiet, one reconciliation; then the truth.

        Documents that Bedrock was made to fail may fail; then their owner tries them again.
        """
        scenario, kills = SCENARIOS[self.scenario], Kills.of(self.kills)
        around = Disruptions(rate=self.rate, seed=self.seed)
        around.asked.ask(*self.disruptions)
        kills.armed = around.armed = False
        terms = scenario.terms(self.seed, deliveries=self.deliveries, shuffle=self.shuffle)
        with world(wire, terms, kills=kills, disruptions=around) as made:
            scenario.before(made)
            problems = [] if made.settle() else ["the story never begins"]
            before = dict(made.account.bill.calls)
            kills.armed = around.armed = True
            made.deliveries = self.deliveries
            made.faults.ask(*self.faults)
            if self.rate:
                calls = [each for each in Kind if each not in _OF_DOCUMENTS]
                rates = dict.fromkeys(calls, self.rate) | dict.fromkeys(_MEASURED, 10 * self.rate)
                made.faults.chance = Chance(seed=self.seed, rates=rates)
            _fail_for_a_while(made, self.outage)
            scenario.story(made)
            if watching is not None:
                watching(made)
            if self.trouble is not None:
                _strike(self.trouble, made)
            _recover(made, self.outage)
            if scenario.reconciles:
                made.reconcile()
            elif not made.settle():
                problems.append("never quiet")
            kills.armed = False
            injected = injected_into(made)
            made.faults.clear()
            around.clear()
            operations = {
                name: count - before.get(name, 0) for name, count in made.account.bill.calls.items()
            }
            if any(each.kind in _OF_DOCUMENTS for each in self.faults):
                for key in sorted({each.s3_key for each in made.failed()}):
                    made.command(Command("retry", key))
            found = made.reconcile()
            if self.deliveries and not scenario.reconciles:
                # Only what nobody was told of, or what was taken from the tables, needs it; and a
                # text that nobody needs any more, once whoever removes it has died.
                left = {**found, Finding.TEXT_WITHOUT_DOCUMENT: 0} if injected else found
                problems += [
                    f"left to the reconciliation: {kind} {n}" for kind, n in left.items() if n
                ]
            problems += discrepancies(made)
            if found:  # else it has just been seen to find nothing
                again = made.reconcile()
                problems += [f"found again: {kind} {count}" for kind, count in again.items()]
            unheard, meanwhile = untold(made, self.seed)
            problems += unheard
            injected += meanwhile
            return Outcome(
                told=str(self),
                injected=injected,
                discrepancies=problems,
                kills=kills,
                operations=operations,
                calls=around.calls,
                found=dict(found),
                states=made.states,
            )


def plain(wire: Wire, scenario: str) -> Outcome:
    """The story without anything going wrong, which shows what there is to disturb."""
    return Trial(scenario).run(wire, watching=observe)


def _strike(trouble: tuple[str, float | str], world: World) -> None:
    name, where = trouble
    if name in ("ABORTED", "TIMED_OUT"):
        end_execution(world, str(where), name)
        return
    world.pass_time(float(where))
    world.troubled += 1
    {"expire": expire, "restart": World.restart_account}[name](world)


def _fail_for_a_while(world: World, outage: tuple[float, float] | None) -> None:
    def fail(moment: float, seconds: float) -> None:
        world.hub.sleep(moment)
        world.faults.chance = Chance(seed=0, rates={Kind.FAILED: 1.0})
        world.hub.sleep(seconds)
        world.faults.chance = None

    if outage is not None:
        world.hub.spawn(partial(fail, *outage))


def _recover(world: World, outage: tuple[float, float] | None) -> None:
    """Until nothing is postponed any more: by itself, and by the looks of the reconciler."""
    if outage is None:
        return
    world.pass_time(sum(outage))
    for _ in range(_LOOKS_AFTER):
        world.pass_time(900)
        world.begin("reconciler", {"action": "reconcile"})
        world.settle()


def all_of(scenario: str, plain: Outcome) -> Iterator[Trial]:
    own = Trial(scenario)
    for kill in plain.kills.possible():
        # What AWS has seen before one call is what it has seen after the call before.
        if kill.late or kill.call == 0:
            yield replace(own, kills=(kill,))
    for operation, count in sorted(plain.operations.items()):
        yield from (replace(own, faults=faults) for faults in _faults_of(operation, count))
    yield from (replace(own, disruptions=(each,)) for each in faults_at(plain.calls))
    for moment in _MOMENTS:
        yield replace(own, trouble=("expire", moment))
        yield replace(own, trouble=("restart", moment))
        yield from (replace(own, outage=(moment, seconds)) for seconds in _OUTAGES)
    for state in sorted(plain.states.difference(_ENDS, ("",))):
        for status in ("ABORTED", "TIMED_OUT"):
            yield replace(own, trouble=(status, state))
    for seed in range(3):
        yield replace(own, deliveries=2, shuffle=60.0, seed=seed)
    yield replace(own, deliveries=0)
    for seed in range(1, 11):
        drawn = random.Random(f"{scenario}/{seed}")
        possible = plain.kills.possible()
        kills = drawn.sample(possible, min(_STORM_KILLS, len(possible)))
        yield replace(
            own,
            kills=tuple(sorted(kills)),
            rate=0.02,
            deliveries=drawn.choice((1, 2)),
            shuffle=30.0,
            seed=seed,
        )


def _faults_of(operation: str, count: int) -> Iterator[tuple[Fault, ...]]:
    for kind in DOCUMENTS_BY_CHANCE.get(operation, ()):
        for skip in range(2):
            yield (Fault(operation=operation, kind=kind, skip=skip, seconds=_UNSEEN),)
    for kind in BY_CHANCE.get(operation, ()):
        for skip in range(count):
            fault = Fault(operation=operation, kind=kind, skip=skip)
            if kind not in _UNHEARD:
                yield (fault,)
            if kind in _PASSING:
                yield (replace(fault, times=ATTEMPTS),)


EVERY_DAY = (
    "first drop, by jobs",
    "re-drop, own source",
    "delete under way, shared source",
    "catalog deleted, own source",
    "reconciler mends, shared source",
    "two compete",
)
