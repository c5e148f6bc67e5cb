"""The function of a schedule: it asks each knowledge base of the pool, so that none is cold."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import logger_for
from stackroom.search.prewarming import Prewarming
from stackroom.wiring.adapters import Deployment
from stackroom.wiring.function_settings import Pool, SearchSettings

logger = logger_for("prewarm")


class PrewarmSettings(SearchSettings):
    kb_pool: Pool


@cache
def prewarming() -> Prewarming:
    deployment = Deployment(settings=PrewarmSettings.from_env())
    ids = [member.knowledge_base_id for member in deployment.pool]
    return Prewarming(pool={each: deployment.knowledge_base(each) for each in ids})


@logger.inject_lambda_context(clear_state=True)
def handler(event: Any, context: LambdaContext) -> dict[str, int]:
    milliseconds = prewarming().prewarm()

    logger.info("prewarmed", milliseconds=milliseconds)
    return milliseconds
