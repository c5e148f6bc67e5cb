"""Step Functions tasks: is the job over, and what became of each document of the round?"""

from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.observability import logger_for, metrics_for, report
from stackroom.admission.admission import Admission
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.inspections import DynamoInspections
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.aws.session import client
from stackroom.aws.settings import AdmissionSettings
from stackroom.aws.turns import StepFunctionsTaskTokens
from stackroom.model import PerSourceType
from stackroom.runs.progress import Run
from stackroom.settlement.evidence import Investigation
from stackroom.settlement.own_source import OwnSource
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.settlement import Settlement
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.verdict_writer import VerdictWriter

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
    known = PollerSettings.from_env()
    dynamodb, bedrock = client("dynamodb"), client("bedrock-agent")
    documents = DynamoDocuments(client=dynamodb, table=known.kb_catalog_table)
    inspections = DynamoInspections(client=dynamodb, table=known.kb_control_table)
    investigation = Investigation(
        inspections=inspections,
        search_check=SearchCheck(
            knowledge_base=lambda each: BedrockKnowledgeBase(client("bedrock-agent-runtime"), each)
        ),
    )
    return Settlement(
        catalogs=DynamoCatalogs(client=dynamodb, table=known.kb_catalog_table),
        documents=documents,
        strategies=PerSourceType(
            own=OwnSource(
                jobs=BedrockIngestionJobs(client=bedrock),
                bucket=S3DocumentBucket(client=client("s3"), bucket=known.kb_docs_bucket),
                investigation=investigation,
            ),
            shared=SharedSource(
                direct=BedrockDirectDocuments(client=bedrock),
                documents=documents,
                investigation=investigation,
            ),
        ),
        verdict_writer=VerdictWriter(
            documents=documents,
            inspections=inspections,
            receipts=DynamoReceipts(client=dynamodb, table=known.kb_control_table),
        ),
        leases=DynamoLeases(client=dynamodb, table=known.kb_control_table),
        admission=Admission(
            book=DynamoAdmissionBook(client=dynamodb, table=known.kb_control_table),
            task_tokens=StepFunctionsTaskTokens(client=client("stepfunctions")),
            pool=[member.knowledge_base_id for member in known.kb_pool],
            limits=known.limits,
        ),
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
        moved, settling = settlement().settle(run)
        report(settling.settled, logger=logger, metrics=metrics)
        if settling.unexplained:
            logger.warning("failures without a name", count=settling.unexplained)
        metrics.add_metric(
            name="UnexplainedFailures", unit=MetricUnit.Count, value=settling.unexplained
        )

    logger.info("run moved on", action=step.action, **moved.progress.model_dump(mode="json"))
    return moved.model_dump(mode="json")
