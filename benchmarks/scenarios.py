"""The scenarios in simulated time, each on an account of its own."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.limits import bound
from benchmarks.observation import Observation, unsearchable
from benchmarks.simulated_time.account import Account
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.simulated_time.hub import Hub
from benchmarks.stage import Outcome, Stage
from benchmarks.stores import Bucket, HubClock
from benchmarks.traffic import Traffic, Upload, put
from benchmarks.usual import Usual
from stackroom_local.simulator.rules import SEARCHABLE_LAG

_MONTH = 30 * 86_400.0  # seconds; longer than anything here may take


def burst(uploads: int, catalogs: int, *, within: float, seed: int, pool_size: int = 1) -> Outcome:
    planned = Traffic(random.Random(seed)).burst(uploads, catalogs, within=within)
    return settle(Stage(seed=seed, pool_size=pool_size), planned)


def settle(stage: Stage, planned: Sequence[Upload]) -> Outcome:
    """Drop them all, each at its moment, and wait until nothing is left to do."""
    began = time.perf_counter()
    stage.plan(planned)
    stage.run(at_most=planned[-1].at, until=lambda: False)
    stage.run(at_most=_MONTH, until=stage.is_quiet)
    at_least = max(stage.bound_of(planned), planned[-1].at - planned[0].at)
    return stage.outcome(began, at_least=at_least)


def large_documents(*, large: int, seconds: float, seed: int) -> Outcome:
    """
    Several large documents, each of so many seconds, in a catalog on the shared data source with a
    dozen small ones; a small one a minute into each of four catalogs with their own.
    """
    began = time.perf_counter()
    size = 10_000_000
    stage = Stage(seed=seed, durations=Durations(seed=seed, rate=size / seconds, spread=0.0))
    for catalog in range(5):  # whoever comes first has a data source of its own
        stage.upload(_text(catalog, "first"))
        stage.run(at_most=120, until=lambda: False)
    together = [_text(4, f"large-{each}", size=size) for each in range(large)]
    together += [_text(4, f"small-{each}") for each in range(12)]
    minutes = range(round(large * seconds / 60) + 1)
    apart = [_text(catalog, f"{at}", at=at * 60.0 + 5) for at in minutes for catalog in range(4)]
    stage.plan(together + apart)
    stage.run(at_most=apart[-1].at, until=lambda: False)
    stage.run(at_most=_MONTH, until=stage.is_quiet)
    return stage.outcome(began)


def _text(catalog: int, name: str, *, size: int = 1_000, at: float = 0.0) -> Upload:
    key = f"user-{catalog}/shelf/{name}.txt"
    return Upload(at=at, key=key, size=size, etag=f"{catalog}-{name}")


def trickle(*, days: float, daily: int, catalogs: int, files: int, seed: int) -> Outcome:
    began = time.perf_counter()
    stage = Stage(seed=seed)
    arrivals = Traffic(random.Random(seed)).trickle(
        days=days, daily=daily, catalogs=catalogs, files=files
    )

    def people() -> None:
        start = stage.hub.time
        for upload in arrivals:
            stage.hub.sleep(start + upload.at - stage.hub.time)
            stage.upload(upload)

    stage.hub.spawn(people)
    stage.run(at_most=days * 86_400, until=lambda: False)
    stage.run(at_most=86_400, until=stage.is_quiet)
    stage.account.charge_idle_polling(days * 86_400)
    return stage.outcome(began)


@dataclass(frozen=True, kw_only=True)
class Removal:
    """Seconds from being asked: until no search finds it, and until its receipt says so."""

    unsearchable: list[float]
    receipted: list[float]
    bound: float
    asked: int
    took: float


def delete_storm(documents: int, catalogs: int, *, seed: int) -> Removal:
    """Index them all, then delete all objects within a minute."""
    began = time.perf_counter()
    stage = Stage(seed=seed)
    planned = Traffic(random.Random(seed)).burst(documents, catalogs, within=60)
    stage.plan(planned)
    stage.run(at_most=60, until=lambda: False)
    stage.run(at_most=_MONTH, until=stage.is_quiet)
    works = [replace(stage.work_of(each), seconds=0.0) for each in planned]
    ids = {each.document_id: each.s3_key for each in stage.stores.documents.kept.values()}
    asked: dict[str, float] = {}
    gone: list[float] = []
    receipted: list[float] = []

    def delete(key: str) -> None:
        asked[key] = stage.hub.time
        stage.delete(key)

    def vanish(attributes: dict[str, Any]) -> None:
        key = ids[str(attributes["document_id"])]
        gone.append(stage.hub.time - asked[key])

    stage.account.searchable.removed = vanish
    stage.removed = lambda document: receipted.append(stage.hub.time - asked[document.s3_key])
    for number, each in enumerate(planned):
        stage.hub.spawn(partial(delete, each.key), after=60 * number / documents)
    stage.run(at_most=60, until=lambda: False)
    stage.run(at_most=86_400, until=lambda: len(receipted) == documents and stage.is_quiet())
    return Removal(
        unsearchable=sorted(gone),
        receipted=sorted(receipted),
        bound=bound(works),
        asked=documents,
        took=time.perf_counter() - began,
    )


def parked(seconds: float, *, seed: int) -> tuple[int, float]:
    """Transitions and dollars of a run that waits so long for its turn at a busy knowledge base."""
    stage = Stage(seed=seed)
    hub = stage.hub
    [member] = stage.stackroom.pool
    stage.hold(member.knowledge_base_id, seconds)
    stage.upload(Traffic(random.Random(seed)).upload(0, 0, 0))
    stage.run(at_most=seconds + 86_400, until=lambda: hub.time > seconds and stage.is_quiet())
    [execution] = stage.stackroom.workflow.executions.values()
    assert execution.status == "SUCCEEDED", "a parked run goes on when its turn comes"
    return execution.transitions, stage.account.bill.dollars("transitions")


def usual_burst(uploads: int, catalogs: int, *, within: float, seed: int) -> Outcome:
    """The same uploads as `burst` of that seed has, the usual way."""
    began = time.perf_counter()
    hub = Hub()
    bucket = Bucket(clock=HubClock(hub=hub))
    account = Account(shelves=bucket, durations=Durations(seed=seed), seed=seed, hub=hub)
    usual = Usual(account, bucket)
    seen = Observation(now=lambda: hub.time)
    planned = Traffic(random.Random(seed)).burst(uploads, catalogs, within=within)

    def upload(each: Upload) -> None:
        put(bucket, each)
        seen.uploaded(each)
        usual.notify(each.key)

    for each in planned:
        hub.spawn(partial(upload, each), after=each.at)
    usual.watch = lambda key, said: seen.said(key, bucket.objects[key].etag, said)
    hub.run()
    hub.run(until=hub.time + SEARCHABLE_LAG.value + 1)
    versions = {each.key: each.etag for each in planned}
    return Outcome(
        observation=seen,
        bill=account.bill,
        settled=seen.last - seen.first,
        bound=0.0,
        executions=usual.workflow.started,
        broken=usual.workflow.started - len(seen.all_waits()),
        lost=seen.waiting + unsearchable(versions, account.searchable),
        false_failures=len(seen.failed),
        dead_letters=0,
        simulated=hub.time,
        took=time.perf_counter() - began,
    )
