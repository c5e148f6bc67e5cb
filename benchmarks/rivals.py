"""Other designs under the same uploads, on an account of their own each."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from benchmarks.naive import Naive
from benchmarks.observation import Observation, unsearchable
from benchmarks.simulated_time.account import CREATED, Account
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.workflow import Workflow
from benchmarks.stage import Least, Outcome
from benchmarks.stores import Bucket, HubClock
from benchmarks.traffic import Traffic, Upload, put
from benchmarks.usual import Usual
from stackroom_local.simulator.rules import SEARCHABLE_LAG


class Rival(Protocol):
    """A design: it is told of objects, and `watch` of what its records say."""

    watch: Callable[[str, str], None]
    workflow: Workflow

    def notify(self, kind: str, key: str) -> None: ...


Design = Callable[[Account, Bucket], Rival]
DESIGNS: dict[str, Design] = {"naive": Naive, "usual": Usual}


def rival(design: str, planned: Sequence[Upload], *, seed: int) -> Outcome:
    """Each upload at its moment, until nothing is left to do."""
    began = time.perf_counter()
    hub = Hub()
    bucket = Bucket(clock=HubClock(hub=hub))
    durations = Durations(seed=seed)
    account = Account(shelves=bucket, durations=durations, seed=seed, hub=hub)
    of_design = DESIGNS[design](account, bucket)
    seen = Observation(now=lambda: hub.time)

    def upload(each: Upload) -> None:
        put(bucket, each)
        seen.uploaded(each)
        of_design.notify(CREATED, each.key)

    for each in planned:
        hub.spawn(partial(upload, each), after=each.at)
    of_design.watch = lambda key, said: seen.said(key, bucket.objects[key].etag, said)
    hub.run()
    hub.run(until=hub.time + SEARCHABLE_LAG.value + 1)
    versions = {each.key: each.etag for each in planned}
    return Outcome(
        observation=seen,
        bill=account.bill,
        settled=seen.last - seen.first,
        least=Least.of(planned, durations, pool_size=1),
        executions=of_design.workflow.started,
        broken=of_design.workflow.at_work,
        lost=seen.waiting + unsearchable(versions, account.searchable),
        false_failures=len(seen.failed),
        dead_letters=0,
        simulated=hub.time,
        took=time.perf_counter() - began,
    )


def rival_burst(design: str, uploads: int, catalogs: int, *, within: float, seed: int) -> Outcome:
    """The same uploads as `scenarios.burst` of that seed has."""
    planned = Traffic(random.Random(seed)).burst(uploads, catalogs, within=within)
    return rival(design, planned, seed=seed)
