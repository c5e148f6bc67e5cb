"""Other designs under the same uploads, on an account of their own each."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol

from benchmarks.least import Least
from benchmarks.naive import Naive
from benchmarks.observation import Observation, unsearchable
from benchmarks.simulated_time.account import CREATED, DELETED, Account
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.workflow import Workflow
from benchmarks.stage import Outcome
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


class RivalStage:
    """An account with a design on it, and someone who looks on: as `Stage` is for ours."""

    def __init__(self, design: str, *, seed: int) -> None:
        self.hub = Hub()
        self.bucket = Bucket(clock=HubClock(hub=self.hub))
        self.account = Account(
            shelves=self.bucket, durations=Durations(seed=seed), seed=seed, hub=self.hub
        )
        self.design = DESIGNS[design](self.account, self.bucket)
        self.design.watch = self._watch
        self.observation = Observation(now=lambda: self.hub.time)
        self.removed: Callable[[str], None] = lambda _key: None  # told when its record goes

    def upload(self, upload: Upload) -> None:
        put(self.bucket, upload)
        self.observation.uploaded(upload)
        self.design.notify(CREATED, upload.key)

    def delete(self, key: str) -> None:
        self.bucket.delete(key)
        self.design.notify(DELETED, key)

    def plan(self, uploads: Iterable[Upload]) -> None:
        """Each at its moment from now on."""
        for each in uploads:
            self.hub.spawn(partial(self.upload, each), after=each.at)

    def keys(self) -> dict[str, str]:
        """Of all documents, by their ids, which are their keys."""
        return {key: key for key in self.bucket.objects}

    def settle(self, *, at_most: float | None = None) -> None:
        """Until nothing is left to do, or for so many seconds."""
        self.hub.run(until=None if at_most is None else self.hub.time + at_most)

    def _watch(self, key: str, said: str) -> None:
        if said == "removed":
            self.removed(key)
        else:
            self.observation.said(key, self.bucket.objects[key].etag, said)


def rival(design: str, planned: Sequence[Upload], *, seed: int) -> Outcome:
    """Each upload at its moment, until nothing is left to do."""
    began = time.perf_counter()
    stage = RivalStage(design, seed=seed)
    stage.plan(planned)
    stage.settle()
    # What was indexed a moment ago can be searched a moment later.
    stage.hub.run(until=stage.hub.time + SEARCHABLE_LAG.value + 1)
    seen, workflow = stage.observation, stage.design.workflow
    versions = {each.key: each.etag for each in planned}
    return Outcome(
        observation=seen,
        bill=stage.account.bill,
        settled=seen.last - seen.first,
        least=Least.of(planned, stage.account.durations, pool_size=1),
        executions=workflow.started,
        broken=workflow.at_work,
        lost=seen.waiting + unsearchable(versions, stage.account.searchable),
        false_failures=len(seen.failed),
        dead_letters=0,
        simulated=stage.hub.time,
        took=time.perf_counter() - began,
    )


def rival_burst(design: str, uploads: int, catalogs: int, *, within: float, seed: int) -> Outcome:
    """The same uploads as `scenarios.burst` of that seed has."""
    planned = Traffic(random.Random(seed)).burst(uploads, catalogs, within=within)
    return rival(design, planned, seed=seed)
