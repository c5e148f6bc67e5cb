"""The wire protocol: real clients, modelled errors, rates, unsupported operations."""

import json
import math
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import World, at, invalid, refused

LONG = "x" * 50_001


def test_response_has_a_request_id_and_health_is_plain_http(world: World) -> None:
    answer = world.s3vectors.list_vector_buckets()
    with urllib.request.urlopen(f"{world.endpoint}/health") as health:
        body = health.read()

    assert len(answer["ResponseMetadata"]["RequestId"]) == 36
    assert body == b"ok"


@holds("request.not-found")
def test_error_is_the_modelled_exception(world: World) -> None:
    error = refused(world.agent.get_knowledge_base, knowledgeBaseId="NOSUCHBASE")

    assert error["Code"] == "ResourceNotFoundException"
    assert issubclass(world.agent.exceptions.ResourceNotFoundException, Exception)
    assert "NOSUCHBASE" in error["Message"]


@holds("request.not-simulated")
def test_unsupported_operation_is_refused_by_name(world: World) -> None:
    streamed = world.bedrock_runtime.invoke_model_with_response_stream

    assert "ListAgents" in invalid(world.agent.list_agents)
    assert "InvokeModelWithResponseStream" in invalid(streamed, modelId="any", body="{}")
    invoke = world.bedrock_runtime.invoke_model
    assert "does not offer InvokeModel of" in invalid(invoke, modelId="amazon.nova-lite", body="{}")


@holds("rate.GetKnowledgeBase", "rate.Retrieve", "rate.StartIngestionJob", "rate.exceeded")
def test_every_rate_is_counted_for_the_account(world_at: Callable[..., World]) -> None:
    world = world_at(0.005)
    knowledge_base, source = world.pair()
    missing = {"knowledgeBaseId": "NOSUCHBASE"}
    for _ in range(10):
        world.agent.get_knowledge_base(knowledgeBaseId=knowledge_base)
    for _ in range(20):
        world.search(knowledge_base, "anything")
    world.agent.start_ingestion_job(**at(knowledge_base, source))

    errors = [
        refused(world.agent.get_knowledge_base, **missing),
        refused(world.runtime.retrieve, **missing, retrievalQuery={"text": "more"}),
        refused(world.agent.start_ingestion_job, **missing, dataSourceId="NOSUCHSRCE"),
    ]

    assert [error["Code"] for error in errors] == ["ThrottlingException"] * 3


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
