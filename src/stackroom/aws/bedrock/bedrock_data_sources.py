"""Catalogs' own data sources on Bedrock knowledge bases."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.bedrock.back_pressure import means_work_under_way
from stackroom.aws.bedrock.data_source_configurations import (
    managed_over_prefix,
    over_prefix,
    type_in,
)
from stackroom.aws.bedrock.vector_ingestion_settings import VectorIngestion
from stackroom.aws.error_mapping import knowledge_base_errors
from stackroom.errors import DataSourceBroken, DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model import DataSource, DataSourceType

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.client import AgentsforBedrockClient
    from types_boto3_bedrock_agent.type_defs import DataSourceSummaryTypeDef, DataSourceTypeDef

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
    `ingestion` is of those that are made from now on; None leaves it to Bedrock's defaults. Those
    of the knowledge bases in `managed` read the bucket through a connector, which is told the
    account that has it, `bucket_owner`.
    """

    client: "AgentsforBedrockClient"
    bucket: str
    ingestion: VectorIngestion | None = None
    managed: Container[str] = frozenset()
    bucket_owner: str | None = None

    def find(self, knowledge_base_id: str, name: str) -> DataSource | None:
        """Of the type that it was made with, whatever new ones get."""
        for each in self._summaries(knowledge_base_id):
            if each["name"] == name and each["status"] not in (_DELETING, _STUCK):
                with knowledge_base_errors():
                    found = self._get(knowledge_base_id, each["dataSourceId"])
                return _to_source(found)
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
        try:
            with knowledge_base_errors():
                answer = self.client.create_data_source(
                    knowledgeBaseId=knowledge_base_id,
                    name=name,
                    clientToken=token,
                    description=f"Stackroom's documents under {prefix}"[:_LONGEST_DESCRIPTION],
                    dataDeletionPolicy="DELETE",
                    **self._described(knowledge_base_id, source_type, prefix),
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
        return _to_source(answer["dataSource"])

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        with knowledge_base_errors():
            answer = self._get(knowledge_base_id, data_source_id)
        status = str(answer["status"])
        if status not in (_AVAILABLE, *_ON_ITS_WAY):
            raise DataSourceBroken(data_source_id, status)
        return status == _AVAILABLE

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """Deleting takes AWS a while, so the call that begins it never finds it gone."""
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

    def _described(
        self, knowledge_base_id: str, source_type: DataSourceType, prefix: str
    ) -> dict[str, Any]:
        if source_type is DataSourceType.CUSTOM:
            return {"dataSourceConfiguration": {"type": "CUSTOM"}}
        if knowledge_base_id not in self.managed:
            return {"dataSourceConfiguration": over_prefix(self.bucket, prefix)}
        assert self.bucket_owner is not None, "known where a pool has a MANAGED knowledge base"
        described = managed_over_prefix(self.bucket, prefix, owner=self.bucket_owner)
        return {"dataSourceConfiguration": described}

    def _retain_vectors(self, found: "DataSourceTypeDef") -> None:
        """As AWS advises where its vectors can't be deleted [user guide: kb-ds-delete]."""
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


def _to_source(found: "DataSourceTypeDef") -> DataSource:
    source_type = type_in(found["dataSourceConfiguration"])
    assert source_type is not None, "a data source of a catalog's is of a type that we make"
    return DataSource(
        knowledge_base_id=found["knowledgeBaseId"],
        data_source_id=found["dataSourceId"],
        type=source_type,
    )
