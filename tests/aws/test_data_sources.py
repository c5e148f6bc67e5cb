"""Catalogs' own data sources, against botocore's own model of bedrock-agent."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.data_sources import BedrockDataSources
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.ports import DataSourceLimit

KB = "KB12345678"
NAME = "ds-0123456789abcdef"
TOKEN = "t" * 64
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
CREATION = {
    "knowledgeBaseId": KB,
    "name": NAME,
    "clientToken": TOKEN,
    "description": "a catalog of Stackroom",
    "dataDeletionPolicy": "DELETE",
    "dataSourceConfiguration": {
        "type": "S3",
        "s3Configuration": {
            "bucketArn": "arn:aws:s3:::docs",
            "inclusionPrefixes": ["alice/Research 1/"],
        },
    },
}


@pytest.fixture
def data_sources(bedrock_agent: Any) -> BedrockDataSources:
    return BedrockDataSources(client=bedrock_agent, bucket_arn="arn:aws:s3:::docs")


def create(data_sources: BedrockDataSources) -> str:
    return data_sources.create(KB, NAME, prefix="alice/Research 1/", token=TOKEN)


def a_source(status: str = "AVAILABLE") -> dict[str, Any]:
    return {
        "dataSource": {
            "knowledgeBaseId": KB,
            "dataSourceId": "DS12345678",
            "name": NAME,
            "status": status,
            "dataSourceConfiguration": {"type": "S3"},
            "createdAt": NOW,
            "updatedAt": NOW,
        }
    }


def a_summary(name: str, data_source_id: str) -> dict[str, Any]:
    return {
        "knowledgeBaseId": KB,
        "dataSourceId": data_source_id,
        "name": name,
        "status": "AVAILABLE",
        "updatedAt": NOW,
    }


def test_a_data_source_is_created_over_the_catalogs_prefix_alone(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    bedrock.add_response("create_data_source", a_source("CREATING"), CREATION)

    assert create(data_sources) == "DS12345678"


def test_a_full_knowledge_base_is_told_apart(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    bedrock.add_client_error("create_data_source", "ServiceQuotaExceededException", "full", 402)

    with pytest.raises(DataSourceLimit):
        create(data_sources)


def test_a_data_source_whose_creation_we_never_heard_of_is_adopted_by_name(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    listed = {"dataSourceSummaries": [a_summary("other", "DS0"), a_summary(NAME, "DS1")]}
    bedrock.add_client_error("create_data_source", "ConflictException", "exists", 409)
    bedrock.add_response("list_data_sources", listed)

    assert create(data_sources) == "DS1"


def test_a_conflict_with_one_that_is_being_deleted_is_waited_out(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    bedrock.add_client_error("create_data_source", "ConflictException", "being deleted", 409)
    bedrock.add_response("list_data_sources", {"dataSourceSummaries": []})

    with pytest.raises(KnowledgeBaseThrottled):
        create(data_sources)


def test_a_data_source_is_found_by_name_on_any_page(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    first = {"dataSourceSummaries": [a_summary("other", "DS0")], "nextToken": "more"}
    second = {"dataSourceSummaries": [a_summary(NAME, "DS1")]}
    asked = {"knowledgeBaseId": KB}
    bedrock.add_response("list_data_sources", first, asked)
    bedrock.add_response("list_data_sources", second, {**asked, "nextToken": "more"})
    bedrock.add_response("list_data_sources", {"dataSourceSummaries": []}, asked)

    assert data_sources.find(KB, NAME) == "DS1"
    assert data_sources.find(KB, NAME) is None


@pytest.mark.parametrize(
    ("status", "available"), [("AVAILABLE", True), ("CREATING", False), ("UPDATING", False)]
)
def test_only_an_available_data_source_can_be_used(
    data_sources: BedrockDataSources, bedrock: Stubber, status: str, available: bool
) -> None:
    bedrock.add_response("get_data_source", a_source(status))

    assert data_sources.is_available(KB, "DS12345678") is available


def test_throttled_and_failed_calls_are_tried_again_later(
    data_sources: BedrockDataSources, bedrock: Stubber
) -> None:
    bedrock.add_client_error("create_data_source", "ThrottlingException", "slow", 429)
    bedrock.add_client_error("list_data_sources", "ThrottlingException", "slow", 429)
    bedrock.add_client_error("get_data_source", "InternalServerException", "oops", 500)

    with pytest.raises(KnowledgeBaseThrottled, match="CreateDataSource"):
        create(data_sources)
    with pytest.raises(KnowledgeBaseThrottled, match="ListDataSources"):
        data_sources.find(KB, NAME)
    with pytest.raises(KnowledgeBaseUnavailable, match="GetDataSource answered Internal"):
        data_sources.is_available(KB, "DS12345678")
