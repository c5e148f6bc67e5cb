"""Step Functions task that polls a run's work once and settles the documents that are decided."""

from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import logger_for, metrics_for, report, report_set_aside
from stackroom.app.function_settings import AdmissionSettings, DocumentSettings
from stackroom.app.run_builder import RunBuilder
from stackroom.aws.session import client
from stackroom.runs.polling import Polling
from stackroom.runs.run import Run

logger = logger_for("status_poller")
metrics = metrics_for("status_poller")


class PollerSettings(AdmissionSettings, DocumentSettings):
    # How much faster a simulated Bedrock is than AWS's: indexed documents are found sooner.
    ingest_speed: float = 1.0


class Step(Run):
    action: Literal["poll"]


@cache
def polling() -> Polling:
    return RunBuilder(settings=PollerSettings.from_env(), client=client).polling


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    step = Step.model_validate(event)
    logger.append_keys(worklist_id=step.worklist_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))

    polled = polling().poll(run)

    report(polled.settled, logger=logger, metrics=metrics)
    report_set_aside(polled.failures, logger=logger, metrics=metrics)
    if polled.unexplained:
        logger.warning("failures without a name", count=polled.unexplained)
    metrics.add_metric(name="Polls", unit=MetricUnit.Count, value=1)
    metrics.add_metric(name="UnexplainedFailures", unit=MetricUnit.Count, value=polled.unexplained)
    logger.info("run moved on", action=step.action, **polled.run.log_fields)
    return polled.run.model_dump(mode="json")
