"""The effects of knowledge bases on an agent's template."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import BedrockKnowledgeBase, RetrievalTool
from stackroom_constructs.environment import length
from tests.constructs.agents import (
    Wiki,
    a_file,
    a_stack,
    an_agent,
    entries,
    granted,
    properties,
    resources,
    variables,
)

HERE = "arn:aws:bedrock:us-east-1:123456789012"


@pytest.fixture
def stack() -> cdk.Stack:
    return a_stack()


@pytest.fixture
def two(stack: cdk.Stack) -> list[BedrockKnowledgeBase]:
    return [
        BedrockKnowledgeBase(stack, name, knowledge_base_id=its_id, description=f"All {name}.")
        for name, its_id in (("Handbook", "AAAAAAAAAA"), ("Contracts", "BBBBBBBBBB"))
    ]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The resources of an agent without knowledge bases."""
    stack = a_stack()
    an_agent(stack, tmp_path_factory.mktemp("plain"))
    return resources(stack)


@pytest.mark.parametrize("none", [None, ()])
def test_empty_knowledge_bases_change_nothing(
    stack: cdk.Stack, tmp_path: Path, plain: dict[str, dict[str, Any]], none: Any
) -> None:
    an_agent(stack, tmp_path, knowledge_bases=none)

    assert resources(stack) == plain
    assert "KNOWLEDGE_BASE" not in json.dumps(plain)
    assert "bedrock:Retrieve" not in json.dumps(plain)


def test_two_knowledge_bases_add_only_their_entries_and_grants(
    stack: cdk.Stack,
    tmp_path: Path,
    two: list[BedrockKnowledgeBase],
    plain: dict[str, dict[str, Any]],
) -> None:
    an_agent(stack, tmp_path, knowledge_bases=two)

    assert entries(stack) == [each.export_configuration() for each in two]
    assert granted(stack, "KnowledgeBases") == {
        ("bedrock:Retrieve", f"{HERE}:knowledge-base/AAAAAAAAAA"),
        ("bedrock:Retrieve", f"{HERE}:knowledge-base/BBBBBBBBBB"),
        ("bedrock:RetrieveAndGenerate", "*"),
    }
    after = resources(stack)
    [function] = [each for each in after.values() if each["Type"] == "AWS::Lambda::Function"]
    [role] = [each for each in after.values() if each["Type"] == "AWS::IAM::Role"]
    del function["Properties"]["Environment"]["Variables"]["KNOWLEDGE_BASES_CONFIG"]
    del role["Properties"]["Policies"]
    assert function["Properties"]["KmsKeyArn"]
    assert after == plain


def test_statements_of_knowledge_bases_are_never_merged(tmp_path: Path) -> None:
    stack = a_stack(**{"@aws-cdk/aws-iam:minimizePolicies": True})
    stated = iam.PolicyStatement(
        sid="Theirs",
        actions=["bedrock:Rerank"],
        resources=["arn:aws:bedrock:us-east-1::foundation-model/rerank"],
        conditions={"StringEquals": {"aws:RequestedRegion": "us-east-1"}},
    )
    wikis = [Wiki("one"), Wiki("two")]
    an_agent(
        stack,
        tmp_path,
        knowledge_bases=wikis,
        additional_policy_statements_for_knowledge_bases=[stated],
    )

    [policy] = properties(stack, "AWS::IAM::Role")["Policies"]

    theirs = [statement for wiki in wikis for statement in wiki.generate_iam_permissions()]
    assert policy["PolicyDocument"]["Statement"] == [
        each.to_statement_json() for each in (*theirs, stated)
    ]


def test_plain_props_create_bedrock_knowledge_bases(stack: cdk.Stack, tmp_path: Path) -> None:
    props = [
        {"knowledge_base_id": each * 10, "name": "Handbook", "number_of_results": 3}
        for each in "AB"
    ]
    an_agent(stack, tmp_path, knowledge_bases=props)

    settings = [(each["knowledgeBaseId"], each["numberOfResults"]) for each in entries(stack)]
    assert settings == [("AAAAAAAAAA", 3), ("BBBBBBBBBB", 3)]
    assert ("bedrock:Retrieve", f"{HERE}:knowledge-base/AAAAAAAAAA") in granted(stack)


def test_custom_knowledge_base_adds_its_tool_layers_and_grants(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    asset = Asset(stack, "Tool", path=a_file(tmp_path, "search_wiki.py", "TOOL = 1\n"))
    code = lambda_.Code.from_asset(str(tmp_path))
    layer = lambda_.LayerVersion(stack, "Layer", code=code)
    tool = RetrievalTool(name="search_wiki", asset=asset, layers=(layer,))
    an_agent(stack, tmp_path, knowledge_bases=[Wiki("one", tool), Wiki("two", tool)])

    first, second = entries(stack)

    assert first == {
        "knowledgeBaseId": "one",
        "name": "The one",
        "description": "What colleagues wrote down.",
        "url": "https://wiki.example",
        "retrievalTool": "search_wiki",
    }
    assert second["retrievalTool"] == "search_wiki"
    assert variables(stack)["TOOLS_CONFIG"].count(asset.asset_hash) == 1
    assert any(resource.endswith(f"/{asset.asset_hash}.py") for _, resource in granted(stack))
    assert len(properties(stack, "AWS::Lambda::Function")["Layers"]) == 1
    secrets = "arn:aws:secretsmanager:us-east-1:123456789012:secret"
    assert granted(stack, "KnowledgeBases") == {
        ("secretsmanager:GetSecretValue", f"{secrets}:one"),
        ("secretsmanager:GetSecretValue", f"{secrets}:two"),
    }


def with_a_configuration_of(bytes_: int, stack: cdk.Stack) -> list[BedrockKnowledgeBase]:
    def described(scope: cdk.Stack, text: str) -> BedrockKnowledgeBase:
        return BedrockKnowledgeBase(
            scope, "Long", knowledge_base_id="AAAAAAAAAA", description=text, name="Long"
        )

    short = described(a_stack(), "x").export_configuration()
    rest = len(json.dumps([short], separators=(",", ":"))) - 1
    # Letters of two bytes, which JSON doesn't escape, and one more if the size is odd.
    two, one = divmod(bytes_ - rest, 2)
    return [described(stack, "ä" * two + "x" * one)]


def test_configuration_over_3500_bytes_is_refused_with_the_longest_parts(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    an_agent(stack, tmp_path, knowledge_bases=with_a_configuration_of(3500, stack))
    assert len(variables(stack)["KNOWLEDGE_BASES_CONFIG"].encode()) == 3500

    longer = a_stack()
    with pytest.raises(ValueError, match="KNOWLEDGE_BASES_CONFIG has 3,501 bytes") as refused:
        an_agent(longer, tmp_path, knowledge_bases=with_a_configuration_of(3501, longer))

    assert "may have 3,500" in str(refused.value)
    assert "'Long' with 3,499" in str(refused.value)


def test_environment_over_4096_bytes_is_refused_with_the_longest_parts(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    probe = a_stack()
    an_agent(probe, tmp_path, prompt="x")
    # As in Lambda's error message: one JSON object, in which a quote has a backslash.
    measured = len(json.dumps(variables(probe), separators=(",", ":")).encode())
    room = 4096 - measured + 1

    an_agent(stack, tmp_path, prompt='"' + "x" * (room - 2))
    with pytest.raises(ValueError, match="environment of the function has 4,097 bytes") as refused:
        an_agent(a_stack(), tmp_path, prompt="x" * (room + 1))

    assert f"'PROMPT' with {room + 1:,}" in str(refused.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ä", 2),
        (cdk.Aws.ACCOUNT_ID, 12),
        (cdk.Fn.get_att("Made", "KnowledgeBaseId").to_string(), 10),
        (cdk.Fn.import_value("Other:ExportsOutputFnGetAttMadeKnowledgeBaseId1A2B"), 10),
        (cdk.Fn.get_att("Made", "Name").to_string(), 64),
    ],
    # A token's text differs between processes.
    ids=["text", "account", "id", "imported", "other"],
)
def test_length_of_tokens_is_estimated(value: str, expected: int) -> None:
    app = cdk.App(analytics_reporting=False)

    assert length(cdk.Stack(app, "Anywhere"), value) == expected
