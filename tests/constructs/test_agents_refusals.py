"""Invalid arguments of an agent, and excessive statements, which fail the synthesis."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from stackroom_constructs import (
    InvalidArgument,
    RetrievalTool,
)
from tests.constructs.agents import Wiki, a_stack, an_agent, synthesise_with_cdk_nag


@pytest.fixture
def stack() -> cdk.Stack:
    return a_stack()


class Wrong(Wiki):
    """A third party's knowledge base with these members or this name."""

    def __init__(self, name: str = "The wiki", **members: Any) -> None:
        super().__init__()
        self.name = name
        self._members = members

    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), **self._members}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"agent_name": " "}, r"Stack/Agent: agent_name ' ' must be text like"),
        ({"enable_observability": 1}, "enable_observability 1 must be True or False"),
        (
            {"retrieve_max_tokens": 0},
            "Stack/Agent: retrieve_max_tokens 0 must be a whole number of 1 to 100,000",
        ),
        ({"prompt": " "}, "prompt ' ' must be non-blank text"),
        ({"invoke_type": "later"}, "invoke_type 'later' must be 'batch' or"),
        ({"knowledge_bases": "ABCDE12345"}, "'ABCDE12345' must be a list of knowledge bases"),
        ({"system_prompt": "You are"}, "Stack/Agent: system_prompt 'You are' must be an Asset of"),
        ({"bedrock_model": "Nova"}, "Stack/Agent: bedrock_model 'Nova' must be the id of a"),
        ({"knowledge_bases": [Wiki("a"), Wiki("a")]}, "knowledgeBaseId 'a' must be unique, but 2"),
        ({"knowledge_bases": ["ABCDE12345"]}, r"knowledge_bases\[0\] 'ABCDE12345' must be a kn"),
        (
            {"knowledge_bases": [Wrong(knowledgeBaseId=None)]},
            "knowledgeBaseId of 'The wiki' None must be non-blank text",
        ),
        (
            {"knowledge_bases": [Wrong(since={1, 2})]},
            "configuration of 'The wiki' .* must be serializable as JSON",
        ),
        (
            {"knowledge_bases": [Wrong(zones=cdk.Fn.get_azs())]},
            "free of lists that are known only at deploy",
        ),
        (
            {
                "knowledge_bases": [
                    Wiki("a"),
                    Wiki("b", RetrievalTool(name="search_wiki", module="another.tool")),
                ]
            },
            "name of a retrieval tool 'search_wiki' must be unique, but two tools",
        ),
        (
            {
                "knowledge_bases": [
                    Wiki("a", RetrievalTool(name="retrieve_from_knowledge_base", module="m"))
                ]
            },
            "name of a retrieval tool 'retrieve_from_knowledge_base' must be another name",
        ),
    ],
)
def test_invalid_argument_is_refused_with_what_is_allowed(
    stack: cdk.Stack, tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        an_agent(stack, tmp_path, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "search wiki", "module": "m"}, "name 'search wiki' must be 1 to 64 letters"),
        ({"name": "search_wiki"}, "'search_wiki' needs an asset or a module"),
        ({"module": "m", "asset": object()}, "must have an asset or a module, not both"),
    ],
)
def test_invalid_retrieval_tool_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrievalTool(**given)


@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        ({}, 1),
        ({"identity_from_event": True}, 0),
        ({"knowledge_bases": [Wiki()]}, 0),
    ],
)
def test_access_control_without_an_identity_adds_a_warning(
    stack: cdk.Stack, tmp_path: Path, given: dict[str, Any], warnings: int
) -> None:
    handbook = {"name": "Rules", "knowledge_base_id": "ABCDE12345", "enable_acl": True}

    agent = an_agent(stack, tmp_path, **{"knowledge_bases": [handbook], **given})

    found = [each for each in agent.node.metadata if each.type == "aws:cdk:warning"]
    assert len(found) == warnings
    assert all("every search in Rules fails" in each.data for each in found)


@pytest.mark.parametrize(
    ("seconds", "given", "message"),
    [
        (None, {}, "visibility_timeout of the queue 30 must be 600"),
        (600, {"batch_size": 11}, "batch_size 11 must be"),
        (600, {"max_concurrency": 1}, "max_concurrency 1 must be"),
    ],
)
def test_too_short_visibility_timeout_or_invalid_batch_is_refused(
    stack: cdk.Stack, tmp_path: Path, seconds: int | None, given: dict[str, int], message: str
) -> None:
    timeout = cdk.Duration.seconds(seconds) if seconds is not None else None
    queue = sqs.Queue(stack, "Queue", visibility_timeout=timeout)

    with pytest.raises(ValueError, match=message):
        an_agent(stack, tmp_path).consume(queue, **given)


ID = "ABCDE12345"


class Everywhere(Wiki):
    """A knowledge base whose author used * although there are resources to name."""

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        return [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=["*"])]


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
def test_unexplained_wildcard_of_others_is_a_finding(tmp_path: Path, given: dict[str, Any]) -> None:
    stack = a_stack()
    an_agent(stack, tmp_path, **{"knowledge_bases": [{"knowledge_base_id": ID}], **given})

    with pytest.raises(RuntimeError, match=r"AwsSolutions-IAM5\[Resource::\*\]"):
        synthesise_with_cdk_nag(stack)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": ID}, r"knowledge_bases\[0\] \['id'\] must be arguments of BedrockKn"),
        (
            {"knowledge_base_id": ID, "acl": True},
            r"knowledge_bases\[0\] \['acl'\] must be arguments",
        ),
        ({"name": "Rules"}, "knowledge_base_id None must be the id of an existing knowledge base"),
    ],
)
def test_unknown_plain_props_are_refused_by_name(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        an_agent(a_stack(), tmp_path, knowledge_bases=[given])
