"""
The function of a schedule: it asks each knowledge base of the pool, so that an agent's next
question finds a warm index.

S3 Vectors answers cold queries in less than a second and warm ones in as little as 100 ms [S3 user
guide: s3-vectors-best-practices]. That a query behind a filter that nothing passes warms an index
is an assumption, and AWS doesn't say when an index cools down: the times that are logged show
whether pre-warming is worth its price. [assumed: index.query-warms]
"""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import logger_for
from stackroom.access.tenancy import Nobody
from stackroom.app.deployment import Deployment
from stackroom.app.function_settings import Pool, SearchSettings
from stackroom.errors import RetrievalFailed, StackroomError
from stackroom.model.passages import KnowledgeBase

logger = logger_for("prewarm")

_QUESTION = "Is anybody there?"


class PrewarmSettings(SearchSettings):
    kb_pool: Pool


@cache
def pool() -> dict[str, KnowledgeBase]:
    deployment = Deployment(settings=PrewarmSettings.from_env())
    ids = [member.knowledge_base_id for member in deployment.pool]
    return {each: deployment.knowledge_base(each) for each in ids}


@logger.inject_lambda_context(clear_state=True)
def handler(event: Any, context: LambdaContext) -> dict[str, int]:
    milliseconds = prewarmed(pool())

    logger.info("prewarmed", milliseconds=milliseconds)
    return milliseconds


def prewarmed(pool: Mapping[str, KnowledgeBase]) -> dict[str, int]:
    """
    Ask each knowledge base a question that finds nothing, and return the milliseconds that each
    took, by id.

    They are asked one after the other, because Retrieve's rate is for those who want an answer.
    Raises RetrievalFailed if any failed, after all others have been asked.
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
        problem = "; ".join(f"{each}: {why}" for each, why in failures.items())
        raise RetrievalFailed(f"not pre-warmed: {problem}", failures)
    return milliseconds
