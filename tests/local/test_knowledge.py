"""The knowledge bases of a template, made in a simulator that answers on a port of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.clients import client
from stackroom_local.deployment.intrinsics import Attributes
from stackroom_local.deployment.knowledge import Simulator
from stackroom_local.deployment.stand_ins import Resource
from stackroom_local.simulator import server

NOWHERE = "http://127.0.0.1:9"  # no document is read here, so no S3 is needed

EMBEDDING = {
    "Type": "VECTOR",
    "VectorKnowledgeBaseConfiguration": {
        "EmbeddingModelArn": (
            "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
        ),
        "EmbeddingModelConfiguration": {
            "BedrockEmbeddingModelConfiguration": {
                "Dimensions": 1024,
                "EmbeddingDataType": "FLOAT32",
            }
        },
    },
}


@pytest.fixture
def bedrock(tmp_path: Path) -> Iterator[Simulator]:
    configuration = server.Configuration(data_dir=tmp_path, s3_endpoint=NOWHERE, speed=100)
    with server.Simulator(configuration) as simulator:
        yield Simulator(
            bedrock_agent=client("bedrock-agent", simulator.endpoint),
            s3vectors=client("s3vectors", simulator.endpoint),
        )


@pytest.mark.processes
def test_the_shared_data_source_is_made_once_and_adopted_by_every_later_start(
    bedrock: Simulator,
) -> None:
    first = deployed(bedrock)
    second = deployed(bedrock)

    sources = bedrock.bedrock_agent.list_data_sources(
        knowledgeBaseId=first["Base"]["KnowledgeBaseId"]
    )["dataSourceSummaries"]
    assert first == second
    assert [each["dataSourceId"] for each in sources] == [first["Shared"]["DataSourceId"]]


@pytest.mark.processes
def test_the_shared_data_source_takes_documents_without_a_bucket(bedrock: Simulator) -> None:
    made = deployed(bedrock)["Shared"]

    knowledge_base_id, _, data_source_id = made["Ref"].partition("|")

    found = bedrock.bedrock_agent.get_data_source(
        knowledgeBaseId=knowledge_base_id, dataSourceId=data_source_id
    )["dataSource"]
    assert (found["name"], found["status"]) == ("shared", "AVAILABLE")
    assert found["dataSourceConfiguration"] == {"type": "CUSTOM"}
    assert found["dataDeletionPolicy"] == "DELETE"


def deployed(bedrock: Simulator) -> dict[str, Attributes]:
    """What became of each resource, made in the order of need as `Deployer` does."""
    made: dict[str, Attributes] = {}
    made["Vectors"] = make(bedrock, "S3Vectors::VectorBucket", VectorBucketName="test-vectors")
    made["Index"] = make(
        bedrock,
        "S3Vectors::Index",
        VectorBucketArn=made["Vectors"]["VectorBucketArn"],
        IndexName="test-1",
        DataType="float32",
        Dimension=1024,
        DistanceMetric="cosine",
    )
    made["Base"] = make(
        bedrock,
        "Bedrock::KnowledgeBase",
        Name="test-1",
        RoleArn="arn:aws:iam::000000000000:role/Role1",
        KnowledgeBaseConfiguration=EMBEDDING,
        StorageConfiguration={
            "Type": "S3_VECTORS",
            "S3VectorsConfiguration": {"IndexArn": made["Index"]["IndexArn"]},
        },
    )
    made["Shared"] = make(
        bedrock,
        "Bedrock::DataSource",
        KnowledgeBaseId=made["Base"]["KnowledgeBaseId"],
        Name="shared",
        DataDeletionPolicy="DELETE",
        DataSourceConfiguration={"Type": "CUSTOM"},
    )
    return made


def make(bedrock: Simulator, type_: str, **properties: Any) -> Attributes:
    resource = Resource(type_.rpartition(":")[2], f"AWS::{type_}", properties)
    return bedrock.make("test-knowledge-base", resource, properties)
