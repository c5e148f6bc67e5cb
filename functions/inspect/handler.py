"""SQS consumer that extracts the text of an uploaded file."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.batch import QueueSettings, handle_each, object_event, resend_by_user, response
from functions.telemetry import logger_for, metrics_for
from stackroom.app.document_builder import DocumentBuilder
from stackroom.app.function_settings import DocumentSettings, Pool
from stackroom.aws.session import client
from stackroom.aws.textract.text_detection import TextractDetection
from stackroom.text.extraction.apart import read_pages_apart
from stackroom.text.extraction.page import Page
from stackroom.text.extraction.page_pictures import pictures_of
from stackroom.text.inspection import READS, Inspection, InspectionOutcome
from stackroom.text.ocr import OcrEngine, PageOcr

logger = logger_for("inspect")
metrics = metrics_for("inspect")


class InspectSettings(DocumentSettings, QueueSettings):
    state_machine_arn: str
    kb_pool: Pool
    # A file that crashes its reader is read three times: that fits into the function's eleven
    # minutes.
    inspect_seconds_per_file: float = 180.0
    # True if the knowledge bases parse images: then a PDF of images alone is not defective.
    parses_images: bool = False
    ocr: OcrEngine = "none"  # for pages whose text is missing or garbled


@cache
def settings() -> InspectSettings:
    return InspectSettings.from_env()


@cache
def inspection() -> Inspection:
    return inspection_of(settings(), client)


def inspection_of(settings: InspectSettings, client: Callable[[str], Any]) -> Inspection:
    there = DocumentBuilder(settings=settings, client=client)
    return Inspection(
        files=there.files,
        texts=there.texts,
        keeping=there.text_keeping,
        catalogs=there.catalogs,
        documents=there.documents,
        inspections=there.inspections,
        requests=there.requests,
        extract=_reader(settings, client),
        ocr=settings.ocr,
    )


def _reader(
    settings: InspectSettings, client: Callable[[str], Any]
) -> Callable[[bytes, str], tuple[Page, ...] | None]:
    seconds, scans = settings.inspect_seconds_per_file, settings.parses_images
    if settings.ocr == "none":
        return partial(read_pages_apart, seconds=seconds, scans=scans)
    return PageOcr(
        extract=partial(read_pages_apart, seconds=seconds, ocr=True),
        pictures=pictures_of,
        recognition=TextractDetection(client=client("textract")),
        seconds=seconds,
        count=_count_pages,
    )


def _count_pages(read: int, failed: int) -> None:
    metrics.add_metric(name="OcrPages", unit=MetricUnit.Count, value=read)
    metrics.add_metric(name="OcrPagesFailed", unit=MetricUnit.Count, value=failed)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the failed messages as a partial batch response."""
    _, failed = handle_each(
        resend_by_user(event, logger=logger),
        inspect,
        logger=logger,
        time_left=context.get_remaining_time_in_millis,
        needed=round(READS * settings().inspect_seconds_per_file * 1000),
    )
    metrics.add_metric(name="InspectionsFailed", unit=MetricUnit.Count, value=len(failed))
    return response(failed)


def inspect(body: str) -> None:
    event = object_event(body)
    logger.append_keys(correlation_id=event.correlation_id)
    inspected = inspection().inspect(event.key)
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
