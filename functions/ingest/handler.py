"""The pipeline's own function: the tasks of a run, and recovery from a failed run."""

from dataclasses import asdict
from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, TypeAdapter

from functions.telemetry import logger_for, metrics_for, report, report_set_aside
from stackroom.app.function_settings import (
    AdmissionSettings,
    DataSourceSettings,
    DocumentSettings,
)
from stackroom.app.run_builder import RunBuilder
from stackroom.aws.session import client
from stackroom.runs.run import Run, RunOutcome
from stackroom.runs.verdicts import TaskResult

logger = logger_for("ingest")
metrics = metrics_for("ingest")


class IngestSettings(AdmissionSettings, DataSourceSettings, DocumentSettings):
    state_machine_arn: str
    # How much faster a simulated Bedrock is than AWS's: direct calls are polled sooner.
    ingest_speed: float = 1.0


@cache
def use_cases() -> RunBuilder:
    return RunBuilder(settings=IngestSettings.from_env(), client=client)


class Step(Run):
    """A task of the state machine."""

    action: Literal["ensure", "start", "release", "hand_over"]


class AdmissionRequest(Run):
    """The task that waits until an admission grant sends its token back."""

    action: Literal["admit"]
    token: str


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


Request = Step | AdmissionRequest | Breakdown | Ending | Sweep
_REQUEST: TypeAdapter[Request] = TypeAdapter(Request)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    match _REQUEST.validate_python(event):
        case Step() as step:
            return move_on(step)
        case AdmissionRequest() as request:
            return admit(request)
        case Breakdown() as breakdown:
            return record(breakdown)
        case Ending() as ending:
            return recover(ending)
        case Sweep() as schedule:
            return sweep(schedule)


def move_on(step: Step) -> dict[str, Any]:
    logger.append_keys(worklist_id=step.worklist_id, epoch=step.epoch)
    run, tasks = Run.model_validate(step.model_dump(exclude={"action"})), use_cases().run_tasks
    match step.action:
        case "ensure":
            result = tasks.ensure(run)
        case "start":
            result = tasks.start(run)
            metrics.add_metric(name="DirectCalls", unit=MetricUnit.Count, value=result.calls)
            if result.run.progress.job_id is not None:
                metrics.add_metric(name="IngestionJobs", unit=MetricUnit.Count, value=1)
        case "release":
            result = TaskResult(run=tasks.release(run))
        case "hand_over":
            result = TaskResult(run=tasks.hand_over(run))
    report(result.settled, logger=logger, metrics=metrics)
    report_set_aside(result.failures, logger=logger, metrics=metrics)
    moved = result.run
    logger.info("run moved on", action=step.action, **moved.log_fields)
    if moved.progress.outcome is RunOutcome.BUSY:
        metrics.add_metric(name="BusyAnswers", unit=MetricUnit.Count, value=1)
    return moved.model_dump(mode="json")


def admit(request: AdmissionRequest) -> dict[str, Any]:
    logger.append_keys(worklist_id=request.worklist_id, epoch=request.epoch)
    run = Run.model_validate(request.model_dump(exclude={"action", "token"}))
    use_cases().run_tasks.admit(run, request.token)
    logger.info("run queued up", **run.log_fields)
    return {}


# Recovery from a failed run, which its state machine, EventBridge or the sweep reports.


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
    leases = runs.leases.held() if request.thorough else runs.expired()
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
