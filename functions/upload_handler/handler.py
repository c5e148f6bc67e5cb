"""SQS: something happened to an object; bring its document's record in step and ask for a run."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import handle_each, response
from functions.fair_turns import QueueSettings, in_turn
from functions.telemetry import logger_for, metrics_for
from stackroom.app.document_builder import DocumentBuilder
from stackroom.app.function_settings import DocumentSettings, Pool
from stackroom.aws.session import client
from stackroom.runs.run_requests import RunRequests
from stackroom.uploads.events import ObjectEvent, object_event
from stackroom.uploads.plan import Plan, UploadOutcome
from stackroom.uploads.reconcile import Uploads

logger = logger_for("upload_handler")
metrics = metrics_for("upload_handler")


class UploadSettings(DocumentSettings, QueueSettings):
    state_machine_arn: str
    kb_pool: Pool


@cache
def use_cases() -> DocumentBuilder:
    return DocumentBuilder(settings=UploadSettings.from_env(), client=client)


def uploads() -> Uploads:
    return use_cases().uploads


def requests() -> RunRequests:
    return use_cases().requests


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answers which messages failed."""
    told, failed = handle_each(in_turn(event, logger=logger), object_event, logger=logger)
    outcomes = reconciled(told.values())
    waiting: dict[str, list[str]] = {}  # messages by the catalog that they ask a run for
    for message_id, found in told.items():
        outcome = outcomes[found.key]
        with logger.append_context_keys(message_id=message_id, correlation_id=found.correlation_id):
            if isinstance(outcome, Exception):
                logger.error("message failed", exc_info=outcome)
                failed.append(message_id)
                continue
            report(found, outcome)
        if outcome.run_for is not None:
            waiting.setdefault(outcome.run_for, []).append(message_id)
    # Where every message failed, so might this, and nobody would be told which messages.
    failures = requests().ask_all(waiting) if waiting else {}
    for catalog_id, error in failures.items():
        logger.error("asking for a run failed", catalog_id=catalog_id, exc_info=error)
        failed += waiting[catalog_id]
    return response(failed)


def reconciled(told: Iterable[ObjectEvent]) -> dict[str, Plan | Exception]:
    """What became of each key: once, however often it is told of, for the object says all."""
    correlation_ids: dict[str, str] = {}
    for each in told:
        correlation_ids.setdefault(each.key, each.correlation_id)
    try:
        return uploads().reconcile_all(correlation_ids)
    except Exception as error:  # as a setting that is missing: it is named for every message
        return dict.fromkeys(correlation_ids, error)


def report(found: ObjectEvent, plan: Plan) -> None:
    """One after another: Powertools keeps one set of keys and of metrics for all threads."""
    logger.info(
        "upload reconciled",
        event_type=found.detail_type,
        sequencer=found.detail.object.sequencer,
        outcome=plan.outcome,
        document_id=plan.document_id,
        receipt_id=plan.receipt_id,
        reason=plan.reason,
    )
    if plan.outcome is UploadOutcome.REJECTED:
        metrics.add_metric(name="RejectedUploads", unit=MetricUnit.Count, value=1)
    metrics.add_metric(name="UploadEvents", unit=MetricUnit.Count, value=1)
