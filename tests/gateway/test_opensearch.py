"""
From a client of MCP to a collection: the stack as synthesised, its function, and the stand-ins.

What differs from AWS: the collection's and the model's addresses, and where the function's
credentials come from. All else is the template's: environment, policy, target, schema.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom.aws.opensearch.layout import creation
from stackroom_local.gateway.client import call_tool, list_tools
from stackroom_local.simulator.opensearch.signatures import Principal
from stackroom_local.simulator.server import Configuration, Simulator
from tests.contract.stores.meaning import vector
from tests.gateway.serving import RunningGateway, serving
from tests.infra.assembly import Assembly
from tests.infra.opensearch import ROLE, synthesised
from tests.simulator.collection import PRINCIPALS, REGION, Collection

pytestmark = [pytest.mark.processes, pytest.mark.slow]
TOOL = "opensearch___knowledge_base_retrieve"
CHUNKS: list[tuple[str, dict[str, Any]]] = [
    ("The ledgers of a year are closed in May.", {"domain": "finance", "taxonomy": "GL"}),
    ("Invoices are paid within thirty days.", {"domain": "finance", "taxonomy": "AP"}),
    ("Employees have thirty days of annual leave.", {"domain": "hr", "taxonomy": "leave"}),
]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    return synthesised(tmp_path_factory.mktemp("opensearch"))


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    function = Principal(arn=ROLE, secret_key="of-function")
    configuration = Configuration(
        data_dir=tmp_path_factory.mktemp("simulator"),
        s3_endpoint="http://127.0.0.1:1",
        speed=100.0,
        principals={**PRINCIPALS, "function": function},
    )
    with Simulator(configuration) as simulator:
        made = Collection.at(simulator.endpoint)
        documents: list[dict[str, Any]] = [
            {
                "text": text,
                "vector": list(map(float, vector(text, 256))),
                "metadata": {
                    **about,
                    "source": f"s3://docs/{number}.pdf",
                    "chunk_id": f"c-{number}",
                },
            }
            for number, (text, about) in enumerate(CHUNKS)
        ]
        made.fill("knowledge-base", creation(), documents)
        yield made
        made.close()


@pytest.fixture(scope="module")
def gateway(
    stack: Assembly, collection: Collection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningGateway]:
    target = _target(stack, collection)
    folder: Path = tmp_path_factory.mktemp("gateway")
    with serving(folder, targets=[target], interceptor=None, policy_engine=None) as running:
        yield running


def _target(stack: Assembly, collection: Collection) -> dict[str, Any]:
    [function] = stack.all("opensearch", "AWS::Lambda::Function")
    [target] = stack.all("opensearch", "AWS::BedrockAgentCore::GatewayTarget")
    [tool] = target.properties["TargetConfiguration"]["Mcp"]["Lambda"]["ToolSchema"][
        "InlinePayload"
    ]
    variables = dict(function.properties["Environment"]["Variables"])
    [entry] = json.loads(variables["KNOWLEDGE_BASES_CONFIG"])
    entry["collectionEndpoint"] = collection.endpoint
    return {
        "name": target.properties["Name"],
        "target_id": "TGT1234567",
        "allowed_request_headers": [],
        "function": {
            "name": "opensearch-retrieve",
            "handler": function.properties["Handler"],
            "timeout_seconds": function.properties["Timeout"],
            "memory": function.properties["MemorySize"],
            "environment": {
                **variables,
                "KNOWLEDGE_BASES_CONFIG": json.dumps([entry]),
                "AWS_ACCESS_KEY_ID": "function",
                "AWS_SECRET_ACCESS_KEY": "of-function",
                "AWS_DEFAULT_REGION": REGION,
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": collection.simulator,
            },
        },
        "tools": [
            {
                "name": tool["Name"],
                "description": tool["Description"],
                "inputSchema": _lowered(tool["InputSchema"]),
            }
        ],
    }


def _lowered(schema: dict[str, Any]) -> dict[str, Any]:
    told = {name.lower(): value for name, value in schema.items()}
    if "properties" in told:
        told["properties"] = {name: _lowered(each) for name, each in told["properties"].items()}
    return told


def _call(gateway: RunningGateway, **arguments: Any) -> Any:
    return call_tool(gateway.url, gateway.issuer.mint("alice"), TOOL, arguments)


def test_a_gateway_searches_a_collection_once_the_stacks_policy_is_there(
    stack: Assembly, collection: Collection, gateway: RunningGateway
) -> None:
    before = _call(gateway, query="When are the ledgers closed?")

    [access] = stack.all("opensearch", "AWS::OpenSearchServerless::AccessPolicy")
    policy = access.properties["Policy"].replace("{account}", "000000000000")
    policy = policy.replace("{region}", REGION).replace("finance-docs", collection.name)
    collection.put_policy(policy)
    after = _call(gateway, query="When are the ledgers closed?", top_k=1)

    assert (before["success"], before["errorType"]) == (False, "RetrievalFailed")
    assert "data access policy" in before["metadata"]["failed_knowledge_bases"][0]["reason"]
    [result] = after["results"]
    assert result["content"] == "The ledgers of a year are closed in May."
    assert result["score"] > 0.55
    assert result["source"]["uri"] == "s3://docs/0.pdf"
    assert result["metadata"] == {
        "domain": "finance",
        "taxonomy": "GL",
        "source": "s3://docs/0.pdf",
        "chunk_id": "c-0",
    }
    filtered = _call(gateway, query="thirty days", filter={"domain": "finance", "taxonomy": "AP"})
    assert [each["metadata"]["chunk_id"] for each in filtered["results"]] == ["c-1"]
    assert all(each["score"] >= 0.55 for each in filtered["results"])
    far = _call(gateway, query="zebras and quarks at sea")
    assert all(each["score"] >= 0.55 for each in far["results"])
    wrong = _call(gateway, query="thirty days", top_k=99)
    assert (wrong["success"], wrong["errorType"]) == (False, "ValidationError")


def test_the_gateway_lists_the_one_tool(gateway: RunningGateway) -> None:
    [tool] = list_tools(gateway.url, gateway.issuer.mint("alice"))

    assert tool["name"] == TOOL
    assert tool["inputSchema"]["required"] == ["query"]
