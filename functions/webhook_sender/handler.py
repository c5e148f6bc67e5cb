"""
SQS consumer that calls a webhook with an event, and calls again later if the call fails.

Nothing of events and addresses is logged but their ids: a URL may contain a secret.
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
from stackroom.catalogs.webhooks import WebhookCall, WebhookCalls, pause_after
from stackroom.clock import Pace
from stackroom.errors import MalformedEvent

logger = logger_for("webhook_sender")
metrics = metrics_for("webhook_sender")


class WebhookSenderSettings(Settings):
    kb_control_table: str
    webhooks_queue_url: str
    webhook_key_arn: str
    # "anywhere" also allows private addresses, plain HTTP and every port; for the local mode.
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
    """Return the messages that failed; undelivered ones come back when they are due."""
    outcomes, failed = handle_each(event, deliver, logger=logger)
    for record in event["Records"]:
        if outcomes.get(record["messageId"]) is False:
            delay(record)
            failed.append(record["messageId"])
    return response(failed)


def deliver(body: str) -> bool:
    """Call the webhook and return True if no further attempt is needed."""
    try:
        call = WebhookCall.model_validate_json(body)
        event_id = str(call.event["id"])
    except (ValidationError, KeyError):
        raise MalformedEvent("the body is not a message of the event publisher") from None
    with logger.append_context_keys(webhook_id=call.webhook_id, event_id=event_id):
        answer = calls().make(call)
        if answer is None:
            logger.info("webhook gone")
            return True
        outcome = "delivered" if answer.is_success else "failed"
        logger.info("webhook called", outcome=outcome, status=answer.status, problem=answer.problem)
    count, is_delivered = MetricUnit.Count, answer.is_success
    metrics.add_metric(name="WebhookDelivered", unit=count, value=int(is_delivered))
    metrics.add_metric(name="WebhookFailed", unit=count, value=int(not is_delivered))
    return is_delivered


def delay(record: Mapping[str, Any]) -> None:
    """
    Delay the next delivery of a message, and of all messages behind it in its group.

    A message that a function reports as failed comes back when its visibility timeout ends, and
    that can be changed for each message.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
    """
    attempts = int(record["attributes"]["ApproximateReceiveCount"])
    seconds = Pace(settings().ingest_speed).here(pause_after(attempts))
    with store_errors():
        client("sqs").change_message_visibility(
            QueueUrl=settings().webhooks_queue_url,
            ReceiptHandle=record["receiptHandle"],
            VisibilityTimeout=round(seconds),
        )
