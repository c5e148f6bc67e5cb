"""The schedule's function, against the simulator and a CloudWatch that holds what was printed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import functions.catalog_tools.handler as catalog_tools
import functions.prewarm.handler as function
import functions.retrieve.handler as retrieve
from bedrock_kb_simulator.disturbances import Kind
from stackroom.aws import session
from tests.functions.pipeline import Pipeline
from tests.functions.printed import Figure, Printed
from tests.functions.tools import GatewayContext, Tools
from tests.lambda_context import Context

ALICE = {"x-user-sub": "alice"}
Prewarm = Callable[[], dict[str, int]]


@pytest.fixture
def prewarm(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Prewarm:
    monkeypatch.setenv("PREWARM_MINUTES", "15")
    for cached in (function.prewarming, retrieve.retrieval, catalog_tools.use_cases):
        cached.cache_clear()
    handler: Any = function.handler
    return lambda: handler({}, Context(function_name="prewarm"))


def searches(pipeline: Pipeline) -> list[Any]:
    return [each.asked for each in pipeline.bedrock.calls if each.operation == "Retrieve"]


def found_by(asked: dict[str, Any]) -> list[str]:
    """What the same call answers."""
    answer = session.client("bedrock-agent-runtime").retrieve(**asked)
    return [each["content"]["text"] for each in answer["retrievalResults"]]


def published(figure: Figure, *, ago: timedelta) -> None:
    """To CloudWatch, as Lambda's log would have it there."""
    session.client("cloudwatch").put_metric_data(
        Namespace=figure.namespace,
        MetricData=[
            {
                "MetricName": figure.name,
                "Dimensions": [
                    {"Name": name, "Value": value} for name, value in figure.dimensions.items()
                ],
                "Value": figure.values[0],
                "Unit": figure.unit,
                "Timestamp": datetime.now(UTC) - ago,
            }
        ],
    )


def test_an_idle_knowledge_base_is_asked_and_finds_nothing(
    pipeline: Pipeline, tools: Tools, prewarm: Prewarm, printed: Printed
) -> None:
    tools.index(tools.create(), "leave.txt", "Is anybody there? Alice is.")
    before = len(searches(pipeline))

    answer = prewarm()

    [asked] = searches(pipeline)[before:]
    assert answer == {"warmed": 1, "failed": 0}
    assert list(printed.line("warmed")["milliseconds"]) == [asked["knowledgeBaseId"]]
    assert "Alice" not in str(printed.lines())
    assert found_by(asked) == []
    configuration = asked["retrievalConfiguration"]["vectorSearchConfiguration"]
    unfiltered = {name: each for name, each in configuration.items() if name != "filter"}
    everything = {"retrievalConfiguration": {"vectorSearchConfiguration": unfiltered}}
    assert found_by({**asked, **everything}) == ["Is anybody there? Alice is."]


@pytest.mark.parametrize(("minutes", "times"), [(14, 0), (17, 1)])
def test_what_the_tools_print_tells_that_it_is_not_idle(
    pipeline: Pipeline, prewarm: Prewarm, printed: Printed, minutes: int, times: int
) -> None:
    context = GatewayContext(headers=ALICE, tool="knowledge___knowledge_base_retrieve")
    assert retrieve.handler({"query": "annual leave"}, context)["success"]
    [figure] = printed.figures("ToolLatency")
    published(figure, ago=timedelta(minutes=minutes))
    before = len(searches(pipeline))

    prewarm()

    assert len(searches(pipeline)) - before == times


def test_a_knowledge_base_that_fails_is_told_in_the_log(
    pipeline: Pipeline, prewarm: Prewarm, printed: Printed
) -> None:
    [home] = pipeline.bedrock.shared
    for _ in range(2):  # the client tries twice
        pipeline.bedrock.fail("Retrieve", Kind.THROTTLE)

    answer = prewarm()

    assert answer == {"warmed": 0, "failed": 1}
    assert list(printed.line("not warmed")["failures"]) == [home]
