"""SQS: something happened to an object; find out what is wrong with the file, and its pages."""

from functools import cache, partial
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.files import S3Files
from stackroom.aws.inspections import DynamoInspections
from stackroom.aws.page_maps import S3PageMaps
from stackroom.aws.session import client
from stackroom.events import object_event
from stackroom.extraction.apart import read_pages_apart
from stackroom.inspection import Inspection, Outcome
from stackroom.observability import logger_for, metrics_for
from stackroom.settings import Settings

logger = logger_for("inspect")
metrics = metrics_for("inspect")


class InspectSettings(Settings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    # A batch of five files, each up to this long, fits into the function's 120 seconds.
    inspect_seconds_per_file: float = 20.0


@cache
def inspection() -> Inspection:
    settings = InspectSettings.from_env()
    return Inspection(
        files=S3Files(client=client("s3"), bucket=settings.kb_docs_bucket),
        page_maps=S3PageMaps(client=client("s3"), bucket=settings.kb_docs_bucket),
        catalogs=DynamoCatalogs(
            client=client("dynamodb"),
            table=settings.kb_catalog_table,
            control_table=settings.kb_control_table,
        ),
        documents=DynamoDocuments(client=client("dynamodb"), table=settings.kb_catalog_table),
        inspections=DynamoInspections(client=client("dynamodb"), table=settings.kb_control_table),
        extract=partial(read_pages_apart, seconds=settings.inspect_seconds_per_file),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers which messages failed: SQS delivers those again and sets them aside in the end."""
    failed: list[str] = []
    for record in event["Records"]:
        message_id = record["messageId"]
        with logger.append_context_keys(message_id=message_id, correlation_id=None):
            try:
                inspect(record["body"])
            except Exception:  # one bad message must not take its neighbours along
                logger.exception("message failed")
                failed.append(message_id)
    metrics.add_metric(name="InspectionsFailed", unit=MetricUnit.Count, value=len(failed))
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def inspect(body: str) -> None:
    logger.append_keys(correlation_id=None)  # not that of the message before
    found = object_event(body)
    logger.append_keys(correlation_id=found.correlation_id)
    inspected = inspection().inspect(found.key)
    logger.info(
        "file inspected",
        outcome=inspected.outcome,
        document_id=inspected.document_id,
        reason=inspected.reason,
        pages=inspected.pages,
    )
    if inspected.outcome is Outcome.DEFECTIVE:
        metrics.add_metric(name="DefectiveFiles", unit=MetricUnit.Count, value=1)
    if inspected.outcome is Outcome.UNDECIDED:
        metrics.add_metric(name="UndecidedFiles", unit=MetricUnit.Count, value=1)
