"""The function that a schedule invokes to keep knowledge bases warm."""

from collections.abc import Iterator
from typing import Any

import pytest

import functions.prewarm.handler as prewarm
from bedrock_kb_simulator.faults import Kind
from stackroom.errors import RetrievalFailed
from tests.functions.pipeline import Pipeline
from tests.functions.printed import Printed
from tests.support.lambda_context import Context

CONTEXT: Any = Context()


@pytest.fixture(autouse=True)
def anew(pipeline: Pipeline) -> Iterator[None]:
    prewarm.prewarming.cache_clear()
    yield
    prewarm.prewarming.cache_clear()


def test_prewarm_asks_the_pool_and_logs_how_long_it_took(
    pipeline: Pipeline, printed: Printed
) -> None:
    [knowledge_base_id] = pipeline.bedrock.shared

    answer = prewarm.handler({}, CONTEXT)

    [asked] = pipeline.bedrock.accepted("Retrieve")
    assert asked["knowledgeBaseId"] == knowledge_base_id
    assert printed.line("prewarmed")["milliseconds"] == answer
    assert list(answer) == [knowledge_base_id]


def test_prewarm_raises_what_lambda_counts_as_an_error(pipeline: Pipeline) -> None:
    pipeline.bedrock.fail("Retrieve", Kind.THROTTLE, times=9)

    with pytest.raises(RetrievalFailed, match="not pre-warmed"):
        prewarm.handler({}, CONTEXT)
