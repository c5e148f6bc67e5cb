"""A schedule's function: asks the knowledge bases that nobody has asked for a while."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field

from functions.observability import logger_for
from stackroom.aws.session import client
from stackroom.aws.settings import Pool, SearchSettings
from stackroom.aws.use_cases import UseCases
from stackroom.retrieval.prewarming import Prewarming

logger = logger_for("prewarm")


class PrewarmSettings(SearchSettings):
    kb_pool: Pool
    prewarm_minutes: Annotated[int, Field(ge=5, le=60)]


@cache
def prewarming() -> Prewarming:
    return UseCases.of(PrewarmSettings.from_env(), client).prewarming


@logger.inject_lambda_context(clear_state=True)
def handler(event: Any, context: LambdaContext) -> dict[str, int]:
    done = prewarming().prewarm()

    if done.failures:
        logger.warning("not warmed", failures=done.failures)
    logger.info("warmed", milliseconds=done.milliseconds)
    return {"warmed": len(done.milliseconds), "failed": len(done.failures)}
