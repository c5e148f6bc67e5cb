"""DynamoDB streams: publish each change of a document, catalog or deletion as an event."""

from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import response
from functions.telemetry import logger_for, metrics_for
from stackroom.app.function_settings import Settings
from stackroom.aws.dynamodb.event_records import DynamoEvents
from stackroom.aws.dynamodb.stream_records import event_in
from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.aws.eventbridge.event_bus import DefaultEventBus
from stackroom.aws.session import client
from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.catalogs.event_log import EventLog
from stackroom.catalogs.publishing import Publishing

logger = logger_for("event_publisher")
metrics = metrics_for("event_publisher")


class PublisherSettings(Settings):
    kb_control_table: str
    webhooks_queue_url: str


@cache
def publishing() -> Publishing:
    settings, dynamodb = PublisherSettings.from_env(), client("dynamodb")
    return Publishing(
        log=EventLog(book=DynamoEvents(client=dynamodb, table=settings.kb_control_table)),
        bus=DefaultEventBus(client=client("events")),
        webhooks=DynamoWebhooks(client=dynamodb, table=settings.kb_control_table),
        queue=SqsWebhookQueue(client=client("sqs"), url=settings.webhooks_queue_url),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Return the first record that failed; Lambda delivers it and all that follow again."""
    parsed = ((each, event_in(each)) for each in event["Records"])
    events = [(record["dynamodb"]["SequenceNumber"], each) for record, each in parsed if each]
    published = publishing().publish([each for _, each in events])
    metrics.add_metric(name="EventsPublished", unit=MetricUnit.Count, value=published.delivered)
    for _, each in events[: published.delivered]:
        logger.info(
            "event published",
            event_id=each.id,
            detail_type=each.detail_type,
            record=each.detail.record,
            state=each.detail.state,
        )
    if published.error is None:
        return response([])
    logger.error("publishing stopped", exc_info=published.error)
    return response([events[published.delivered][0]])
