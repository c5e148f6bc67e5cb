"""
From a client of MCP to a collection: the stack as synthesised, its function, and the stand-ins.

The collection is filled as the example does it. What differs from AWS: the collection's and the
model's addresses, and where the function's credentials come from. All else is the template's:
environment, policy, target, schema.
"""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from bedrock_kb_simulator.server import Configuration, Simulator
from tests.gateway.mcp_client import call_tool, list_tools
from tests.gateway.serving import RunningGateway, serving
from tests.infra.assembly import Assembly
from tests.infra.opensearch import ROLE, cached_assembly
from tests.opensearch.collection import PRINCIPALS, Collection, mounted
from tests.opensearch.stand_in import REGION, Principal

pytestmark = [pytest.mark.processes, pytest.mark.slow]
TOOL = "opensearch___knowledge_base_retrieve"
EXAMPLE = Path(__file__).parents[2] / "examples" / "opensearch" / "fill.py"


@pytest.fixture(scope="module")
def stack() -> Assembly:
    return cached_assembly()


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    function = Principal(arn=ROLE, secret_key="of-function")
    configuration = Configuration(
        data_dir=tmp_path_factory.mktemp("simulator"),
        s3_endpoint="http://127.0.0.1:1",
        speed=100.0,
        mounted=mounted({**PRINCIPALS, "function": function}),
    )
    with Simulator(configuration) as simulator:
        made = Collection.at(simulator.endpoint)
        bedrock = boto3.client(
            "bedrock-runtime",
            endpoint_url=simulator.endpoint,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        passages = EXAMPLE.with_name("passages.jsonl")
        fill = runpy.run_path(str(EXAMPLE))["fill"]
        assert fill(made.client("writer"), bedrock, "knowledge-base", passages, 256) == 3
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
    [tool] = list_tools(gateway.url, gateway.issuer.mint("alice"))
    before = _call(gateway, query="When are the ledgers closed?")

    [access] = stack.all("opensearch", "AWS::OpenSearchServerless::AccessPolicy")
    policy = access.properties["Policy"].replace("{account}", "000000000000")
    policy = policy.replace("{region}", REGION).replace("finance-docs", collection.name)
    collection.put_policy(policy)
    after = _call(gateway, query="When are the ledgers closed?", top_k=1)

    assert (tool["name"], tool["inputSchema"]["required"]) == (TOOL, ["query"])
    assert (before["success"], before["errorType"]) == (False, "RetrievalFailed")
    assert "data access policy" in before["metadata"]["failed_knowledge_bases"][0]["reason"]
    [result] = after["results"]
    assert result["content"] == "The ledgers of a year are closed in May."
    assert result["score"] > 0.55
    assert result["source"]["uri"] == "s3://docs/closing.pdf"
    assert result["metadata"] == {
        "domain": "finance",
        "taxonomy": "GL",
        "source": "s3://docs/closing.pdf",
        "chunk_id": "closing-1",
    }
    filtered = _call(gateway, query="thirty days", filter={"domain": "finance", "taxonomy": "AP"})
    assert [each["metadata"]["chunk_id"] for each in filtered["results"]] == ["invoices-1"]
    assert all(each["score"] >= 0.55 for each in filtered["results"])
    far = _call(gateway, query="zebras and quarks at sea")
    assert all(each["score"] >= 0.55 for each in far["results"])
    wrong = _call(gateway, query="thirty days", top_k=99)
    assert (wrong["success"], wrong["errorType"]) == (False, "ValidationError")
