"""Recovery from a failed run, which its state machine, EventBridge or the sweep reports."""

from dataclasses import asdict
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict

from functions.ingest.deployed import logger, metrics, use_cases
from functions.telemetry import report


class Breakdown(BaseModel):
    """The state machine caught an error; `error` is the error object of Step Functions."""

    action: Literal["record_failure"]
    worklist_id: str
    epoch: int
    error: dict[str, str]


class Ending(BaseModel):
    """EventBridge reported an execution that did not succeed."""

    action: Literal["recover"]
    execution_name: str


class Sweep(BaseModel):
    """
    The schedule: look for runs that ended without reporting it.

    The local mode, when it starts a whole account, has every lease looked at (`thorough`): none has
    expired yet, but no execution is alive. These runs were stopped; they did not fail.
    """

    model_config = ConfigDict(extra="forbid")

    action: Literal["sweep"]
    thorough: bool = False


Request = Breakdown | Ending | Sweep


def record(breakdown: Breakdown) -> dict[str, Any]:
    logger.append_keys(worklist_id=breakdown.worklist_id, epoch=breakdown.epoch)
    name = breakdown.error.get("Error", "an unknown error")
    failed = use_cases().broken_runs.record(breakdown.worklist_id, breakdown.epoch, name)
    logger.error("run broke", error=name, cause=breakdown.error.get("Cause"))
    metrics.add_metric(name="BrokenRuns", unit=MetricUnit.Count, value=1)
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def recover(ending: Ending) -> dict[str, Any]:
    worklist_id, _, epoch = ending.execution_name.rpartition("-")
    logger.warning("execution ended badly", execution_name=ending.execution_name)
    if not epoch.isdecimal():  # someone started it by hand: it holds no lease
        return {"failed_documents": 0}
    failed = use_cases().broken_runs.record(worklist_id, int(epoch), "an execution cut short")
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def sweep(request: Sweep) -> dict[str, Any]:
    runs = use_cases().runs
    leases = runs.held() if request.thorough else runs.expired()
    swept = use_cases().broken_runs.sweep(leases, were_stopped=request.thorough)
    report(swept.settled, logger=logger, metrics=metrics)
    for name, error in swept.failures.items():
        logger.error("run not looked after", execution_name=name, exc_info=error)
    state = use_cases().admission.state()  # last: its failure must not hold up any run
    logger.info("leases swept", followed=swept.followed, **asdict(state))
    metrics.add_metric(name="RunsFollowed", unit=MetricUnit.Count, value=len(swept.followed))
    metrics.add_metric(
        name="OldestWaitSeconds", unit=MetricUnit.Seconds, value=state.oldest_wait_seconds
    )
    metrics.add_metric(name="ParkedRuns", unit=MetricUnit.Count, value=state.waiting)
    metrics.add_metric(name="Grants", unit=MetricUnit.Count, value=state.grants)
    return {"followed": swept.followed}
