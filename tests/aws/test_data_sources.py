"""Catalogs' own data sources, against botocore's own model of bedrock-agent."""

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.bedrock.bedrock_data_sources import (
    _AVAILABLE,
    _DELETING,
    _ON_ITS_WAY,
    _STUCK,
    BedrockDataSources,
    managed_over_prefix,
    over_prefix,
    prefix_in,
    type_in,
)
from stackroom.aws.bedrock.vector_ingestion_settings import VectorIngestion
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DataSourceType

SERVICE = "bedrock-agent"  # of the fixture `client`

KB = "KB12345678"
NAME = "Research-1-cat-0123456789abcdef01234567"
BOTH_IDS = {"knowledgeBaseId": KB, "dataSourceId": "DS12345678"}
TOKEN = "t" * 64
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
CREATION = {
    "knowledgeBaseId": KB,
    "name": NAME,
    "clientToken": TOKEN,
    "description": "Stackroom's documents under alice/Research 1/",
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
def data_sources(client: Any) -> BedrockDataSources:
    return BedrockDataSources(client=client, bucket="docs")


@pytest.fixture
def managed(client: Any) -> BedrockDataSources:
    return BedrockDataSources(
        client=client, bucket="docs", managed={KB}, bucket_owner="123456789012"
    )


def create(
    data_sources: BedrockDataSources, source_type: DataSourceType = DataSourceType.S3
) -> DataSource:
    return data_sources.create(
        KB, NAME, source_type=source_type, prefix="alice/Research 1/", token=TOKEN
    )


def a_source(status: str = "AVAILABLE", kind: str = "S3") -> dict[str, Any]:
    return {
        "dataSource": {
            "knowledgeBaseId": KB,
            "dataSourceId": "DS12345678",
            "name": NAME,
            "status": status,
            "dataSourceConfiguration": {"type": kind},
            "createdAt": NOW,
            "updatedAt": NOW,
        }
    }


def of_type(source_type: DataSourceType) -> DataSource:
    return DataSource(knowledge_base_id=KB, data_source_id="DS12345678", type=source_type)


def a_summary(name: str, data_source_id: str) -> dict[str, Any]:
    return {
        "knowledgeBaseId": KB,
        "dataSourceId": data_source_id,
        "name": name,
        "status": "AVAILABLE",
        "updatedAt": NOW,
    }


def test_a_data_source_is_read_and_cut_as_the_deployment_says(
    client: Any, stubber: Stubber
) -> None:
    ingestion = {
        "chunkingConfiguration": {
            "chunkingStrategy": "FIXED_SIZE",
            "fixedSizeChunkingConfiguration": {"maxTokens": 500, "overlapPercentage": 10},
        },
        "parsingConfiguration": {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"},
    }
    stubber.add_response(
        "create_data_source", a_source(), {**CREATION, "vectorIngestionConfiguration": ingestion}
    )
    told = BedrockDataSources(
        client=client,
        bucket="docs",
        ingestion=VectorIngestion.model_validate(ingestion),
    )

    assert create(told) == of_type(DataSourceType.S3)
    stubber.assert_no_pending_responses()


def test_data_source_covers_catalogs_prefix_or_is_custom_for_direct_calls(
    client: Any, stubber: Stubber
) -> None:
    """The connector below is of a managed knowledge base; another in the pool has none."""
    mixed = BedrockDataSources(
        client=client, bucket="docs", managed={"ANOTHER"}, bucket_owner="123456789012"
    )
    stubber.add_response("create_data_source", a_source("CREATING"), CREATION)
    of_calls = {**CREATION, "dataSourceConfiguration": {"type": "CUSTOM"}}
    stubber.add_response("create_data_source", a_source(kind="CUSTOM"), of_calls)

    assert create(mixed) == of_type(DataSourceType.S3)
    assert create(mixed, DataSourceType.CUSTOM) == of_type(DataSourceType.CUSTOM)


def test_data_sources_are_found_by_name_on_any_page_unless_being_deleted(
    data_sources: BedrockDataSources, stubber: Stubber
) -> None:
    asked = {"knowledgeBaseId": KB}
    for _ in range(2):
        first = {"dataSourceSummaries": [a_summary("other", "DS0")], "nextToken": "more"}
        stubber.add_response("list_data_sources", first, asked)
        second = {"dataSourceSummaries": [a_summary(NAME, "DS12345678")]}
        stubber.add_response("list_data_sources", second, {**asked, "nextToken": "more"})
    stubber.add_response("get_data_source", a_source(), BOTH_IDS)
    for status in ("DELETING", "DELETE_UNSUCCESSFUL"):
        going = {"dataSourceSummaries": [{**a_summary(NAME, "DS1"), "status": status}]}
        stubber.add_response("list_data_sources", going)

    assert data_sources.all(KB) == {"other": "DS0", NAME: "DS12345678"}
    assert data_sources.find(KB, NAME) == of_type(DataSourceType.S3)
    assert data_sources.find(KB, NAME) is None
    assert data_sources.find(KB, NAME) is None


def test_managed_data_source_is_a_connector_without_deletion_protection(
    managed: BedrockDataSources, stubber: Stubber
) -> None:
    connector = {
        "deletionProtectionConfiguration": {"deletionProtectionStatus": "DISABLED"},
        "connectorParameters": {
            "type": "S3",
            "version": "1",
            "connectionConfiguration": {
                "bucketName": "docs",
                "bucketOwnerAccountId": "123456789012",
            },
            "filterConfiguration": {"inclusionPrefixes": ["alice/Research 1/"]},
        },
    }
    described = {
        "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        "managedKnowledgeBaseConnectorConfiguration": connector,
    }
    asked = {**CREATION, "dataSourceConfiguration": described}
    stubber.add_response("create_data_source", a_source("CREATING"), asked)

    assert create(managed) == of_type(DataSourceType.S3)


def test_failed_managed_deletion_is_repeated_without_retaining_vectors(
    managed: BedrockDataSources, stubber: Stubber
) -> None:
    stubber.add_response("get_data_source", a_source("DELETE_UNSUCCESSFUL"))
    stubber.add_response("delete_data_source", {**BOTH_IDS, "status": "DELETING"}, BOTH_IDS)

    assert not managed.remove(KB, "DS12345678")
    stubber.assert_no_pending_responses()


def test_data_source_whose_creation_response_was_lost_is_adopted_by_name(
    data_sources: BedrockDataSources, stubber: Stubber
) -> None:
    listed = {"dataSourceSummaries": [a_summary("other", "DS0"), a_summary(NAME, "DS12345678")]}
    stubber.add_client_error("create_data_source", "ConflictException", "exists", 409)
    stubber.add_response("list_data_sources", listed)
    stubber.add_response("get_data_source", a_source(kind="CUSTOM"), BOTH_IDS)

    assert create(data_sources) == of_type(DataSourceType.CUSTOM)

    # It conflicts with one that is being deleted.
    stubber.add_client_error("create_data_source", "ConflictException", "being deleted", 409)
    stubber.add_response("list_data_sources", {"dataSourceSummaries": []})
    with pytest.raises(KnowledgeBaseThrottled):
        create(data_sources)


def test_only_an_available_data_source_can_be_used(
    data_sources: BedrockDataSources, stubber: Stubber
) -> None:
    for status in ("AVAILABLE", "CREATING", "UPDATING"):
        stubber.add_response("get_data_source", a_source(status))

    stubber.add_response("get_data_source", a_source("DELETE_UNSUCCESSFUL"))

    told = [data_sources.is_available(KB, "DS12345678") for _ in range(3)]

    assert told == [True, False, False]
    with pytest.raises(DataSourceBroken, match="DELETE_UNSUCCESSFUL"):
        data_sources.is_available(KB, "DS12345678")


def test_deletion_blocked_by_running_work_is_retried_but_not_bad_ids(
    data_sources: BedrockDataSources, stubber: Stubber
) -> None:
    job = "There is at least one running ingestion job for this data source."
    for code, message in (
        ("ConflictException", "DataSource with id DS12345678 is being updated"),
        ("ValidationException", job),
        ("ValidationException", "no such id"),  # a mistake of ours
    ):
        stubber.add_response("get_data_source", a_source())
        stubber.add_client_error("delete_data_source", code, message, 400)

    assert not any(data_sources.remove(KB, "DS12345678") for _ in range(2))
    with pytest.raises(ClientError, match="no such id"):
        data_sources.remove(KB, "DS12345678")


def test_data_source_whose_vectors_cannot_be_deleted_is_set_to_retain(
    data_sources: BedrockDataSources, stubber: Stubber
) -> None:
    stuck = a_source("DELETE_UNSUCCESSFUL")
    whole = {
        "name": NAME,
        "description": "a catalog of Stackroom",
        "dataSourceConfiguration": CREATION["dataSourceConfiguration"],
        "vectorIngestionConfiguration": {"chunkingConfiguration": {"chunkingStrategy": "NONE"}},
        "serverSideEncryptionConfiguration": {
            "kmsKeyArn": f"arn:aws:kms:us-east-1:123456789012:key/{uuid.uuid4()}"
        },
    }
    stuck["dataSource"].update(whole, dataDeletionPolicy="DELETE", failureReasons=["no index"])
    update = {**BOTH_IDS, **whole, "dataDeletionPolicy": "RETAIN"}
    stubber.add_response("get_data_source", stuck)
    stubber.add_response("update_data_source", a_source(), update)
    stubber.add_response("delete_data_source", {**BOTH_IDS, "status": "DELETING"}, BOTH_IDS)

    assert not data_sources.remove(KB, "DS12345678")


def test_known_data_source_statuses_are_those_of_the_api_model(client: Any) -> None:
    known = {_AVAILABLE, *_ON_ITS_WAY, _DELETING, _STUCK, "FAILED"}

    assert known == set(client.meta.service_model.shape_for("DataSourceStatus").enum)


def connector(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        "managedKnowledgeBaseConnectorConfiguration": {"connectorParameters": parameters},
    }


def test_parameters_may_be_answered_as_a_text_of_json() -> None:
    chosen = {"type": "S3", "filterConfiguration": {"inclusionPrefixes": ["alice/research/"]}}
    told = connector({})
    told["managedKnowledgeBaseConnectorConfiguration"]["connectorParameters"] = json.dumps(chosen)

    assert (type_in(told), prefix_in(told)) == (DataSourceType.S3, "alice/research/")


def test_type_and_prefix_are_read_whichever_way_it_is_described() -> None:
    prefix = "alice/research/"
    of_managed = managed_over_prefix("docs", prefix, owner="123456789012")
    for described, told in (
        (over_prefix("docs", prefix), (DataSourceType.S3, prefix)),
        (of_managed, (DataSourceType.S3, prefix)),
        ({"type": "CUSTOM"}, (DataSourceType.CUSTOM, "")),
        (connector({"type": "CUSTOM", "version": "1"}), (DataSourceType.CUSTOM, "")),
        ({"type": "S3"}, (DataSourceType.S3, "")),  # over a whole bucket
        (connector({"type": "S3"}), (DataSourceType.S3, "")),
    ):
        assert (type_in(described), prefix_in(described)) == told
    for of_others in ({"type": "WEB"}, connector({"type": "BOX"}), connector({})):
        assert type_in(of_others) is None
