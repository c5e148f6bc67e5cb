"""Step Functions: the tasks that move a run on."""

from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.deployed import logger, metrics, use_cases
from functions.observability import report
from stackroom.ingestion.run_tasks import RunTasks
from stackroom.runs.progress import Run, RunOutcome


class Step(Run):
    """A task of the state machine."""

    action: Literal["begin", "start", "release", "hand_over"]


class Admittance(Run):
    """The task that waits until a grant wakes it with the token."""

    action: Literal["admit"]
    token: str


Request = Step | Admittance


def move_on(step: Step) -> dict[str, Any]:
    logger.append_keys(worklist_id=step.worklist_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))
    moved = _task(step.action, run)
    progress = moved.progress
    logger.info("run moved on", action=step.action, **progress.model_dump(mode="json"))
    if progress.outcome is RunOutcome.BUSY:
        metrics.add_metric(name="BusyAnswers", unit=MetricUnit.Count, value=1)
    if progress.outcome is RunOutcome.STARTED:
        metrics.add_metric(name="IngestionJobs", unit=MetricUnit.Count, value=1)
    return moved.model_dump(mode="json")


def admit(asked: Admittance) -> dict[str, Any]:
    logger.append_keys(worklist_id=asked.worklist_id, epoch=asked.epoch)
    run = Run.model_validate(asked.model_dump(exclude={"action", "token"}))
    _run_tasks().admit(run, asked.token)
    logger.info("run queued up", **asked.progress.model_dump(mode="json"))
    return {}


def _task(action: str, run: Run) -> Run:
    if action in ("release", "hand_over"):
        tasks = {"release": _run_tasks().release, "hand_over": _run_tasks().hand_over}
        return tasks[action](run)
    working = {"begin": _run_tasks().begin, "start": _run_tasks().start}
    moved, work = working[action](run)
    report(work.settled, logger=logger, metrics=metrics)
    metrics.add_metric(name="DirectCalls", unit=MetricUnit.Count, value=work.calls)
    for catalog_id, error in work.failures.items():
        logger.error("catalog set aside", catalog_id=catalog_id, error=repr(error))
    if work.failures:
        metrics.add_metric(name="CatalogsSetAside", unit=MetricUnit.Count, value=len(work.failures))
    return moved


def _run_tasks() -> RunTasks:
    return use_cases().run_tasks
