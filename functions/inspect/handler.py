"""SQS: something happened to an object; find out what is wrong with the file, and its places."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import handle_each, response
from functions.fair_turns import QueueSettings, in_turn
from functions.telemetry import logger_for, metrics_for
from stackroom.aws.session import client
from stackroom.inspection.extraction.apart import read_pages_apart
from stackroom.inspection.inspection import Inspection, InspectionOutcome
from stackroom.uploads.events import object_event
from stackroom.wiring.adapters import Deployment
from stackroom.wiring.function_settings import DocumentSettings

logger = logger_for("inspect")
metrics = metrics_for("inspect")


class InspectSettings(DocumentSettings, QueueSettings):
    # A batch of five files, each up to this long, fits into the function's 120 seconds.
    inspect_seconds_per_file: float = 20.0
    # Whether the knowledge bases do: then a PDF of images alone is no defect.
    parses_images: bool = False


@cache
def settings() -> InspectSettings:
    return InspectSettings.from_env()


@cache
def inspection() -> Inspection:
    return inspection_of(settings(), client)


def inspection_of(settings: InspectSettings, client: Callable[[str], Any]) -> Inspection:
    there = Deployment(settings=settings, client=client)
    seconds, scans = settings.inspect_seconds_per_file, settings.parses_images
    return Inspection(
        files=there.files,
        place_maps=there.place_maps,
        catalogs=there.catalogs,
        documents=there.documents,
        inspections=there.inspections,
        extract=partial(read_pages_apart, seconds=seconds, scans=scans),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers which messages failed."""
    _, failed = handle_each(
        in_turn(event, logger=logger),
        inspect,
        logger=logger,
        time_left=context.get_remaining_time_in_millis,
        needed=round(settings().inspect_seconds_per_file * 1000),
    )
    metrics.add_metric(name="InspectionsFailed", unit=MetricUnit.Count, value=len(failed))
    return response(failed)


def inspect(body: str) -> None:
    found = object_event(body)
    logger.append_keys(correlation_id=found.correlation_id)
    inspected = inspection().inspect(found.key)
    logger.info(
        "file inspected",
        outcome=inspected.outcome,
        document_id=inspected.document_id,
        reason=inspected.reason,
        pages=inspected.pages,
        sections=inspected.sections,
    )
    if inspected.outcome is InspectionOutcome.DEFECTIVE:
        metrics.add_metric(name="DefectiveFiles", unit=MetricUnit.Count, value=1)
    if inspected.outcome is InspectionOutcome.UNDECIDED:
        metrics.add_metric(name="UndecidedFiles", unit=MetricUnit.Count, value=1)
