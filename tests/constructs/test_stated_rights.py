"""An agent's role with what knowledge bases state, watched by cdk-nag."""

from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_iam as iam

from stackroom_constructs import (
    BedrockKnowledgeBase,
    ImplicitFilter,
    InvalidArgument,
    MetadataAttribute,
    Reranking,
    VectorIndexKnowledgeBase,
)
from tests.constructs.agents import Wiki, a_stack, an_agent, nothing_found

CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"
ID = "ABCDE12345"


class Everywhere(Wiki):
    """Its maker took a star where there are resources to name."""

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        return [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=["*"])]


def test_what_our_knowledge_bases_state_is_right_as_it_is(tmp_path: Path) -> None:
    stack = a_stack()
    year = MetadataAttribute(key="year", type="NUMBER", description="Of issue.")
    told: dict[str, Any] = {
        "guardrail_id": "gr123",
        "reranking": Reranking(model="amazon.rerank-v1:0"),
    }
    of_bedrock = [
        BedrockKnowledgeBase(
            stack,
            f"Handbook{number}",
            knowledge_base_id=f"ABCDE1234{number}",
            implicit_filter=ImplicitFilter(model=f"{profile}{CLAUDE}", attributes=(year,)),
            **told,
        )
        for number, profile in enumerate(("", "eu.", "global."))
    ]
    in_an_index = VectorIndexKnowledgeBase(
        stack,
        "Parts",
        index_arn="arn:aws:s3vectors:us-east-1:123456789012:bucket/parts/index/chunks",
        tenancy="shared",
        **told,
    )

    an_agent(stack, tmp_path, knowledge_bases=[*of_bedrock, in_an_index])

    nothing_found(stack)


LISTING = iam.PolicyStatement(actions=["s3:ListAllMyBuckets"], resources=["*"])


@pytest.mark.parametrize(
    "given",
    [
        {"knowledge_bases": [Everywhere()]},
        {"additional_policy_statements_for_tools": [LISTING]},
        {"additional_policy_statements_for_knowledge_bases": [LISTING]},
    ],
    ids=["of a knowledge base", "for tools", "for knowledge bases"],
)
def test_a_star_of_somebody_else_is_for_them_to_explain(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    stack = a_stack()
    an_agent(stack, tmp_path, **{"knowledge_bases": [{"knowledge_base_id": ID}], **given})

    with pytest.raises(RuntimeError, match=r"AwsSolutions-IAM5\[Resource::\*\]"):
        nothing_found(stack)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"id": ID}, r"knowledge_bases\[0\] \['id'\] must be among the arguments of BedrockKn"),
        ({"knowledge_base_id": ID, "acl": True}, r"knowledge_bases\[0\] \['acl'\] must be among"),
        ({"name": "Rules"}, "knowledge_base_id None must be given"),
    ],
)
def test_plain_props_that_are_none_are_named(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidArgument, match=told):
        an_agent(a_stack(), tmp_path, knowledge_bases=[given])
