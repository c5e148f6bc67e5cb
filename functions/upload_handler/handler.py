"""SQS consumer that updates a document's record after an object event and requests a run."""

from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import (
    ObjectEvent,
    QueueSettings,
    handle_each,
    object_event,
    resend_by_user,
    response,
)
from functions.telemetry import logger_for, metrics_for
from stackroom.app.function_settings import DocumentSettings, Pool
from stackroom.app.upload_builder import UploadBuilder
from stackroom.aws.session import client
from stackroom.runs.run_leases import RunRequests
from stackroom.uploads.plan import Plan, UploadOutcome
from stackroom.uploads.reconcile import Uploads

logger = logger_for("upload_handler")
metrics = metrics_for("upload_handler")


class UploadSettings(DocumentSettings, QueueSettings):
    state_machine_arn: str
    kb_pool: Pool


@cache
def use_cases() -> UploadBuilder:
    return UploadBuilder(settings=UploadSettings.from_env(), client=client)


def uploads() -> Uploads:
    return use_cases().uploads


def requests() -> RunRequests:
    return use_cases().requests


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Return the failed messages as a partial batch response."""
    parsed, failed = handle_each(resend_by_user(event, logger=logger), object_event, logger=logger)
    # Each key once, for its first event, however many name it: the object says everything.
    events = reversed(parsed.values())
    outcomes = uploads().reconcile_all({each.key: each.correlation_id for each in events})
    waiting: dict[str, list[str]] = {}  # messages by the catalog that they request a run for
    for message_id, source_event in parsed.items():
        outcome = outcomes[source_event.key]
        with logger.append_context_keys(
            message_id=message_id, correlation_id=source_event.correlation_id
        ):
            if isinstance(outcome, Exception):
                logger.error("message failed", exc_info=outcome)
                failed.append(message_id)
                continue
            report(source_event, outcome)
        if outcome.run_for is not None:
            waiting.setdefault(outcome.run_for, []).append(message_id)
    # If every message failed, this might fail, too, and nobody would learn which messages.
    failures = requests().ask_all(waiting) if waiting else {}
    for catalog_id, error in failures.items():
        logger.error("asking for a run failed", catalog_id=catalog_id, exc_info=error)
        failed += waiting[catalog_id]
    return response(failed)


def report(source_event: ObjectEvent, plan: Plan) -> None:
    """
    Log and count an outcome; not in parallel, since Powertools shares its keys between threads.
    """
    logger.info(
        "upload reconciled",
        event_type=source_event.detail_type,
        sequencer=source_event.detail.object.sequencer,
        outcome=plan.outcome,
        document_id=plan.document_id,
        receipt_id=plan.receipt_id,
        reason=plan.reason,
    )
    if plan.outcome is UploadOutcome.REJECTED:
        metrics.add_metric(name="RejectedUploads", unit=MetricUnit.Count, value=1)
    metrics.add_metric(name="UploadEvents", unit=MetricUnit.Count, value=1)
