"""Scenarios in simulated time, each on an account of its own."""

import random
from collections.abc import Sequence

from benchmarks.stage import Outcome, Stage
from benchmarks.traffic import Traffic, Upload
from simulated_time.bedrock import Durations


def settle(stage: Stage, planned: Sequence[Upload]) -> Outcome:
    """Upload all files, each at its time, and wait until nothing is left to do."""
    stage.plan(planned)
    stage.run(at_most=planned[-1].at, until=lambda: False)
    stage.settle()
    return stage.outcome(planned)


def large_documents(*, large: int, seconds: float, seed: int) -> Outcome:
    """
    Upload large documents of this many seconds with a dozen small ones to a catalog on the shared
    data source, and one small document a minute to each of four catalogs with their own.
    """
    size = 10_000_000
    stage = Stage(seed=seed, durations=Durations(seed=seed, rate=size / seconds, spread=0.0))
    for catalog in range(5):  # the first catalogs have data sources of their own
        stage.upload(_text(catalog, "first"))
        stage.run(at_most=120, until=lambda: False)
    together = [_text(4, f"large-{each}", size=size) for each in range(large)]
    together += [_text(4, f"small-{each}") for each in range(12)]
    minutes = range(round(large * seconds / 60) + 1)
    apart = [_text(catalog, f"{at}", at=at * 60.0 + 5) for at in minutes for catalog in range(4)]
    stage.plan(together + apart)
    stage.run(at_most=apart[-1].at, until=lambda: False)
    stage.settle()
    return stage.outcome()


def _text(catalog: int, name: str, *, size: int = 1_000, at: float = 0.0) -> Upload:
    key = f"user-{catalog}/shelf/{name}.txt"
    return Upload(at=at, key=key, size=size, etag=f"{catalog}-{name}")


def trickle(*, days: float, daily: int, catalogs: int, files: int, seed: int) -> Outcome:
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
    return stage.outcome()


def parked(seconds: float, *, seed: int) -> tuple[int, float]:
    """Return transitions and dollars of a run that waits for a busy knowledge base."""
    stage = Stage(seed=seed)
    hub = stage.hub
    [member] = stage.stackroom.pool
    stage.hold(member.knowledge_base_id, seconds)
    stage.upload(Traffic(random.Random(seed)).upload(0, 0, 0))
    stage.run(at_most=seconds + 86_400, until=lambda: hub.time > seconds and stage.is_quiet())
    [execution] = stage.stackroom.workflow.executions.values()
    assert execution.status == "SUCCEEDED", "a parked run goes on when its turn comes"
    return execution.transitions, stage.account.bill.dollars("transitions")
