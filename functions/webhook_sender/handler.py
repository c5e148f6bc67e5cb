"""
SQS: a webhook is to be told of an event; call it, and if it doesn't take the call, again later.

Of events and addresses nothing is logged but their ids: a URL may have a secret in it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ValidationError

from functions.batch import handle_each, response
from functions.telemetry import logger_for, metrics_for
from stackroom.app.function_settings import Settings
from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.aws.error_mapping import store_errors
from stackroom.aws.session import client, secret_text
from stackroom.catalogs.guarded_post import GuardedPost
from stackroom.catalogs.webhook_calls import WebhookCalls, pause_after
from stackroom.catalogs.webhooks import WebhookCall
from stackroom.clock import Pace
from stackroom.errors import MalformedEvent

logger = logger_for("webhook_sender")
metrics = metrics_for("webhook_sender")


class WebhookSenderSettings(Settings):
    kb_control_table: str
    webhooks_queue_url: str
    webhook_key_arn: str
    # "anywhere": private addresses, plain HTTP and every port, too; the local mode's.
    webhook_reach: Literal["public", "anywhere"] = "public"
    ingest_speed: float = 1.0


@cache
def settings() -> WebhookSenderSettings:
    return WebhookSenderSettings.from_env()


@cache
def calls() -> WebhookCalls:
    return WebhookCalls(
        webhooks=DynamoWebhooks(client=client("dynamodb"), table=settings().kb_control_table),
        post=GuardedPost(anywhere=settings().webhook_reach == "anywhere"),
        key=secret_text(client("secretsmanager"), settings().webhook_key_arn),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers which messages failed; those that were not taken come back when they are due."""
    outcomes, failed = handle_each(event, tell, logger=logger)
    for record in event["Records"]:
        if outcomes.get(record["messageId"]) is False:
            put_off(record)
            failed.append(record["messageId"])
    return response(failed)


def tell(body: str) -> bool:
    """Whether it needs no further try."""
    try:
        call = WebhookCall.model_validate_json(body)
        event_id = str(call.event["id"])
    except (ValidationError, KeyError):
        raise MalformedEvent("no message of the publisher's") from None
    with logger.append_context_keys(webhook_id=call.webhook_id, event_id=event_id):
        answer = calls().make(call)
        if answer is None:
            logger.info("webhook gone")
            return True
        outcome = "delivered" if answer.is_success else "failed"
        logger.info("webhook called", outcome=outcome, status=answer.status, problem=answer.problem)
    count, is_told = MetricUnit.Count, answer.is_success
    metrics.add_metric(name="WebhookDelivered", unit=count, value=int(is_told))
    metrics.add_metric(name="WebhookFailed", unit=count, value=int(not is_told))
    return is_told


def put_off(record: Mapping[str, Any]) -> None:
    """
    SQS delivers it no sooner, and nothing of its group before it: what a function names as failed
    comes back when its visibility timeout is over, and that is each message's own to change.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
    """
    tries = int(record["attributes"]["ApproximateReceiveCount"])
    seconds = Pace(settings().ingest_speed).here(pause_after(tries))
    with store_errors():
        client("sqs").change_message_visibility(
            QueueUrl=settings().webhooks_queue_url,
            ReceiptHandle=record["receiptHandle"],
            VisibilityTimeout=round(seconds),
        )
