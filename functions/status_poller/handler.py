"""Step Functions tasks: is the job over, and what became of each document of the round?"""

from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.observability import logger_for, metrics_for, report
from stackroom.aws.session import client
from stackroom.aws.settings import AdmissionSettings
from stackroom.aws.use_cases import UseCases
from stackroom.runs.progress import Run
from stackroom.settlement.settlement import Settlement

logger = logger_for("status_poller")
metrics = metrics_for("status_poller")


class PollerSettings(AdmissionSettings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str


class Step(Run):
    action: Literal["poll", "settle"]


@cache
def settlement() -> Settlement:
    return UseCases.of(PollerSettings.from_env(), client).settlement


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    step = Step.model_validate(event)
    logger.append_keys(worklist_id=step.worklist_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))

    if step.action == "poll":
        moved = settlement().poll(run)
        metrics.add_metric(name="Polls", unit=MetricUnit.Count, value=1)
    else:
        moved, settling = settlement().settle(run)
        report(settling.settled, logger=logger, metrics=metrics)
        if settling.unexplained:
            logger.warning("failures without a name", count=settling.unexplained)
        metrics.add_metric(
            name="UnexplainedFailures", unit=MetricUnit.Count, value=settling.unexplained
        )

    logger.info("run moved on", action=step.action, **moved.progress.model_dump(mode="json"))
    return moved.model_dump(mode="json")
