"""
Target `opensearch` of an existing gateway: `knowledge_base_retrieve` over an existing collection.

It has no tenants: everybody whom the gateway lets call it finds all that the index holds, and the
configuration must say so.
"""

import time
from collections.abc import Mapping
from functools import cache, partial
from typing import Annotated, Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import AfterValidator

from functions.telemetry import count_call, logger_for, metrics_for
from stackroom.access.access_log import SUCCESS, AccessWriter, access_of, documents_of
from stackroom.access.identity import called_tool
from stackroom.access.tool import encodable, require_tool
from stackroom.app.function_settings import FittingSettings
from stackroom.aws.session import client
from stackroom.clock import Deadline
from stackroom.errors import MissingIdentity, RetrievalFailed, ValidationError
from stackroom.search.linked_retrieval import (
    RETRIEVE_FOR_EVERYONE,
    LinkedRetrieval,
    retrieve_for_everyone,
)
from stackroom.search.results import Response, failure
from stackroom_stores.linked_knowledge_bases import linked_retrieval, linked_settings
from stackroom_stores.opensearch.opensearch_entry import OpenSearchSettings

logger = logger_for("opensearch_retrieve")
metrics = metrics_for("opensearch_retrieve")
write_access = AccessWriter(logger, count=partial(count_call, logger.service))
_TO_ANSWER = 1.0  # seconds


def _shared_entry(text: str) -> str:
    """
    Return the text if it is one shared entry of a collection: no target's header is trusted here.
    """
    entries = linked_settings(text)
    if len(entries) != 1 or not isinstance(entries[0], OpenSearchSettings):
        raise ValueError("must be one entry of OPENSEARCH_SERVERLESS with a collectionEndpoint")
    if entries[0].tenancy != "shared" or entries[0].enable_acl:
        raise ValueError("must say tenancy shared, and no enableAcl: this function has no tenants")
    return text


class OpenSearchRetrieveSettings(FittingSettings):
    knowledge_bases_config: Annotated[str, AfterValidator(_shared_entry)]


@cache
def retrieval() -> LinkedRetrieval:
    settings = OpenSearchRetrieveSettings.from_env()
    entries = linked_settings(settings.knowledge_bases_config)
    return linked_retrieval(entries, client, budget=settings.budget)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: Any, context: LambdaContext) -> Response:
    started = time.perf_counter()
    searched = retrieval()  # raises if the configuration is wrong: then no call is answered
    response: Response = encodable(_respond(event, context, searched))

    _report(response, seconds=time.perf_counter() - started)
    return response


def _respond(event: Any, context: LambdaContext, searched: LinkedRetrieval) -> Response:
    """Return the tool's response; never raise, or the gateway shows only "internal error"."""
    try:
        require_tool(called_tool(context), [RETRIEVE_FOR_EVERYONE])
        seconds = context.get_remaining_time_in_millis() / 1000 - _TO_ANSWER
        return retrieve_for_everyone(event, retrieval=searched, deadline=Deadline.after(seconds))
    except (MissingIdentity, ValidationError) as error:
        return failure(error)
    except Exception:
        logger.exception("broke")
        return failure(RetrievalFailed("the search failed; the reason is in the function's log"))


def _report(response: Response, *, seconds: float) -> None:
    outcome = str(response.get("errorType", SUCCESS))
    access = access_of(
        None,
        tools=(),
        outcome=outcome,
        seconds=seconds,
        named_in=(),
        shown=documents_of(response),
        otherwise=RETRIEVE_FOR_EVERYONE.name,
    )
    write_access(access)
    metadata = response["metadata"]
    assert isinstance(metadata, Mapping), "every response has metadata"
    if outcome != SUCCESS:
        logger.warning("refused", error_type=outcome, **metadata)
        return
    logger.info("retrieved", **metadata)
    metrics.add_metric(
        name="RetrieveResults", unit=MetricUnit.Count, value=metadata["total_results"]
    )
