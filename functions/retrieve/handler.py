"""Gateway target `knowledge`: the tool `knowledge_base_retrieve`."""

import time
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, cast

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_call, logger_for, metrics_for, report_embeddings
from stackroom.access.access_log import SUCCESS, AccessWriter, access_of, documents_of
from stackroom.access.identity import ToolCall, tool_call
from stackroom.access.tool import encodable, require_tool
from stackroom.app.function_settings import RetrieveSettings
from stackroom.app.search_builder import SearchBuilder
from stackroom.aws.session import client
from stackroom.clock import Deadline
from stackroom.errors import MissingIdentity, RetrievalFailed, ValidationError
from stackroom.model.formats import extension_of
from stackroom.search.cached_embeddings import CacheTally
from stackroom.search.metered import MeteredRetrieval
from stackroom.search.results import Response, failure, knowledge_base_retrieve
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE

logger = logger_for("retrieve")
metrics = metrics_for("retrieve")
write_access = AccessWriter(logger, count=partial(count_call, logger.service))
cache_tally = CacheTally()
_TO_ANSWER = 1.0  # seconds


@cache
def retrieval() -> MeteredRetrieval:
    settings = RetrieveSettings.from_env()
    return SearchBuilder(
        settings=settings, client=client, cache_tally=cache_tally
    ).metered_retrieval


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: Any, context: LambdaContext) -> Response:
    started = time.perf_counter()
    call, answered = _respond(event, context)
    response: Response = encodable(answered)

    _log_access(call, event, response, seconds=time.perf_counter() - started)
    _report(response)
    return response


def _respond(event: Any, context: LambdaContext) -> tuple[ToolCall | None, Response]:
    """Return the call and its response; never raise, or the gateway shows only "internal error"."""
    call = None
    try:
        call = tool_call(context)
        require_tool(call.tool, [KNOWLEDGE_BASE_RETRIEVE])
        return call, knowledge_base_retrieve(
            event, caller=call.caller, retrieval=retrieval(), deadline=_deadline(context)
        )
    except (MissingIdentity, ValidationError) as error:
        return call, failure(error)
    except Exception:
        logger.exception("broke")
        problem = "the search failed; the reason is in the function's log"
        return call, failure(RetrievalFailed(problem))


def _deadline(context: LambdaContext) -> Deadline:
    """Return the function's remaining time, less what sending the response takes."""
    return Deadline.after(context.get_remaining_time_in_millis() / 1000 - _TO_ANSWER)


def _log_access(call: ToolCall | None, event: Any, response: Response, *, seconds: float) -> None:
    access = access_of(
        call,
        tools=(KNOWLEDGE_BASE_RETRIEVE.name,),
        outcome=str(response.get("errorType", SUCCESS)),
        seconds=seconds,
        named_in=(event,),
        shown=documents_of(response),
    )
    write_access(access)


def _report(response: Response) -> None:
    report_embeddings(cache_tally, metrics=metrics)
    metadata = _metadata(response)
    if not response["success"]:
        logger.warning("refused", error_type=response["errorType"], **metadata)
        return
    logger.info("retrieved", **metadata)
    metrics.add_metric(
        name="RetrieveResults", unit=MetricUnit.Count, value=metadata["total_results"]
    )
    if notices := metadata.get("search_notices"):
        metrics.add_metric(name="SearchNotices", unit=MetricUnit.Count, value=len(notices))
    if withheld := metadata.get("withheld_results"):
        metrics.add_metric(name="PassagesWithheld", unit=MetricUnit.Count, value=withheld)
    results = cast("list[Mapping[str, Any]]", response["results"])
    if unplaced := sum(map(_has_no_page, results)):
        metrics.add_metric(name="PassagesWithoutPage", unit=MetricUnit.Count, value=unplaced)


def _has_no_page(result: Mapping[str, Any]) -> bool:
    """Return True if a passage is of a PDF in a catalog and was not found in the PDF's text."""
    source = result["source"]
    is_of_pdf = extension_of(source["filename"] or "") == "pdf" and source["catalog_id"] is not None
    return is_of_pdf and source["page"] is None


def _metadata(response: Response) -> dict[str, Any]:
    metadata = response["metadata"]
    assert isinstance(metadata, Mapping), "every response has metadata"
    return dict(metadata)
