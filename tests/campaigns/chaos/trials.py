"""Everything that is tried: each trial one story, and what goes wrong in it."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from stackroom_local.simulator.disturbances import (
    BY_CHANCE,
    DOCUMENTS_BY_CHANCE,
    Kind,
)
from stackroom_local.simulator.faults import Chance, Fault, Faults
from tests.campaigns.chaos import troubles
from tests.campaigns.chaos.campaign import Outcome, play
from tests.campaigns.chaos.disruptions import ATTEMPTS, Disruptions, faults_at
from tests.campaigns.chaos.kills import Kill
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World
from tests.workflow.machine import DEFINITION

_PASSING = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.LOST, Kind.DROPPED)
# One of these alone is an attempt lost, and nobody hears of it. (Nor of INTERNAL, ever: it is
# UNAVAILABLE by another name.)
_UNHEARD = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.DROPPED, Kind.INTERNAL)
_ENDS = tuple(
    name
    for name, state in json.loads(DEFINITION.read_text("utf-8"))["States"].items()
    if state["Type"] in ("Succeed", "Fail")
)
_MOMENTS = (0, 2, 6, 7, 8, 9, 11, 14, 18, 24)
_STORM_KILLS = 3


@dataclass(frozen=True)
class Trial:
    """`trouble` is the name of one, and its moment or the state where it strikes."""

    scenario: str
    kills: tuple[Kill, ...] = ()
    faults: tuple[Fault, ...] = ()  # of Bedrock
    disruptions: tuple[Fault, ...] = ()  # of all others
    rate: float = 0.0
    trouble: tuple[str, float | str] | None = None
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
        if self.deliveries != 1:
            told.append(f"{self.deliveries} deliveries")
        return f"{self.scenario}: {', '.join(told) or 'nothing'} (seed {self.seed})"

    def run(self, wire: Wire) -> Outcome:
        scenario = SCENARIOS[self.scenario]
        faults = Faults()
        faults.ask(*self.faults)
        if self.rate:
            calls = [each for each in Kind if each not in (Kind.FAILED, Kind.REFUSED)]
            faults.chance = Chance(seed=self.seed, rates=dict.fromkeys(calls, self.rate))
        disruptions = Disruptions(rate=self.rate, seed=self.seed)
        disruptions.asked.ask(*self.disruptions)
        terms = scenario.terms(self.seed, deliveries=self.deliveries, shuffle=self.shuffle)
        return play(
            wire,
            scenario,
            terms=terms,
            kills=self.kills,
            faults=faults,
            disruptions=disruptions,
            trouble=partial(_strike, self.trouble) if self.trouble else None,
            hurts_documents=any(each.kind in (Kind.FAILED, Kind.REFUSED) for each in self.faults),
            told=str(self),
        )


def _strike(trouble: tuple[str, float | str], world: World) -> None:
    name, where = trouble
    if name in ("ABORTED", "TIMED_OUT"):
        troubles.end_execution(world, str(where), name)
        return
    world.pass_time(float(where))
    world.troubled += 1
    {"expire": troubles.expire, "restart": troubles.restart}[name](world)


def all_of(scenario: str, plain: Outcome) -> Iterator[Trial]:
    """`plain` is the story without anything going wrong, which shows what there is to disturb."""
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
            yield (Fault(operation=operation, kind=kind, skip=skip),)
    for kind in BY_CHANCE.get(operation, ()):
        for skip in range(count):
            fault = Fault(operation=operation, kind=kind, skip=skip)
            if kind not in _UNHEARD:
                yield (fault,)
            if kind in _PASSING:
                yield (replace(fault, times=ATTEMPTS),)
