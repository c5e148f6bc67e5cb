"""Catalogs' own data sources on Bedrock knowledge bases."""

from dataclasses import dataclass
from typing import Any

from stackroom.aws.translation import knowledge_base_errors
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.ports import DataSourceLimit

# DataSourceStatus [API model bedrock-agent]; the others are DELETING, DELETE_UNSUCCESSFUL, FAILED.
_AVAILABLE = "AVAILABLE"
_ON_ITS_WAY = ("CREATING", "UPDATING")


@dataclass(frozen=True, kw_only=True)
class BedrockDataSources:
    client: Any  # bedrock-agent
    bucket_arn: str

    def find(self, knowledge_base_id: str, name: str) -> str | None:
        pages = self.client.get_paginator("list_data_sources").paginate(
            knowledgeBaseId=knowledge_base_id
        )
        with knowledge_base_errors():
            for page in pages:
                for summary in page["dataSourceSummaries"]:
                    if summary["name"] == name:
                        return str(summary["dataSourceId"])
        return None

    def create(self, knowledge_base_id: str, name: str, *, prefix: str, token: str) -> str:
        try:
            with knowledge_base_errors():
                answer = self.client.create_data_source(
                    knowledgeBaseId=knowledge_base_id,
                    name=name,
                    clientToken=token,
                    description="a catalog of Stackroom",
                    dataDeletionPolicy="DELETE",
                    dataSourceConfiguration={
                        "type": "S3",
                        "s3Configuration": {
                            "bucketArn": self.bucket_arn,
                            "inclusionPrefixes": [prefix],
                        },
                    },
                )
        except self.client.exceptions.ServiceQuotaExceededException as error:
            raise DataSourceLimit from error
        except self.client.exceptions.ConflictException as error:
            # made by a call whose answer was lost, after its token was forgotten
            adopted = self.find(knowledge_base_id, name)
            if adopted is None:  # one of that name is being deleted
                raise KnowledgeBaseThrottled("CreateDataSource") from error
            return adopted
        return str(answer["dataSource"]["dataSourceId"])

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        with knowledge_base_errors():
            answer = self.client.get_data_source(
                knowledgeBaseId=knowledge_base_id, dataSourceId=data_source_id
            )
        status = str(answer["dataSource"]["status"])
        if status not in (_AVAILABLE, *_ON_ITS_WAY):
            raise DataSourceBroken(data_source_id, status)
        return status == _AVAILABLE
