"""The same machine and handlers over the Bedrock simulator, which keeps AWS's limits."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest

from stackroom.aws import session
from stackroom_local.simulator.server import Configuration, Simulator
from tests.simulator.world import knowledge_base_request
from tests.workflow.world import World

KEY = "alice/research/report.txt"
OTHERS = "bob/letters/Q1 résumé (final)+v2.txt"
SPEED = 200.0
S3 = "https://s3.us-east-1.amazonaws.com"


@pytest.fixture
def endpoint(world: World, tmp_path: Path) -> Iterator[str]:
    # Its S3 is the tests' own: moto answers every boto3 client of this process.
    configuration = Configuration(data_dir=tmp_path, s3_endpoint=S3, speed=SPEED)
    with Simulator(configuration) as simulator:
        yield simulator.endpoint


@pytest.fixture
def knowledge_base_id(endpoint: str) -> str:
    vectors = boto3.client("s3vectors", endpoint_url=endpoint)
    vectors.create_vector_bucket(vectorBucketName="vectors")
    index = vectors.create_index(
        vectorBucketName="vectors",
        indexName=f"passages-{uuid4().hex[:8]}",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={
            "nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]
        },
    )
    agent = boto3.client("bedrock-agent", endpoint_url=endpoint)
    created = agent.create_knowledge_base(**knowledge_base_request(index["indexArn"]))
    return str(created["knowledgeBase"]["knowledgeBaseId"])


@pytest.fixture
def data_source_id(endpoint: str, knowledge_base_id: str) -> str:
    agent: Any = boto3.client("bedrock-agent", endpoint_url=endpoint)
    created = agent.create_data_source(
        knowledgeBaseId=knowledge_base_id,
        name="shared",
        dataSourceConfiguration={"type": "CUSTOM"},
    )
    return str(created["dataSource"]["dataSourceId"])


@pytest.fixture(autouse=True)
def simulated(
    endpoint: str, knowledge_base_id: str, data_source_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handlers call the simulator, and have its one knowledge base as their pool."""
    simulated: dict[str, Any] = {
        "bedrock-agent": boto3.client("bedrock-agent", endpoint_url=endpoint),
        "bedrock-agent-runtime": boto3.client("bedrock-agent-runtime", endpoint_url=endpoint),
    }

    def client(service: str) -> Any:
        return simulated.get(service) or session.client(service)

    monkeypatch.setattr("functions.ingest.deployed.client", client)
    monkeypatch.setattr("functions.status_poller.handler.client", client)
    member = {"knowledge_base_id": knowledge_base_id, "data_source_id": data_source_id}
    monkeypatch.setenv("KB_POOL", json.dumps([member]))
    monkeypatch.setenv("INGEST_SPEED", str(SPEED))


def passages(endpoint: str, knowledge_base_id: str, user_id: str) -> list[str]:
    runtime: Any = boto3.client("bedrock-agent-runtime", endpoint_url=endpoint)
    tenant = {"equals": {"key": "user_id", "value": user_id}}
    found = runtime.retrieve(
        knowledgeBaseId=knowledge_base_id,
        retrievalQuery={"text": "annual leave"},
        retrievalConfiguration={"vectorSearchConfiguration": {"filter": tenant}},
    )
    return [each["content"]["text"] for each in found["retrievalResults"]]


def test_two_users_share_a_knowledge_base_and_its_one_job(
    world: World, endpoint: str, knowledge_base_id: str
) -> None:
    world.drop(KEY, b"Annual leave is thirty days.")
    world.drop(OTHERS, b"Annual leave is twenty days.")

    executions = world.executions()

    assert {each.states[-1] for each in executions} == {"CatalogSettled"}
    assert [world.status(KEY), world.status(OTHERS)] == ["indexed", "indexed"]
    assert passages(endpoint, knowledge_base_id, "alice") == ["Annual leave is thirty days."]
    assert passages(endpoint, knowledge_base_id, "bob") == ["Annual leave is twenty days."]


def test_a_file_is_replaced_and_then_removed(
    world: World, endpoint: str, knowledge_base_id: str
) -> None:
    world.drop(KEY, b"Annual leave is thirty days.")
    world.executions()
    world.drop(KEY, b"Annual leave is forty days.")
    world.executions()
    replaced = passages(endpoint, knowledge_base_id, "alice")

    world.remove(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert replaced == ["Annual leave is forty days."]
    assert world.document(KEY) is None
    assert passages(endpoint, knowledge_base_id, "alice") == []


def test_a_catalog_on_the_shared_data_source_is_ingested_and_deleted_directly(
    world: World, endpoint: str, knowledge_base_id: str
) -> None:
    world.fill(knowledge_base_id)
    world.drop(KEY, b"Annual leave is thirty days.")
    world.drop(OTHERS, b"Annual leave is twenty days.")
    world.executions()
    before = [passages(endpoint, knowledge_base_id, user) for user in ("alice", "bob")]

    world.remove(KEY)

    assert {each.states[-1] for each in world.executions()} == {"CatalogSettled"}
    assert before == [["Annual leave is thirty days."], ["Annual leave is twenty days."]]
    assert passages(endpoint, knowledge_base_id, "alice") == []
    assert passages(endpoint, knowledge_base_id, "bob") == ["Annual leave is twenty days."]
    assert world.document(KEY) is None


def test_a_file_that_bedrock_cannot_read_fails_with_a_reason(world: World) -> None:
    world.drop("alice/research/broken.pdf", b"%PDF-1.7 and no more")
    world.drop(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    document = world.document("alice/research/broken.pdf")
    assert document is not None
    assert (document.status, bool(document.status_reason)) == ("failed", True)
    assert world.status(KEY) == "indexed"
