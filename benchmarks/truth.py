"""
Checks the simulation: runs a small burst in simulated time, and in the local mode.

The local mode has all processes, connections and real embedding; its AWS is slow enough that these
matter little. Neither queue waits for a window, and a simulated document takes as long as the real
embedding of a short text.
"""

import random
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

from benchmarks.scenarios import settle
from benchmarks.serving import serving, wait_until_indexed
from benchmarks.stage import Outcome, Stage
from benchmarks.traffic import Traffic, Upload
from simulated_time.bedrock import Durations
from stackroom_local.state import Instance

_UPLOADS, _CATALOGS, _WITHIN = 120, 12, 30.0
_SPEED = 4.0
# AWS seconds in which the local mode embeds a line at that speed, about 20 ms of real time.
_DURATIONS = Durations(base=0.02 * _SPEED, rate=1e12, spread=0.0)
_UPLOADERS = 8
# Each has a client token, which the simulator stores by operation and data source.
_DIRECT_CALLS = "SELECT count(*) FROM client_tokens WHERE scope LIKE 'documents/STARTING%'"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A measurement; times are AWS seconds."""

    settled: float
    executions: int
    transitions: int
    jobs: int
    direct_calls: int


def compare(seed: int) -> tuple[Seen, Seen]:
    """Return both figures, simulated and measured."""
    traffic = Traffic(random.Random(seed), extensions=("txt",))
    planned = traffic.burst(_UPLOADS, _CATALOGS, within=_WITHIN)
    stage = Stage(seed=seed, durations=_DURATIONS, window=0.0)
    return _simulated(settle(stage, planned)), _real(planned)


def print_truth(seed: int) -> None:
    print(f"{_UPLOADS} uploads into {_CATALOGS} catalogs within {_WITHIN:g} s, real at {_SPEED:g}x")
    simulated, real = compare(seed)
    print(f"{'':<28}{'simulated':>12}{'real':>12}")
    for label, read, form in (
        ("settled after, s", "settled", ",.0f"),
        ("executions", "executions", ",d"),
        ("state transitions", "transitions", ",d"),
        ("ingestion jobs", "jobs", ",d"),
        ("direct calls", "direct_calls", ",d"),
    ):
        print(f"{label:<28}{getattr(simulated, read):>12{form}}{getattr(real, read):>12{form}}")


def _simulated(outcome: Outcome) -> Seen:
    return Seen(
        settled=outcome.settled,
        executions=outcome.executions,
        transitions=round(outcome.bill.amounts["transitions"]),
        jobs=outcome.bill.accepted["StartIngestionJob"],
        direct_calls=outcome.bill.accepted["IngestKnowledgeBaseDocuments"],
    )


def _real(planned: Sequence[Upload]) -> Seen:
    with serving(_SPEED) as instance:
        began = time.monotonic()
        with ThreadPoolExecutor(_UPLOADERS) as uploaders:
            for _ in uploaders.map(lambda each: _put(instance, each, began), planned):
                continue
        keys = [each.key for each in planned]
        for user in {key.partition("/")[0] for key in keys}:
            own = [key for key in keys if key.startswith(f"{user}/")]
            wait_until_indexed(instance, user, own)
        settled = (time.monotonic() - began) * _SPEED
        executions, transitions = _executions(instance)
        return Seen(
            settled=settled,
            executions=executions,
            transitions=transitions,
            jobs=_count(instance, "SELECT count(*) FROM ingestion_jobs"),
            direct_calls=_count(instance, _DIRECT_CALLS),
        )


def _put(instance: Instance, upload: Upload, began: float) -> None:
    time.sleep(max(0.0, began + upload.at / _SPEED - time.monotonic()))
    instance.client("s3").put_object(
        Bucket=instance.bucket, Key=upload.key, Body=f"a line of text, {upload.etag}".encode()
    )


def _executions(instance: Instance) -> tuple[int, int]:
    steps = instance.client("stepfunctions")
    [machine] = steps.list_state_machines()["stateMachines"]
    pages = steps.get_paginator("list_executions").paginate(
        stateMachineArn=machine["stateMachineArn"]
    )
    arns = [each["executionArn"] for page in pages for each in page["executions"]]
    entered = sum(
        event["type"].endswith("StateEntered")
        for arn in arns
        for page in steps.get_paginator("get_execution_history").paginate(executionArn=arn)
        for event in page["events"]
    )
    return len(arns), entered


def _count(instance: Instance, query: str) -> int:
    store = instance.state_dir / "simulator" / "simulator.sqlite"
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        [(number,)] = connection.execute(query)
    return int(number)
