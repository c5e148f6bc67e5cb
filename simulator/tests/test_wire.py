"""The wire protocol: real clients, modelled errors, rates, unsupported operations."""

import json
import math
from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import World, invalid

LONG = "x" * 50_001


@holds("request.not-simulated")
def test_unsupported_operation_is_refused_by_name(world: World) -> None:
    streamed = world.bedrock_runtime.invoke_model_with_response_stream

    assert "ListAgents" in invalid(world.agent.list_agents)
    assert "InvokeModelWithResponseStream" in invalid(streamed, modelId="any", body="{}")
    invoke = world.bedrock_runtime.invoke_model
    assert "does not offer InvokeModel of" in invalid(invoke, modelId="amazon.nova-lite", body="{}")


def test_titan_embeds_with_requested_dimensions_and_normalization(world: World) -> None:
    whole = titan(world)
    short, cut = (titan(world, dimensions=256, normalize=normal) for normal in (True, False))

    vectors = [each["embedding"] for each in (whole, short, cut)]
    assert list(map(len, vectors)) == [1024, 256, 256]
    assert list(map(length, vectors[:2])) == pytest.approx([1, 1])
    assert length(vectors[2]) < 0.95
    assert vectors[2] == pytest.approx(vectors[0][:256], abs=1e-6)
    assert whole["inputTextTokenCount"] == 3
    wrong = ({"inputText": ""}, {"dimensions": 384}, {"normalize": "yes"}, {"inputText": LONG})
    for request in wrong:
        invalid(lambda asked: titan(world, **asked), asked=request)


def titan(world: World, **request: Any) -> dict[str, Any]:
    body = json.dumps({"inputText": "A sentence.", **request})
    answer = world.bedrock_runtime.invoke_model(modelId="amazon.titan-embed-text-v2:0", body=body)
    embedded: dict[str, Any] = json.loads(answer["body"].read())
    return embedded


def length(vector: list[float]) -> float:
    return math.hypot(*vector)
