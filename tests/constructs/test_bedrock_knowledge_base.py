from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from stackroom_constructs import BaseKnowledgeBase, BedrockKnowledgeBase, IKnowledgeBase


@pytest.fixture
def stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(analytics_reporting=False), "Stack")


def statements(stack: cdk.Stack, knowledge_base: IKnowledgeBase) -> list[dict[str, Any]]:
    found = [each.to_statement_json() for each in knowledge_base.generate_iam_permissions()]
    resolved: list[dict[str, Any]] = stack.resolve(found)
    return resolved


def test_what_is_not_said_is_exported_with_its_default(stack: cdk.Stack) -> None:
    knowledge_base = BedrockKnowledgeBase(stack, "Handbook", knowledge_base_id="ABCDE12345")

    assert isinstance(knowledge_base, IKnowledgeBase)
    assert knowledge_base.export_configuration() == {
        "knowledgeBaseId": "ABCDE12345",
        "name": "Handbook",
        "description": "The knowledge base Handbook.",
        "numberOfResults": 5,
        "retrievalFilter": None,
        "enableAcl": False,
        "aclMetadataField": "allowed_groups",
        "guardrailId": None,
        "guardrailVersion": "DRAFT",
        "vectorStoreType": "S3_VECTORS",
    }


def test_a_knowledge_base_must_say_what_searching_it_takes(stack: cdk.Stack) -> None:
    class Silent(BaseKnowledgeBase):
        pass

    with pytest.raises(TypeError, match="generate_iam_permissions"):
        Silent(stack, "Silent", name="Silent", description="It says nothing.")  # type: ignore[abstract]


def test_a_class_of_anybodys_is_a_knowledge_base(stack: cdk.Stack) -> None:
    class Own(BaseKnowledgeBase):
        def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
            return []

    own = Own(stack, "Own", name="Own", description="My own.")

    assert isinstance(own, IKnowledgeBase)
    assert own.retrieval_tool().is_default


def test_searching_is_allowed_on_that_knowledge_base_alone(stack: cdk.Stack) -> None:
    knowledge_base = BedrockKnowledgeBase(
        stack, "Handbook", knowledge_base_id="ABCDE12345", generation=False
    )

    [found] = statements(stack, knowledge_base)

    assert found["Action"] == "bedrock:Retrieve"
    assert str(found["Resource"]).endswith("':knowledge-base/ABCDE12345']]}")
