"""An agent's search in an S3 Vectors index that plain boto3 filled, from entry to answer."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.world import guardrail_request
from stackroom.access.identity import Caller
from stackroom.aws.session import client
from stackroom.search.results import retrieve_from_knowledge_base
from stackroom_local.clients import endpoint_variables
from stackroom_stores.linked_knowledge_bases import linked_retrieval, linked_settings
from tests.workflow.functions import forget_clients

pytestmark = pytest.mark.processes

NOWHERE = "http://127.0.0.1:9"  # nothing of S3's own is asked for
ANN, BOB = Caller("ann"), Caller("bob")
# Whose, from where, the text, and what else its makers note.
PARTS: tuple[tuple[str | None, str, str, dict[str, Any]], ...] = (
    ("ann", "https://parts.test/pump", "Grease the pump every 200 hours.", {"kind": "care"}),
    ("ann", "manuals/valve.pdf", "The valve wants no grease.", {"kind": "care", "teams": ["hr"]}),
    ("bob", "s3://parts/pump.pdf", "Bob's pump costs 90 euros.", {"kind": "price"}),
    (None, "leaflet", "A pump for everyone.", {"kind": "price"}),
)


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("simulator")
    with (
        pytest.MonkeyPatch.context() as patch,
        Simulator(Configuration(data_dir=folder, s3_endpoint=NOWHERE)) as running,
    ):
        for name, value in {
            **endpoint_variables(NOWHERE, running.endpoint),
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        forget_clients()
        yield running.endpoint
        forget_clients()


@pytest.fixture(scope="module")
def index(simulator: str) -> str:
    """Create and fill the index as somebody without Bedrock does."""
    assert simulator, "it answers for S3 Vectors"
    # The types of the client are older than text search.
    vectors: Any = boto3.client("s3vectors")
    bucket = f"parts-{uuid4().hex}"
    vectors.create_vector_bucket(vectorBucketName=bucket)
    made: str = vectors.create_index(
        vectorBucketName=bucket,
        indexName="parts",
        dataType="float32",
        dimension=512,
        distanceMetric="cosine",
        metadataConfiguration={
            "nonFilterableMetadataKeys": ["body"],
            "textSearchConfigurations": [{"metadataKey": "body"}],
        },
    )["indexArn"]
    vectors.put_vectors(
        indexArn=made,
        vectors=[
            {
                "key": str(number),
                "data": {"float32": embedded(text)},
                "metadata": {"body": text, "from": source, **owned_by(owner), **noted},
            }
            for number, (owner, source, text, noted) in enumerate(PARTS)
        ],
    )
    return made


def owned_by(owner: str | None) -> dict[str, str]:
    return {} if owner is None else {"customer": owner}


def embedded(text: str) -> list[float]:
    answer = boto3.client("bedrock-runtime").invoke_model(
        modelId="amazon.titan-embed-text-v2:0",
        body=json.dumps({"inputText": text, "dimensions": 512, "normalize": True}),
    )
    vector: list[float] = json.loads(answer["body"].read())["embedding"]
    return vector


def search_as_agent(index: str, caller: Caller | None = None, **members: Any) -> dict[str, Any]:
    """Search as an agent that has the index."""
    entry = {
        "knowledgeBaseId": "parts",
        "name": "Parts",
        "description": "Spare parts.",
        "vectorStoreType": "S3_VECTORS_DIRECT",
        "tenancy": "shared",
        "indexArn": index,
        "textKey": "body",
        "sourceKey": "from",
        "embeddingDimensions": 512,
        **members,
    }
    retrieval = linked_retrieval(linked_settings(json.dumps([entry])), client)
    answer: dict[str, Any] = retrieve_from_knowledge_base(
        {"query": "How is the pump greased?"}, caller=caller, retrieval=retrieval
    )
    return answer


def contents(answer: dict[str, Any]) -> set[str]:
    assert answer["success"], answer
    return {result["content"] for result in answer["results"]}


OF_ANN = {text for owner, _, text, _ in PARTS if owner == "ann"}
OF_USERS: dict[str, Any] = {"tenancy": "user", "tenantKey": "customer"}


def test_user_index_returns_each_caller_only_their_own_documents(index: str) -> None:
    assert contents(search_as_agent(index, ANN, **OF_USERS)) == OF_ANN
    assert contents(search_as_agent(index, BOB, **OF_USERS)) == {"Bob's pump costs 90 euros."}
    assert contents(search_as_agent(index, Caller("mallory"), **OF_USERS)) == set()
    assert search_as_agent(index, **OF_USERS)["errorType"] == "MissingIdentity"


def test_configured_filter_applies_to_every_search(index: str) -> None:
    care: Any = {"retrievalFilter": {"notEquals": {"key": "kind", "value": "price"}}}
    of_bob: Any = {"retrievalFilter": {"equals": {"key": "customer", "value": "bob"}}}

    assert contents(search_as_agent(index, **care)) == OF_ANN
    assert contents(search_as_agent(index, ANN, **OF_USERS, **of_bob)) == set()


def test_own_index_applies_guardrail_and_reranking_model(
    index: str,
) -> None:
    policies = guardrail_request(words=["greased"])
    guardrail = boto3.client("bedrock").create_guardrail(**policies)["guardrailId"]
    model = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"

    blocked = search_as_agent(index, guardrailId=guardrail)
    ranked = search_as_agent(index, reranking={"modelArn": model, "numberOfRerankedResults": 2})

    assert (blocked["results"], blocked["metadata"]["guardrail_action"]) == ([], "INTERVENED")
    assert len(ranked["results"]) == 2
    assert ranked["results"][0]["content"] == "Grease the pump every 200 hours."
    assert ranked["metadata"]["search"] == "hybrid+rerank"
