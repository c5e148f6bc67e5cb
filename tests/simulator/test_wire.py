"""The wire: real clients, modelled errors, rates, and what is not offered."""

import json
import math
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, refused


def test_answers_carry_a_request_id_and_health_is_plain_http(world: World) -> None:
    answer = world.s3vectors.list_vector_buckets()
    with urllib.request.urlopen(f"{world.endpoint}/health") as health:
        body = health.read()

    assert len(answer["ResponseMetadata"]["RequestId"]) == 36
    assert body == b"ok"


@holds("request.not-found")
def test_errors_are_the_modelled_exceptions(world: World) -> None:
    error = refused(world.agent.get_knowledge_base, knowledgeBaseId="NOSUCHBASE")

    assert error["Code"] == "ResourceNotFoundException"
    assert issubclass(world.agent.exceptions.ResourceNotFoundException, Exception)
    assert "NOSUCHBASE" in error["Message"]


@holds("request.not-simulated")
def test_an_operation_that_is_not_offered_says_so(world: World) -> None:
    error = refused(world.agent.list_agents)

    assert error["Code"] == "ValidationException"
    assert "ListAgents" in error["Message"]


def test_requests_without_a_signature_are_routed_by_their_path(world: World) -> None:
    request = urllib.request.Request(
        f"{world.endpoint}/knowledgebases/",
        data=b"{}",
        headers={"Content-Type": "application/json"},
    )

    with urllib.request.urlopen(request) as response:
        answer = json.load(response)

    assert "knowledgeBaseSummaries" in answer


@holds("rate.StartIngestionJob", "rate.exceeded")
def test_a_job_is_started_once_in_ten_seconds(world_at: Callable[[float], World]) -> None:
    world = world_at(1)
    knowledge_base = world.knowledge_base()
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": world.data_source(knowledge_base)}
    world.agent.start_ingestion_job(**key)

    error = refused(world.agent.start_ingestion_job, **key)

    assert error["Code"] == "ThrottlingException"


@holds("rate.GetKnowledgeBase", "rate.exceeded")
def test_every_rate_is_counted_for_the_account(world_at: Callable[[float], World]) -> None:
    world = world_at(0.05)
    knowledge_base = world.knowledge_base()
    for _ in range(10):
        world.agent.get_knowledge_base(knowledgeBaseId=knowledge_base)

    error = refused(world.agent.get_knowledge_base, knowledgeBaseId="NOSUCHBASE")

    assert error["Code"] == "ThrottlingException"


@pytest.mark.parametrize("dimensions", [256, 512, 1024])
def test_titan_embeds_with_the_dimensions_that_are_asked_for(world: World, dimensions: int) -> None:
    embedded = titan(world, dimensions=dimensions)

    assert len(embedded["embedding"]) == dimensions
    assert length(embedded["embedding"]) == pytest.approx(1)
    assert embedded["inputTextTokenCount"] == 3


def test_titan_leaves_a_vector_as_long_as_it_is_where_that_is_asked_for(world: World) -> None:
    whole = titan(world)["embedding"]
    part = titan(world, dimensions=256, normalize=False)["embedding"]

    assert len(whole) == 1024
    assert length(part) < 0.95
    assert part == pytest.approx(whole[:256], abs=1e-6)


@pytest.mark.parametrize(
    "request_",
    [{"inputText": ""}, {"dimensions": 384}, {"normalize": "yes"}, {"inputText": "x" * 50_001}],
)
def test_titan_refuses_what_it_can_not_embed(world: World, request_: dict[str, Any]) -> None:
    error = refused(lambda: titan(world, **request_))

    assert error["Code"] == "ValidationException"


@pytest.mark.parametrize("body", [b'{"maxResults": NaN}', b'{"maxResults": 1e999}', b"[]", b"5"])
def test_a_body_that_can_not_be_read_is_told_as_the_protocol_does(
    world: World, body: bytes
) -> None:
    request = urllib.request.Request(
        f"{world.endpoint}/knowledgebases/",
        data=body,
        headers={"Content-Type": "application/json"},
    )

    with pytest.raises(urllib.error.HTTPError) as refusal, urllib.request.urlopen(request):
        pass

    with refusal.value as answer:
        assert answer.code == 400
        assert answer.headers["X-Amzn-Errortype"] == "SerializationException"


def titan(world: World, **request: Any) -> dict[str, Any]:
    body = json.dumps({"inputText": "A sentence.", **request})
    answer = world.bedrock_runtime.invoke_model(modelId="amazon.titan-embed-text-v2:0", body=body)
    embedded: dict[str, Any] = json.loads(answer["body"].read())
    return embedded


def length(vector: list[float]) -> float:
    return math.hypot(*vector)
