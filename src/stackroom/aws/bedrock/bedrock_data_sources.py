"""Catalogs' own data sources on Bedrock knowledge bases."""

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.bedrock.back_pressure import means_work_under_way
from stackroom.aws.bedrock.vector_ingestion_settings import VectorIngestion
from stackroom.aws.error_mapping import knowledge_base_errors
from stackroom.errors import DataSourceBroken, DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DataSourceType

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.client import AgentsforBedrockClient
    from types_boto3_bedrock_agent.type_defs import DataSourceSummaryTypeDef, DataSourceTypeDef


# The type of a data source in Bedrock's words: its own, or in a MANAGED knowledge base that of a
# connector, the one type that such a knowledge base takes.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-connect-ds.html

_CONNECTOR = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"
_SETTINGS = "managedKnowledgeBaseConnectorConfiguration"
_PARAMETERS = "connectorParameters"


def over_prefix(bucket: str, prefix: str) -> dict[str, Any]:
    return {
        "type": "S3",
        "s3Configuration": {"bucketArn": f"arn:aws:s3:::{bucket}", "inclusionPrefixes": [prefix]},
    }


def managed_over_prefix(bucket: str, prefix: str, *, owner: str) -> dict[str, Any]:
    """
    Return the configuration of a MANAGED data source over a prefix. `owner` is the AWS account that
    has the bucket.

    Deletion protection is off: with it a sync that finds more than 15 % of the documents gone,
    which a person may well have deleted, deletes none of them, and ends all the same.
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_DeletionProtectionConfiguration.html
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-ds-s3.html
    """
    return {
        "type": _CONNECTOR,
        _SETTINGS: {
            "deletionProtectionConfiguration": {"deletionProtectionStatus": "DISABLED"},
            _PARAMETERS: {
                "type": "S3",
                "version": "1",
                "connectionConfiguration": {"bucketName": bucket, "bucketOwnerAccountId": owner},
                "filterConfiguration": {"inclusionPrefixes": [prefix]},
            },
        },
    }


def type_in(configuration: Mapping[str, Any]) -> DataSourceType | None:
    """
    Return the data source's type; None if it is somebody else's, because nothing here creates one
    of any other type.
    """
    named = configuration["type"]
    if named == _CONNECTOR:
        named = _parameters(configuration).get("type")
    return DataSourceType(named) if named in frozenset(DataSourceType) else None


def prefix_in(configuration: Mapping[str, Any]) -> str:
    """
    Return the prefix that the data source crawls; empty if it crawls the whole bucket or none.
    """
    if configuration["type"] == _CONNECTOR:
        chosen = _parameters(configuration).get("filterConfiguration", {})
    else:
        chosen = configuration.get("s3Configuration", {})
    prefixes = chosen.get("inclusionPrefixes") or [""]
    return str(prefixes[0])


def _parameters(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return the connector's parameters: an object in the API model, though users report a text of
    JSON in its place.
    """
    parameters = configuration.get(_SETTINGS, {}).get(_PARAMETERS, {})
    found: Mapping[str, Any] = json.loads(parameters) if isinstance(parameters, str) else parameters
    return found


# DataSourceStatus [API model bedrock-agent]; FAILED is the one not named here.
_AVAILABLE = "AVAILABLE"
_ON_ITS_WAY = ("CREATING", "UPDATING")
_DELETING = "DELETING"
_STUCK = "DELETE_UNSUCCESSFUL"
_LONGEST_DESCRIPTION = 200  # characters [API model bedrock-agent: Description]
# UpdateDataSource replaces the whole; what can't be changed must be sent as it is [API reference].
_KEPT = (
    "name",
    "description",
    "dataSourceConfiguration",
    "vectorIngestionConfiguration",
    "serverSideEncryptionConfiguration",
)


@dataclass(frozen=True, kw_only=True)
class BedrockDataSources:
    """
    Creates and removes data sources.

    `ingestion` applies to those created from now on; None leaves it to Bedrock's defaults. Those of
    the knowledge bases in `managed` read the bucket through a connector, which needs the bucket's
    account, `bucket_owner`.
    """

    client: "AgentsforBedrockClient"
    bucket: str
    ingestion: VectorIngestion | None = None
    managed: Container[str] = frozenset()
    bucket_owner: str | None = None

    def find(self, knowledge_base_id: str, name: str) -> DataSource | None:
        """
        Return the data source of that name, with the type that it was created with, whatever new
        ones get.
        """
        for each in self._summaries(knowledge_base_id):
            if each["name"] == name and each["status"] not in (_DELETING, _STUCK):
                with knowledge_base_errors():
                    return to_source(self._get(knowledge_base_id, each["dataSourceId"]))
        return None

    def create(
        self,
        knowledge_base_id: str,
        name: str,
        *,
        source_type: DataSourceType,
        prefix: str,
        token: str,
    ) -> DataSource:
        # A member that is left out and one that is null are not the same to AWS.
        ingestion: dict[str, Any] = {}
        if self.ingestion is not None:
            ingestion["vectorIngestionConfiguration"] = self.ingestion.as_request()
        with knowledge_base_errors():
            try:
                answer = self.client.create_data_source(
                    knowledgeBaseId=knowledge_base_id,
                    name=name,
                    clientToken=token,
                    description=f"Stackroom's documents under {prefix}"[:_LONGEST_DESCRIPTION],
                    dataDeletionPolicy="DELETE",
                    dataSourceConfiguration=self._described(knowledge_base_id, source_type, prefix),
                    **ingestion,
                )
            except self.client.exceptions.ServiceQuotaExceededException as error:
                raise DataSourceLimit(knowledge_base_id) from error
            except self.client.exceptions.ConflictException as error:
                # made by a call whose answer was lost, after its token was forgotten
                adopted = self.find(knowledge_base_id, name)
                if adopted is None:  # one of that name is being deleted
                    raise KnowledgeBaseThrottled("CreateDataSource") from error
                return adopted
        return to_source(answer["dataSource"])

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        with knowledge_base_errors():
            answer = self._get(knowledge_base_id, data_source_id)
        status = str(answer["status"])
        if status not in (_AVAILABLE, *_ON_ITS_WAY):
            raise DataSourceBroken(data_source_id, status)
        return status == _AVAILABLE

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """
        Begin or check the deletion. It takes AWS a while, so the call that begins it never finds it
        gone.
        """
        try:
            with knowledge_base_errors():
                found = self._get(knowledge_base_id, data_source_id)
                # A MANAGED knowledge base knows no other policy than DELETE: it tries again.
                if found["status"] == _STUCK and knowledge_base_id not in self.managed:
                    self._retain_vectors(found)
                if found["status"] != _DELETING:
                    self.client.delete_data_source(
                        knowledgeBaseId=knowledge_base_id, dataSourceId=data_source_id
                    )
        except self.client.exceptions.ResourceNotFoundException:
            return True
        except self.client.exceptions.ConflictException:
            return False
        except self.client.exceptions.ValidationException as error:
            # "There is at least one running ingestion job for this data source": until its job has
            # stopped [repost.aws]
            if not means_work_under_way(error):
                raise
        return False

    def all(self, knowledge_base_id: str) -> dict[str, str]:
        found = self._summaries(knowledge_base_id)
        return {str(each["name"]): str(each["dataSourceId"]) for each in found}

    def _described(self, knowledge_base_id: str, source_type: DataSourceType, prefix: str) -> Any:
        if source_type is DataSourceType.CUSTOM:
            return {"type": "CUSTOM"}
        if knowledge_base_id not in self.managed:
            return over_prefix(self.bucket, prefix)
        assert self.bucket_owner is not None, "known where a pool has a MANAGED knowledge base"
        return managed_over_prefix(self.bucket, prefix, owner=self.bucket_owner)

    def _retain_vectors(self, found: "DataSourceTypeDef") -> None:
        """
        Set the policy RETAIN, as AWS advises if vectors can't be deleted [user guide:
        kb-ds-delete].
        """
        kept: dict[str, Any] = {name: each for name, each in found.items() if name in _KEPT}
        self.client.update_data_source(
            knowledgeBaseId=found["knowledgeBaseId"],
            dataSourceId=found["dataSourceId"],
            dataDeletionPolicy="RETAIN",
            **kept,
        )

    def _get(self, knowledge_base_id: str, data_source_id: str) -> "DataSourceTypeDef":
        answer = self.client.get_data_source(
            knowledgeBaseId=knowledge_base_id, dataSourceId=data_source_id
        )
        return answer["dataSource"]

    def _summaries(self, knowledge_base_id: str) -> "Iterator[DataSourceSummaryTypeDef]":
        pages = self.client.get_paginator("list_data_sources").paginate(
            knowledgeBaseId=knowledge_base_id
        )
        with knowledge_base_errors():
            for page in pages:
                yield from page["dataSourceSummaries"]


def to_source(found: "DataSourceTypeDef") -> DataSource:
    source_type = type_in(found["dataSourceConfiguration"])
    assert source_type is not None, "a data source of a catalog's is of a type that we make"
    return DataSource(
        knowledge_base_id=found["knowledgeBaseId"],
        data_source_id=found["dataSourceId"],
        type=source_type,
    )
