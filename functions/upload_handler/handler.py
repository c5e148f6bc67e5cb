"""SQS: something happened to an object; bring its document's record in step and ask for a run."""

from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import handle_each, response
from functions.observability import logger_for, metrics_for
from stackroom.aws.session import client
from stackroom.aws.settings import Pool, Settings
from stackroom.aws.use_cases import UseCases
from stackroom.runs.requests import RunRequests
from stackroom.uploads.events import object_event
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.steps import UploadOutcome

logger = logger_for("upload_handler")
metrics = metrics_for("upload_handler")


# What one message and the asking after it may take, in milliseconds, while AWS is slow.
_ONE_MESSAGE = 20_000


class UploadSettings(Settings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    state_machine_arn: str
    kb_pool: Pool


@cache
def use_cases() -> UseCases:
    return UseCases.of(UploadSettings.from_env(), client)


def uploads() -> Uploads:
    return use_cases().uploads


def requests() -> RunRequests:
    return use_cases().requests


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers which messages failed."""
    wanted, failed = handle_each(
        event,
        reconcile,
        logger=logger,
        time_left=context.get_remaining_time_in_millis,
        needed=_ONE_MESSAGE,
    )
    waiting: dict[str, list[str]] = {}  # messages by the catalog that they ask a run for
    for message_id, catalog_id in wanted.items():
        if catalog_id is not None:
            waiting.setdefault(catalog_id, []).append(message_id)
    # Where every message failed, so might this, and nobody would be told which messages.
    failures = requests().ask_all(waiting) if waiting else {}
    for catalog_id, error in failures.items():
        logger.error("asking for a run failed", catalog_id=catalog_id, exc_info=error)
        failed += waiting[catalog_id]
    return response(failed)


def reconcile(body: str) -> str | None:
    """The catalog that needs a run for what this message tells of, if any."""
    found = object_event(body)
    logger.append_keys(correlation_id=found.correlation_id)
    plan = uploads().reconcile(found.key, correlation_id=found.correlation_id)
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
    return plan.run_for
