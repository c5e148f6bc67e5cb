"""Step Functions tasks that move a catalog's run on, and what follows a run that broke."""

from dataclasses import asdict
from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, TypeAdapter

from functions.observability import logger_for, metrics_for, report
from stackroom.admission.admission import Admission
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.data_sources import BedrockDataSources
from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.inspections import DynamoInspections
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.aws.session import client
from stackroom.aws.settings import AdmissionSettings
from stackroom.aws.slots import DynamoSlots
from stackroom.aws.turns import StepFunctionsTaskTokens
from stackroom.ingestion.direct import DirectIngestion
from stackroom.ingestion.ingestion import Ingestion
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placements
from stackroom.runs.progress import Outcome, Run
from stackroom.runs.teardown import Teardown
from stackroom.settlement.broken_runs import BrokenRuns
from stackroom.settlement.inquiry import Inquiry
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.verdict_writer import VerdictWriter

logger = logger_for("ingest")
metrics = metrics_for("ingest")


class IngestSettings(AdmissionSettings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    state_machine_arn: str
    # How much faster than AWS's a simulated Bedrock is: looks at direct calls come sooner.
    ingest_speed: float = 1.0


class Step(Run):
    """A task of the state machine."""

    action: Literal["ensure_data_source", "start", "release", "hand_over"]


class Admittance(Run):
    """The task that waits for its turn, to be woken with the token."""

    action: Literal["admit"]
    token: str


class Breakdown(BaseModel):
    """The state machine caught an error; `error` is as Step Functions gives it."""

    action: Literal["record_failure"]
    catalog_id: str
    epoch: int
    error: dict[str, str]


class Ending(BaseModel):
    """EventBridge: an execution ended otherwise than well."""

    action: Literal["recover"]
    execution_name: str


class Sweep(BaseModel):
    """The schedule: look for runs that ended without a word."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["sweep"]
    thorough: bool = False  # after a start of the whole account, which only the local mode has


_REQUEST: TypeAdapter[Step | Admittance | Breakdown | Ending | Sweep] = TypeAdapter(
    Step | Admittance | Breakdown | Ending | Sweep
)


@cache
def settings() -> IngestSettings:
    return IngestSettings.from_env()


@cache
def ingestion() -> Ingestion:
    known = settings()
    dynamodb, bedrock = client("dynamodb"), client("bedrock-agent")
    catalogs = DynamoCatalogRegister(
        client=dynamodb, table=known.kb_catalog_table, control_table=known.kb_control_table
    )
    documents = DynamoDocuments(client=dynamodb, table=known.kb_catalog_table)
    slots = DynamoSlots(client=dynamodb, table=known.kb_control_table)
    sources = BedrockDataSources(client=bedrock, bucket_arn=f"arn:aws:s3:::{known.kb_docs_bucket}")
    return Ingestion(
        catalogs=catalogs,
        documents=documents,
        jobs=BedrockIngestionJobs(client=bedrock),
        placements=Placements(
            catalogs=catalogs, slots=slots, data_sources=sources, pool=known.kb_pool
        ),
        admission=admission(),
        direct=direct(documents),
        teardown=Teardown(catalogs=catalogs, slots=slots, data_sources=sources, pool=known.kb_pool),
        runs=runs(),
    )


@cache
def broken_runs() -> BrokenRuns:
    table = settings().kb_catalog_table
    return BrokenRuns(
        catalogs=DynamoCatalogs(client=client("dynamodb"), table=table),
        documents=DynamoDocuments(client=client("dynamodb"), table=table),
        admission=admission(),
        runs=runs(),
    )


@cache
def runs() -> Runs:
    known = settings()
    return Runs(
        leases=DynamoLeases(client=client("dynamodb"), table=known.kb_control_table),
        executions=StepFunctionsExecutions(
            client=client("stepfunctions"), state_machine_arn=known.state_machine_arn
        ),
    )


@cache
def admission() -> Admission:
    known = settings()
    return Admission(
        book=DynamoAdmissionBook(client=client("dynamodb"), table=known.kb_control_table),
        turns=StepFunctionsTaskTokens(client=client("stepfunctions")),
        pool=[member.knowledge_base_id for member in known.kb_pool],
        limits=known.limits,
    )


def direct(documents: DynamoDocuments) -> DirectIngestion:
    known = settings()
    dynamodb, bedrock = client("dynamodb"), client("bedrock-agent")
    bucket = S3DocumentBucket(client=client("s3"), bucket=known.kb_docs_bucket)
    findings = DynamoInspections(client=dynamodb, table=known.kb_control_table)
    return DirectIngestion(
        documents=documents,
        bucket=bucket,
        direct=BedrockDirectDocuments(client=bedrock),
        admission=admission(),
        inquiry=Inquiry(
            bucket=bucket,
            jobs=BedrockIngestionJobs(client=bedrock),
            findings=findings,
            search_check=SearchCheck(
                knowledge_base=lambda each: BedrockKnowledgeBase(
                    client("bedrock-agent-runtime"), each
                )
            ),
        ),
        verdict_writer=VerdictWriter(
            documents=documents,
            findings=findings,
            receipts=DynamoReceipts(client=dynamodb, table=known.kb_control_table),
        ),
        speed=known.ingest_speed,
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    match _REQUEST.validate_python(event):
        case Step() as step:
            return move_on(step)
        case Admittance() as admittance:
            return admit(admittance)
        case Breakdown() as breakdown:
            return record(breakdown)
        case Ending() as ending:
            return recover(ending)
        case Sweep() as asked:
            return sweep(thorough=asked.thorough)


def move_on(step: Step) -> dict[str, Any]:
    logger.append_keys(catalog_id=step.catalog_id, epoch=step.epoch)
    run = Run.model_validate(step.model_dump(exclude={"action"}))
    moved = task(step.action, run)
    progress = moved.progress
    logger.info("run moved on", action=step.action, **progress.model_dump(mode="json"))
    if progress.outcome is Outcome.BUSY:
        metrics.add_metric(name="BusyAnswers", unit=MetricUnit.Count, value=1)
    if progress.outcome is Outcome.STARTED:
        metrics.add_metric(name="IngestionJobs", unit=MetricUnit.Count, value=1)
    return moved.model_dump(mode="json")


def task(action: str, run: Run) -> Run:
    if action == "start":
        moved, turn = ingestion().start(run)
        report(turn.settled, logger=logger, metrics=metrics)
        metrics.add_metric(name="DirectCalls", unit=MetricUnit.Count, value=turn.calls)
        return moved
    tasks = {
        "ensure_data_source": ingestion().ensure_data_source,
        "release": ingestion().release,
        "hand_over": ingestion().hand_over,
    }
    return tasks[action](run)


def admit(asked: Admittance) -> dict[str, Any]:
    logger.append_keys(catalog_id=asked.catalog_id, epoch=asked.epoch)
    run = Run.model_validate(asked.model_dump(exclude={"action", "token"}))
    ingestion().admit(run, asked.token)
    logger.info("run queued up", **asked.progress.model_dump(mode="json"))
    return {}


def record(breakdown: Breakdown) -> dict[str, Any]:
    logger.append_keys(catalog_id=breakdown.catalog_id, epoch=breakdown.epoch)
    name = breakdown.error.get("Error", "an unknown error")
    failed = broken_runs().record(breakdown.catalog_id, breakdown.epoch, name)
    logger.error("run broke", error=name, cause=breakdown.error.get("Cause"))
    metrics.add_metric(name="BrokenRuns", unit=MetricUnit.Count, value=1)
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def recover(ending: Ending) -> dict[str, Any]:
    catalog_id, _, epoch = ending.execution_name.rpartition("-")
    logger.warning("execution ended badly", execution_name=ending.execution_name)
    if not epoch.isdecimal():  # someone started it by hand: it holds no lease
        return {"failed_documents": 0}
    failed = broken_runs().record(catalog_id, int(epoch), "an execution cut short")
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def sweep(*, thorough: bool) -> dict[str, Any]:
    state = admission().state()
    swept = broken_runs().sweep(thorough=thorough)
    report(swept.settled, logger=logger, metrics=metrics)
    for name, error in swept.failures.items():
        logger.error("run not looked after", execution_name=name, exc_info=error)
    logger.info("leases swept", followed=swept.followed, **asdict(state))
    metrics.add_metric(name="RunsFollowed", unit=MetricUnit.Count, value=len(swept.followed))
    metrics.add_metric(
        name="OldestWaitSeconds", unit=MetricUnit.Seconds, value=state.oldest_wait_seconds
    )
    metrics.add_metric(name="ParkedRuns", unit=MetricUnit.Count, value=state.waiting)
    metrics.add_metric(name="Grants", unit=MetricUnit.Count, value=state.turns)
    return {"followed": swept.followed}
