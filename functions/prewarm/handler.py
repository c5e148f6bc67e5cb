"""
Scheduled function that queries each knowledge base of the pool, so that indexes stay warm.

S3 Vectors answers cold queries in less than a second and warm ones in as little as 100 ms [S3 user
guide: s3-vectors-best-practices]. That a query behind a filter that nothing passes warms an index
is an assumption, and AWS doesn't say when an index cools down: the logged times show whether
pre-warming is worth its price. [assumed: index.query-warms]
"""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import logger_for
from stackroom.access.tenancy import Nobody
from stackroom.app.function_settings import Pool, SearchSettings
from stackroom.app.pool_builder import PoolBuilder
from stackroom.errors import RetrievalFailed, StackroomError
from stackroom.model.passages import KnowledgeBase

logger = logger_for("prewarm")

_QUESTION = "Is anybody there?"


class PrewarmSettings(SearchSettings):
    kb_pool: Pool


@cache
def pool() -> dict[str, KnowledgeBase]:
    deployment = PoolBuilder(settings=PrewarmSettings.from_env())
    ids = [member.knowledge_base_id for member in deployment.pool]
    return {each: deployment.knowledge_base(each) for each in ids}


@logger.inject_lambda_context(clear_state=True)
def handler(event: Any, context: LambdaContext) -> dict[str, int]:
    milliseconds = prewarm_pool(pool())

    logger.info("prewarmed", milliseconds=milliseconds)
    return milliseconds


def prewarm_pool(pool: Mapping[str, KnowledgeBase]) -> dict[str, int]:
    """
    Query each knowledge base without finding anything; return the milliseconds of each, by id.

    The queries run one after the other, to leave Retrieve's request rate to users. Raises
    RetrievalFailed if any failed, after all others ran.
    """
    milliseconds: dict[str, int] = {}
    failures: dict[str, str] = {}
    for knowledge_base_id, knowledge_base in pool.items():
        started = time.perf_counter()
        try:
            knowledge_base.retrieve(_QUESTION, Nobody().filter(), 1)
        except StackroomError as error:
            failures[knowledge_base_id] = str(error)
        else:
            milliseconds[knowledge_base_id] = round((time.perf_counter() - started) * 1000)
    if failures:
        problem = "; ".join(f"{each}: {reason}" for each, reason in failures.items())
        raise RetrievalFailed(f"not pre-warmed: {problem}", failures)
    return milliseconds
