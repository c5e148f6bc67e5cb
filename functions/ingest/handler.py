"""Step Functions tasks that move a catalog's run on, and what follows a run that broke."""

from functools import cache
from typing import Any, Literal

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, TypeAdapter

from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.data_sources import BedrockDataSources
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.session import client
from stackroom.aws.slots import DynamoSlots
from stackroom.ingestion import Ingestion
from stackroom.observability import logger_for, metrics_for, report
from stackroom.placement import Placements
from stackroom.progress import Outcome, Run
from stackroom.runs import Runs
from stackroom.settings import Pool, Settings

logger = logger_for("ingest")
metrics = metrics_for("ingest")


class IngestSettings(Settings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    kb_pool: Pool
    state_machine_arn: str


class Step(Run):
    """A task of the state machine."""

    action: Literal["ensure_data_source", "refuse", "start", "release", "hand_over"]


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


_REQUEST: TypeAdapter[Step | Breakdown | Ending | Sweep] = TypeAdapter(
    Step | Breakdown | Ending | Sweep
)


@cache
def ingestion() -> Ingestion:
    known = IngestSettings.from_env()
    dynamodb, bedrock = client("dynamodb"), client("bedrock-agent")
    catalogs = DynamoCatalogs(client=dynamodb, table=known.kb_catalog_table)
    return Ingestion(
        catalogs=catalogs,
        documents=DynamoDocuments(client=dynamodb, table=known.kb_catalog_table),
        jobs=BedrockIngestionJobs(client=bedrock),
        placements=Placements(
            catalogs=catalogs,
            slots=DynamoSlots(client=dynamodb, table=known.kb_control_table),
            data_sources=BedrockDataSources(
                client=bedrock, bucket_arn=f"arn:aws:s3:::{known.kb_docs_bucket}"
            ),
            pool=known.kb_pool,
        ),
        runs=Runs(
            leases=DynamoLeases(client=dynamodb, table=known.kb_control_table),
            executions=StepFunctionsExecutions(
                client=client("stepfunctions"), state_machine_arn=known.state_machine_arn
            ),
        ),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    match _REQUEST.validate_python(event):
        case Step() as step:
            return move_on(step)
        case Breakdown() as breakdown:
            return record(breakdown)
        case Ending() as ending:
            return recover(ending)
        case Sweep():
            return sweep()


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
    if action == "refuse":
        moved, refused = ingestion().refuse(run)
        report(refused, logger=logger, metrics=metrics)
        return moved
    tasks = {
        "ensure_data_source": ingestion().ensure_data_source,
        "start": ingestion().start,
        "release": ingestion().release,
        "hand_over": ingestion().hand_over,
    }
    return tasks[action](run)


def record(breakdown: Breakdown) -> dict[str, Any]:
    logger.append_keys(catalog_id=breakdown.catalog_id, epoch=breakdown.epoch)
    name = breakdown.error.get("Error", "an unknown error")
    failed = ingestion().record_failure(breakdown.catalog_id, breakdown.epoch, name)
    logger.error("run broke", error=name, cause=breakdown.error.get("Cause"))
    metrics.add_metric(name="BrokenRuns", unit=MetricUnit.Count, value=1)
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def recover(ending: Ending) -> dict[str, Any]:
    catalog_id, _, epoch = ending.execution_name.rpartition("-")
    logger.warning("execution ended badly", execution_name=ending.execution_name)
    if not epoch.isdecimal():  # someone started it by hand: it holds no lease
        return {"failed_documents": 0}
    failed = ingestion().record_failure(catalog_id, int(epoch), "an execution cut short")
    report(failed, logger=logger, metrics=metrics)
    return {"failed_documents": len(failed)}


def sweep() -> dict[str, Any]:
    followed, failed = ingestion().sweep()
    report(failed, logger=logger, metrics=metrics)
    logger.info("leases swept", followed=followed)
    metrics.add_metric(name="RunsFollowed", unit=MetricUnit.Count, value=len(followed))
    return {"followed": followed}
