"""Gateway target `catalogs`: the ten catalog tools."""

from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.observability import NAMESPACE, logger_for
from stackroom.aws.session import client
from stackroom.aws.settings import AdmissionSettings, AnswerSettings
from stackroom.aws.use_cases import UseCases
from stackroom.catalog_tools.access import EVENT, Access
from stackroom.catalog_tools.calls import Calls, Response
from stackroom.identity import tool_call

logger = logger_for("catalog_tools")


class CatalogToolsSettings(AdmissionSettings, AnswerSettings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    state_machine_arn: str
    ingest_speed: float = 1.0
    retrieve_min_score: float = 0.0
    retrieve_first_page: int = 1


@cache
def use_cases() -> UseCases:
    return UseCases.of(CatalogToolsSettings.from_env(), client)


@logger.inject_lambda_context(clear_state=True)
def handler(event: Any, context: LambdaContext) -> Response:
    return Calls(services=use_cases(), log=report).answer(event, lambda: tool_call(context))


def report(access: Access) -> None:
    logger.info(EVENT, **asdict(access))
    with single_metric(
        name="ToolLatency",
        unit=MetricUnit.Milliseconds,
        value=access.latency_ms,
        namespace=NAMESPACE,
    ) as metric:
        metric.add_dimension(name="tool", value=access.tool)
        metric.add_dimension(name="outcome", value=access.outcome)
