"""The knowledge bases of a template, made in a simulator that answers on a port of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bedrock_kb_simulator import server
from bedrock_kb_simulator.access_keys import AccessKey
from stackroom_local.clients import Clients
from stackroom_local.deployment.intrinsics import Attributes, TemplateScope
from stackroom_local.deployment.localisation import IN_SIMULATOR, Resource, made_by_stand_in
from stackroom_local.deployment.simulated_resources import Simulator
from stackroom_local.local_errors import OfAnotherType
from stackroom_local.state import REGION
from tests.local.templates import a_knowledge_base

pytestmark = pytest.mark.processes
NOWHERE = "http://127.0.0.1:9"  # no document is read here, so no S3 is needed

STACK = "test-knowledge-base"


@pytest.fixture
def bedrock(tmp_path: Path) -> Iterator[Simulator]:
    configuration = server.Configuration(data_dir=tmp_path, s3_endpoint=NOWHERE, speed=100)
    with server.Simulator(configuration) as simulator:
        clients = Clients(
            aws=NOWHERE,
            simulator=simulator.endpoint,
            key=AccessKey(access_key_id="test", secret_access_key="test"),
            region=REGION,
        )
        yield Simulator(
            bedrock=clients("bedrock"),
            bedrock_agent=clients("bedrock-agent"),
            s3vectors=clients("s3vectors"),
        )


def test_a_data_source_is_made_once_and_adopted_by_every_later_start(
    bedrock: Simulator,
) -> None:
    first = deployed(bedrock)
    second = deployed(bedrock)

    of_base = {"knowledgeBaseId": first["Base"]["KnowledgeBaseId"]}
    [listed] = bedrock.bedrock_agent.list_data_sources(**of_base)["dataSourceSummaries"]
    found = bedrock.bedrock_agent.get_data_source(**of_base, dataSourceId=listed["dataSourceId"])
    source = found["dataSource"]
    assert first == second
    assert first["Source"]["Ref"] == f"{of_base['knowledgeBaseId']}|{listed['dataSourceId']}"
    assert first["Source"]["DataSourceId"] == listed["dataSourceId"]
    assert (source["name"], source["status"]) == ("documents", "AVAILABLE")
    # None of another type is taken for it.
    with pytest.raises(OfAnotherType, match=r"'test-1' exists with type VECTOR.*--fresh"):
        make(
            bedrock,
            "Bedrock::KnowledgeBase",
            Name="test-1",
            RoleArn="arn:aws:iam::000000000000:role/Role1",
            KnowledgeBaseConfiguration={"Type": "MANAGED"},
        )


def deployed(bedrock: Simulator) -> dict[str, Attributes]:
    """Return the attributes of each resource, made in the order of need as `Deployer` does."""
    template, made = a_knowledge_base("test-1"), dict[str, Attributes]()
    # A template may name a resource ahead of those that it refers to.
    resources = template["Resources"] = dict(reversed(template["Resources"].items()))
    resources["Vectors"]["Properties"] = {"VectorBucketName": "test-vectors"}
    resources["Index"]["Properties"]["IndexName"] = "test-1"
    for resource in made_by_stand_in(template, IN_SIMULATOR):
        told = TemplateScope(stack=STACK, resources=made).value(resource.properties)
        made[resource.logical_id] = bedrock.make(STACK, resource, told)
    return made


def make(bedrock: Simulator, type_: str, **properties: Any) -> Attributes:
    resource = Resource(type_.rpartition(":")[2], f"AWS::{type_}", properties)
    return bedrock.make(STACK, resource, properties)
