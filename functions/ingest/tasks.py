"""Step Functions: the tasks that move a run on."""

from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.deployed import logger, metrics, use_cases
from functions.telemetry import progress_fields, report, report_set_aside
from stackroom.runs.run import Run, RunOutcome
from stackroom.runs.run_tasks import RunTasks


class Step(Run):
    """A task of the state machine."""

    action: Literal["ensure", "start", "release", "hand_over"]


class AdmissionRequest(Run):
    """The task that waits until an admission grant sends its token back."""

    action: Literal["admit"]
    token: str


Request = Step | AdmissionRequest


def move_on(step: Step) -> dict[str, Any]:
    logger.append_keys(worklist_id=step.worklist_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))
    moved = _task(step.action, run)
    logger.info("run moved on", action=step.action, **progress_fields(moved))
    if moved.progress.outcome is RunOutcome.BUSY:
        metrics.add_metric(name="BusyAnswers", unit=MetricUnit.Count, value=1)
    return moved.model_dump(mode="json")


def admit(request: AdmissionRequest) -> dict[str, Any]:
    logger.append_keys(worklist_id=request.worklist_id, epoch=request.epoch)
    run = Run.model_validate(request.model_dump(exclude={"action", "token"}))
    _run_tasks().admit(run, request.token)
    logger.info("run queued up", **progress_fields(run))
    return {}


def _task(action: str, run: Run) -> Run:
    match action:
        case "ensure":
            ensured = _run_tasks().ensure(run)
            report(ensured.settled, logger=logger, metrics=metrics)
            return ensured.run
        case "start":
            return _start(run)
        case "release":
            return _run_tasks().release(run)
        case _:
            return _run_tasks().hand_over(run)


def _start(run: Run) -> Run:
    started = _run_tasks().start(run)
    report(started.settled, logger=logger, metrics=metrics)
    report_set_aside(started.failures, logger=logger, metrics=metrics)
    metrics.add_metric(name="DirectCalls", unit=MetricUnit.Count, value=started.calls)
    if started.run.progress.job_id is not None:
        metrics.add_metric(name="IngestionJobs", unit=MetricUnit.Count, value=1)
    return started.run


def _run_tasks() -> RunTasks:
    return use_cases().run_tasks
