"""Bedrock's plain Retrieve, to compare the tool with: semantic search without a threshold."""

from dataclasses import dataclass
from typing import Any

from stackroom.access.tenancy import Tenant
from stackroom.aws.bedrock.bedrock_adapter import rendered
from stackroom.aws.bedrock.retrieved_passages import OF_VECTOR, passage_of
from stackroom_evaluation.judging import Shown


@dataclass(frozen=True, kw_only=True)
class PlainRetrieve:
    """
    Retrieve in one catalog, with the tool's filter.

    `client` is boto3's for bedrock-agent-runtime. Raises its errors.
    """

    client: Any
    knowledge_base_id: str
    user_id: str
    catalog_id: str

    def __call__(self, question: str, count: int) -> tuple[Shown, ...]:
        """Return the `count` nearest passages, best first."""
        tenant = Tenant(self.user_id, self.catalog_id)
        answer = self.client.retrieve(
            knowledgeBaseId=self.knowledge_base_id,
            retrievalQuery={"text": question},
            retrievalConfiguration={
                "vectorSearchConfiguration": {
                    "numberOfResults": count,
                    "filter": rendered(tenant.filter()),
                }
            },
        )
        found = [
            passage_of(each, first_page=1, own=OF_VECTOR) for each in answer["retrievalResults"]
        ]
        return tuple(
            Shown(
                text=each.text,
                file=str(each.attributes.get("filename", "")),
                page=each.page,
                score=each.score,
            )
            for each in found
        )
