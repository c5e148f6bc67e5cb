"""What calls about a knowledge base's documents have in common."""

from typing import Any

from stackroom.ports import DataSource, Verdict

# KnowledgeBaseDocuments and DocumentIdentifiers, at most [API model bedrock-agent]; the quota of 25
# documents a call [AWS General Reference: Amazon Bedrock quotas] is beyond what the model takes.
MOST_IDENTIFIERS = 10


def ids(source: DataSource) -> dict[str, str]:
    return {"knowledgeBaseId": source.knowledge_base_id, "dataSourceId": source.data_source_id}


def to_verdict(detail: dict[str, Any]) -> Verdict:
    return Verdict(
        status=detail["status"],
        updated_at=detail.get("updatedAt"),
        reason=detail.get("statusReason"),
    )
