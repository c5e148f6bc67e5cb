"""An index of OpenSearch Serverless as a knowledge base: what is exported, taken, refused."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from stackroom_constructs import InvalidArgument, OpenSearchKnowledgeBase
from tests.constructs.test_bedrock_knowledge_base import statements

ARN = "arn:aws:aoss:us-east-1:123456789012:collection/abcdefghij0123456789"
ENDPOINT = "https://abcdefghij0123456789.us-east-1.aoss.amazonaws.com"


def of_ledgers(stack: cdk.Stack, **arguments: Any) -> OpenSearchKnowledgeBase:
    needed = {
        "collection_arn": ARN,
        "collection_name": "finance",
        "collection_endpoint": ENDPOINT,
        "tenancy": "shared",
    }
    return OpenSearchKnowledgeBase(stack, "Ledgers", **{**needed, **arguments})


def test_its_package_is_in_the_bundle_of_whoever_uses_it(stack: cdk.Stack) -> None:
    tool = of_ledgers(stack).retrieval_tool()

    assert tool.is_default
    assert [each.partition(">")[0] for each in tool.packages] == ["opensearch-py"]


def test_it_may_speak_to_exactly_its_collection_and_ask_exactly_its_model(
    stack: cdk.Stack,
) -> None:
    assert statements(stack, of_ledgers(stack)) == [
        {"Action": "aoss:APIAccessAll", "Resource": ARN},
        {
            "Action": "bedrock:InvokeModel",
            "Resource": "arn:{partition}:bedrock:{region}::foundation-model/"
            "amazon.titan-embed-text-v2:0",
        },
    ]


def test_a_role_is_allowed_to_read_the_index_and_nothing_else(stack: cdk.Stack) -> None:
    roles = [
        iam.Role(stack, name, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        for name in ("One", "Other")
    ]
    ledgers = of_ledgers(stack)

    for role in roles:
        ledgers.allow_reading(role)

    found = Template.from_stack(stack).find_resources("AWS::OpenSearchServerless::AccessPolicy")
    policies = [each["Properties"] for each in found.values()]
    names = {each["Name"] for each in policies}
    assert len(names) == 2
    assert all(3 <= len(name) <= 32 and name[0].isalpha() for name in names)
    told = [json.loads("".join(map(_text, each["Policy"]["Fn::Join"][1]))) for each in policies]
    assert [rule for [each] in told for rule in each["Rules"]] == [
        {
            "ResourceType": "index",
            "Resource": ["index/finance/knowledge-base"],
            "Permission": ["aoss:DescribeIndex", "aoss:ReadDocument"],
        }
    ] * 2
    assert len({each["Principal"][0] for [each] in told}) == 2


def _text(part: Any) -> str:
    return part if isinstance(part, str) else str(part["Fn::GetAtt"][0])


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("collection_arn", "finance", "an ARN of a collection"),
        ("collection_arn", f"{ARN}*", "an ARN of a collection"),
        ("collection_name", "Finance", "small letters"),
        ("collection_endpoint", "http://elsewhere", "https://"),
        ("index_name", "*", "small letters"),
        ("vector_field", " ", "not blank"),
        ("source_key", "", "not blank"),
        ("retrieval_filter", {"greaterThan": {"key": "year", "value": "2025"}}, "has a number"),
    ],
)
def test_what_is_wrong_is_refused(
    stack: cdk.Stack, argument: str, value: object, allowed: str
) -> None:
    with pytest.raises(InvalidArgument, match=allowed):
        of_ledgers(stack, **{argument: value})
