"""Step Functions tasks: is the job over, and what became of each document of the round?"""

from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext

from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.inspections import DynamoInspections
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.session import client
from stackroom.observability import NAMESPACE, logger_for, metrics_for
from stackroom.progress import Run
from stackroom.settings import Settings
from stackroom.settlement import Settled, Settlement
from stackroom.verdicts import Fate

logger = logger_for("status_poller")
metrics = metrics_for("status_poller")


class PollerSettings(Settings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str


class Step(Run):
    action: Literal["poll", "settle"]


@cache
def settlement() -> Settlement:
    known = PollerSettings.from_env()
    dynamodb = client("dynamodb")
    return Settlement(
        catalogs=DynamoCatalogs(
            client=dynamodb, table=known.kb_catalog_table, control_table=known.kb_control_table
        ),
        documents=DynamoDocuments(client=dynamodb, table=known.kb_catalog_table),
        bucket=S3DocumentBucket(client=client("s3"), bucket=known.kb_docs_bucket),
        jobs=BedrockIngestionJobs(client=client("bedrock-agent")),
        findings=DynamoInspections(client=dynamodb, table=known.kb_control_table),
        leases=DynamoLeases(client=dynamodb, table=known.kb_control_table),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    step = Step.model_validate(event)
    logger.append_keys(catalog_id=step.catalog_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))

    if step.action == "poll":
        moved = settlement().poll(run)
        metrics.add_metric(name="Polls", unit=MetricUnit.Count, value=1)
    else:
        moved, settled = settlement().settle(run)
        for each in settled:
            report(each)

    logger.info("run moved on", action=step.action, **moved.progress.model_dump(mode="json"))
    return moved.model_dump(mode="json")


def report(settled: Settled) -> None:
    document = settled.document
    logger.info(
        "document settled",
        fate=settled.fate,
        document_id=document.document_id,
        version=document.version,
        correlation_id=document.correlation_id,
        reason=document.status_reason,
    )
    with single_metric(
        name="DocumentsSettled", unit=MetricUnit.Count, value=1, namespace=NAMESPACE
    ) as metric:
        metric.add_dimension(name="outcome", value=settled.fate)
    if settled.fate is Fate.INDEXED and document.indexed_at is not None:
        waited = (document.indexed_at - document.uploaded_at).total_seconds()
        metrics.add_metric(
            name="UploadToIndexedSeconds", unit=MetricUnit.Seconds, value=max(waited, 0)
        )
