"""A knowledge base of Amazon Bedrock."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.knowledge_base import BaseKnowledgeBase


class BedrockKnowledgeBase(BaseKnowledgeBase):
    """A knowledge base that exists, by its id."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str | None = None,
        knowledge_base_id: str,
        description: str | None = None,
        number_of_results: int = 5,
        retrieval_filter: Mapping[str, Any] | None = None,
        enable_acl: bool = False,
        acl_metadata_field: str = "allowed_groups",
        guardrail_id: str | None = None,
        guardrail_version: str = "DRAFT",
        vector_store_type: str = "S3_VECTORS",
        generation: bool = True,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            name=name or construct_id,
            description=description or f"The knowledge base {name or construct_id}.",
            number_of_results=number_of_results,
            retrieval_filter=retrieval_filter,
            enable_acl=enable_acl,
            acl_metadata_field=acl_metadata_field,
        )
        self.knowledge_base_id = knowledge_base_id
        self._guardrail_id = guardrail_id
        self._guardrail_version = guardrail_version
        self._vector_store_type = vector_store_type
        self._generation = generation

    @property
    def knowledge_base_arn(self) -> str:
        return self._arn("knowledge-base", self.knowledge_base_id)

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        statements = [_may("bedrock:Retrieve", on=self.knowledge_base_arn)]
        if self._guardrail_id is not None:
            guardrail = self._arn("guardrail", self._guardrail_id)
            statements.append(_may("bedrock:ApplyGuardrail", on=guardrail))
        if self._generation:
            statements.append(_may("bedrock:RetrieveAndGenerate", on="*"))
        return statements

    def export_configuration(self) -> dict[str, Any]:
        return {
            "knowledgeBaseId": self.knowledge_base_id,
            **super().export_configuration(),
            "guardrailId": self._guardrail_id,
            "guardrailVersion": self._guardrail_version,
            "vectorStoreType": self._vector_store_type,
        }

    def _arn(self, resource: str, name: str) -> str:
        return cdk.Stack.of(self).format_arn(
            service="bedrock", resource=resource, resource_name=name
        )


def _may(action: str, *, on: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=[action], resources=[on])
