"""The bound of docs/scaling.md: what is worked out by hand, and that no schedule is below it."""

import random
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush, heapreplace

import pytest

from benchmarks.limits import Limits, Work, alone, bound
from benchmarks.worlds import WORLDS

# So few that a handful of documents meets all of them.
NARROW = Limits(calls=2, per_call=2, call=4.0, jobs=2, starting=4.0, between_starts=10.0)
ALL_LIMITS = {
    **{f"Bedrock's, {name}": Limits.of(world) for name, world in WORLDS.items()},
    "narrow ones": NARROW,
    "narrow ones, jobs 2": replace(NARROW, at_a_time=2),
    "narrow ones, jobs 3": replace(NARROW, at_a_time=3),
    "narrow ones, calls 60 s": replace(NARROW, call=60.0),
}


def at_once(count: int, seconds: float) -> list[Work]:
    return [at(0.0, seconds)] * count


def at(moment: float, seconds: float, *, latency: float = 0.0) -> Work:
    return Work(at=moment, submitted=moment + latency, seconds=seconds)


def test_one_document_takes_a_direct_call_and_its_own_time() -> None:
    [work] = at_once(1, 1.0)

    assert bound([work], pool_size=1) == pytest.approx(4 + 1)
    assert alone(work) == 4 + 1


def test_jobs_on_other_knowledge_bases_take_their_share_of_much_work() -> None:
    count = 100_000
    calls_alone = count * 1.4 / 10

    of_five = bound(at_once(count, 1.0), pool_size=5)
    of_twenty = bound(at_once(count, 1.0), pool_size=20)

    # In a second, ten calls index ten documents of 1.4 s, and four or five jobs one each.
    assert of_five == pytest.approx(count / (10 / 1.4 + 4), rel=0.01)
    assert of_twenty == pytest.approx(count / (10 / 1.4 + 5), rel=0.01)
    assert of_twenty < of_five < calls_alone


def test_jobs_begin_one_by_one() -> None:
    # The first lists after 4 s, the next 10 s later; direct calls are too few to matter.
    few = Limits(calls=2, per_call=1, call=1_000.0, jobs=3)

    assert bound(at_once(100, 1.0), pool_size=4, limits=few) == pytest.approx(
        4 + (100 + 10 + 20) / 3, abs=0.01
    )


def test_a_long_document_is_never_cut() -> None:
    works = [*at_once(10, 1.0), at(3.0, 100.0)]

    assert bound(works, pool_size=1, by_jobs=False) == pytest.approx(3 + 4 + 100, abs=0.01)
    # By a job that was started for the others, at best.
    assert bound(works, pool_size=2) == pytest.approx(4 + 100, abs=0.01)


def test_a_job_removes_any_number_at_once_and_calls_ten_at_a_time() -> None:
    storm = at_once(5_000, 0.0)

    assert bound(storm, pool_size=1) == pytest.approx(4, abs=0.01)
    assert bound(storm, pool_size=1, by_jobs=False) == pytest.approx(500 * 4 / 10, abs=0.01)


@pytest.mark.parametrize("limits", ALL_LIMITS.values(), ids=ALL_LIMITS)
@pytest.mark.parametrize("pool_size", [1, 2, 6])
def test_no_schedule_is_faster(pool_size: int, limits: Limits) -> None:
    for seed in range(60):
        chance = random.Random(seed)
        works = [
            at(
                chance.uniform(0, 20),
                chance.choice((0.0, 0.02, 1.0, 9.0)),
                latency=chance.choice((0.0, 0.5, 3.0)),
            )
            for _ in range(chance.randint(1, 30))
        ]

        least = bound(works, pool_size=pool_size, limits=limits)

        for _ in range(20):
            assert Schedule(works, pool_size, limits, chance).settled >= least - 1e-6


@dataclass
class Schedule:
    """
    Any schedule that keeps to the limits: at each moment something that is allowed begins, or
    nothing does. `settled` is in seconds since the first arrival.
    """

    works: list[Work]
    pool_size: int
    limits: Limits
    chance: random.Random
    settled: float = 0.0
    _now: float = 0.0
    _calls: list[int] = field(default_factory=list)  # at work on each knowledge base
    _jobs: list[bool] = field(default_factory=list)
    _last_start: float = float("-inf")
    _events: list[tuple[float, int, str, int]] = field(default_factory=list)
    _entered: int = 0

    def __post_init__(self) -> None:
        self._waiting = list(self.works)
        self._first = min(each.at for each in self.works)
        self._now = min(each.submitted for each in self.works)  # nobody knows of anything before
        self._calls, self._jobs = [0] * self.pool_size, [False] * self.pool_size
        # How it is inclined: to which of the two, and how long it waits for more.
        self._by_jobs, self._patience = self.chance.random(), self.chance.uniform(0.05, 3)
        while self._waiting or self._events:
            self._begin()
            self._pass()

    def _begin(self) -> None:
        base = self.chance.randrange(self.pool_size)
        if self.chance.random() < self._by_jobs:
            if (
                self._waiting
                and not self._calls[base]
                and not self._jobs[base]
                and sum(self._jobs) < self.limits.jobs
                and self._now >= self._last_start + self.limits.between_starts
            ):
                self._jobs[base], self._last_start = True, self._now
                self._enter(self._now + self.limits.starting, "list", base)
            return
        there = [each for each in self._waiting if each.submitted <= self._now]
        if there and not self._jobs[base] and sum(self._calls) < self.limits.calls:
            self.chance.shuffle(there)
            taken = there[: self.chance.randint(1, self.limits.per_call)]
            end = self._work(taken, self._now + self.limits.call, at_a_time=1)
            self._calls[base] += 1
            self._enter(end, "call", base)

    def _work(self, taken: list[Work], began: float, *, at_a_time: int) -> float:
        free = [began] * at_a_time  # since when each is that indexes one at a time
        for each in taken:
            self._waiting.remove(each)
            end = heapreplace(free, free[0] + each.seconds) + each.seconds
            self.settled = max(self.settled, end - self._first)
        return max(free)

    def _enter(self, at: float, what: str, base: int) -> None:
        self._entered += 1
        heappush(self._events, (at, self._entered, what, base))

    def _pass(self) -> None:
        then = self._now + self.chance.expovariate(1 / self._patience)
        if self._events and self._events[0][0] <= then:
            self._now, _, what, base = heappop(self._events)
            if what == "list":
                there = [each for each in self._waiting if each.at <= self._now]
                taken = there[: self.chance.randint(0, len(there))]
                end = self._work(taken, self._now, at_a_time=self.limits.at_a_time)
                self._enter(max(end, self._now + 8), "job", base)
            elif what == "job":
                self._jobs[base] = False
            else:
                self._calls[base] -= 1
        else:
            self._now = then
