"""Tests of the function that a schedule invokes to keep knowledge bases warm."""

from collections.abc import Iterator
from typing import Any

import pytest

import functions.prewarm.handler as prewarm
from stackroom.access.tenancy import Nobody
from stackroom.errors import KnowledgeBaseThrottled, RetrievalFailed
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.functions.pipeline import Pipeline
from tests.functions.printed import Printed
from tests.support.lambda_context import Context

CONTEXT: Any = Context()


@pytest.fixture(autouse=True)
def anew(pipeline: Pipeline) -> Iterator[None]:
    prewarm.pool.cache_clear()
    yield
    prewarm.pool.cache_clear()


def test_prewarm_asks_the_pool_and_logs_how_long_it_took(
    pipeline: Pipeline, printed: Printed
) -> None:
    [knowledge_base_id] = pipeline.bedrock.shared

    answer = prewarm.handler({}, CONTEXT)

    [asked] = pipeline.bedrock.accepted("Retrieve")
    assert asked["knowledgeBaseId"] == knowledge_base_id
    assert printed.line("prewarmed")["milliseconds"] == answer
    assert list(answer) == [knowledge_base_id]


def test_prewarming_failure_is_raised_after_all_were_asked() -> None:
    broken = FakeKnowledgeBase(failure=KnowledgeBaseThrottled("Retrieve"))
    pool = {"KB1": broken, "KB2": FakeKnowledgeBase()}

    with pytest.raises(RetrievalFailed, match="not pre-warmed: KB1: Retrieve") as raised:
        prewarm.prewarm_pool(pool)

    assert list(raised.value.failures) == ["KB1"]
    assert pool["KB2"].filters == [Nobody().filter()]
