"""Gateway target `catalogs`: the catalog tools."""

from functools import cache, partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_call, logger_for, metrics_for, report_embeddings
from stackroom.access.access_log import AccessWriter
from stackroom.access.identity import tool_call
from stackroom.app.function_settings import CatalogToolsSettings
from stackroom.app.tool_builder import ToolBuilder
from stackroom.aws.session import client
from stackroom.search.cached_embeddings import CacheTally
from stackroom.tools.calls import Calls, Response

logger = logger_for("catalog_tools")
metrics = metrics_for("catalog_tools")
cache_tally = CacheTally()


@cache
def use_cases() -> ToolBuilder:
    settings = CatalogToolsSettings.from_env()
    return ToolBuilder(settings=settings, client=client, cache_tally=cache_tally)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: Any, context: LambdaContext) -> Response:
    log = AccessWriter(logger, count=partial(count_call, logger.service))
    calls = Calls(services=use_cases(), log=log)
    response = calls.answer(event, lambda: tool_call(context))
    report_embeddings(cache_tally, metrics=metrics)
    return response
