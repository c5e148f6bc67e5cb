"""The common parts of calls about a knowledge base's documents."""

from collections.abc import Container
from typing import TYPE_CHECKING, TypedDict

from stackroom.model.records import DataSource
from stackroom.runs.bedrock_calls import DocumentDetail

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.type_defs import KnowledgeBaseDocumentDetailTypeDef

# KnowledgeBaseDocuments and DocumentIdentifiers, at most [API model bedrock-agent]; the quota of 25
# documents a call [AWS General Reference: Amazon Bedrock quotas] is beyond what the model takes.
MOST_IDENTIFIERS = 10
# ListKnowledgeBaseDocuments.maxResults, at most [API model bedrock-agent]
_MOST_LISTED = 1000
# "maxResults must be less than or equal to 100", answer MANAGED knowledge bases, as users report.
_MOST_LISTED_OF_MANAGED = 100


class Ids(TypedDict):
    """The data source of a call."""

    knowledgeBaseId: str
    dataSourceId: str


def ids(source: DataSource) -> Ids:
    return Ids(knowledgeBaseId=source.knowledge_base_id, dataSourceId=source.data_source_id)


def most_listed(source: DataSource, managed: Container[str]) -> int:
    """
    Return the most documents on a page; `managed` are the ids of knowledge bases of that type.
    """
    return _MOST_LISTED_OF_MANAGED if source.knowledge_base_id in managed else _MOST_LISTED


def to_detail(detail: "KnowledgeBaseDocumentDetailTypeDef") -> DocumentDetail:
    return DocumentDetail(
        status=detail["status"],
        updated_at=detail.get("updatedAt"),
        reason=detail.get("statusReason"),
    )
