"""What calls about a knowledge base's documents have in common."""

from typing import Any

from stackroom.model import DataSource
from stackroom.ports.ingestion import DocumentDetail

# KnowledgeBaseDocuments and DocumentIdentifiers, at most [API model bedrock-agent]; the quota of 25
# documents a call [AWS General Reference: Amazon Bedrock quotas] is beyond what the model takes.
MOST_IDENTIFIERS = 10


def ids(source: DataSource) -> dict[str, str]:
    return {"knowledgeBaseId": source.knowledge_base_id, "dataSourceId": source.data_source_id}


def to_detail(detail: dict[str, Any]) -> DocumentDetail:
    return DocumentDetail(
        status=detail["status"],
        updated_at=detail.get("updatedAt"),
        reason=detail.get("statusReason"),
    )
