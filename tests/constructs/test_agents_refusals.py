"""Mistakes in an agent's arguments, told when the app is synthesised."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import AgentNetwork, RetrievalTool
from tests.constructs.agents import Wiki, a_file, a_stack, an_agent, entries


@pytest.fixture
def stack() -> cdk.Stack:
    return a_stack()


class Nameless(Wiki):
    def __init__(self) -> None:
        super().__init__()
        self.name = " "


class Idless(Wiki):
    def export_configuration(self) -> dict[str, Any]:
        return {"url": "https://wiki.example"}


class NoJson(Wiki):
    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), "since": {1, 2}}


class NotANumber(Wiki):
    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), "weight": float("nan")}


class KnownAtDeploy(Wiki):
    def export_configuration(self) -> dict[str, Any]:
        zones = cdk.Fn.get_azs()
        return {**super().export_configuration(), "zones": zones}


class Served(Wiki):
    """Searched by Stackroom's own tool, and configured by somebody else."""

    def __init__(self, **members: Any) -> None:
        super().__init__(tool=RetrievalTool())
        self._members = members

    def export_configuration(self) -> dict[str, Any]:
        return {"knowledgeBaseId": "ABCDE12345", **self._members}


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"url": "https://a"}, r"members \['url'\] must be left out without a tool of its own"),
        ({"vectorStoreType": "PINECONE"}, "vectorStoreType 'PINECONE' must be one of S3_VECTORS"),
        ({"retrievalFilter": {"like": 1}}, "retrieval_filter .* must be made of the operators"),
    ],
)
def test_what_stackrooms_tool_would_refuse_of_anybodys_class_is_told(
    stack: cdk.Stack, tmp_path: Path, members: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=f"Stack/Agent: configuration of 'The wiki': {told}"):
        an_agent(stack, tmp_path, knowledge_bases=[Served(**members)])


def test_anybodys_class_may_be_searched_by_stackrooms_tool(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    an_agent(stack, tmp_path, knowledge_bases=[Served(vectorStoreType="RDS")])

    [entry] = entries(stack)
    assert entry["vectorStoreType"] == "RDS"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"agent_name": " "}, r"Stack/Agent: agent_name ' ' must be text like"),
        ({"prompt": "\n"}, r"prompt '\\n' must be a text that is not blank"),
        ({"invoke_type": "stream"}, "invoke_type 'stream' must be 'batch' or 'attach-directly'"),
        ({"enable_observability": 1}, "enable_observability 1 must be True or False"),
        (
            {"retrieve_max_tokens": 0},
            "Stack/Agent: retrieve_max_tokens 0 must be a whole number of 1 to 100,000",
        ),
        ({"retrieve_max_tokens": 100_001}, "retrieve_max_tokens 100001 must be a whole number"),
        (
            {"retrieve_prioritize_by": "newest"},
            "retrieve_prioritize_by 'newest' must be one of similarity, recency, balanced",
        ),
        ({"system_prompt": "You are"}, "Stack/Agent: system_prompt 'You are' must be an Asset of"),
        ({"tools": ["tool.py"]}, r"Stack/Agent: tools\[0\] 'tool.py' must be an Asset of"),
        ({"bedrock_model": "Nova"}, "Stack/Agent: bedrock_model 'Nova' must be the id of a"),
        ({"knowledge_bases": [Wiki("a"), Wiki("a")]}, "knowledgeBaseId 'a' must be in one of"),
        ({"knowledge_bases": ["ABCDE12345"]}, r"knowledge_bases\[0\] 'ABCDE12345' must be a kn"),
        ({"knowledge_bases": Wiki()}, "Stack/Agent: knowledge_bases .* must be a list of know"),
        ({"knowledge_bases": [Nameless()]}, "name of ' ' ' ' must be a text that is not blank"),
        ({"knowledge_bases": [Idless()]}, "knowledgeBaseId of 'The wiki' None must be a text"),
        ({"knowledge_bases": [NoJson()]}, "configuration of 'The wiki' .* must be what JSON"),
        ({"knowledge_bases": [NotANumber()]}, "configuration of 'The wiki' .* must be what JSON"),
        ({"knowledge_bases": [KnownAtDeploy()]}, "free of lists that are known only at deploy"),
        (
            {
                "knowledge_bases": [
                    Wiki("a"),
                    Wiki("b", RetrievalTool(name="search_wiki", module="another.tool")),
                ]
            },
            "name of a retrieval tool 'search_wiki' must be the name of one tool",
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
def test_a_mistake_is_told_with_what_is_allowed(
    stack: cdk.Stack, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        an_agent(stack, tmp_path, **given)


@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        ({}, 1),
        ({"identity_from_event": True}, 0),
        ({"knowledge_bases": [Wiki()]}, 0),
    ],
)
def test_groups_without_an_identity_are_warned_of(
    stack: cdk.Stack, tmp_path: Path, given: dict[str, Any], warnings: int
) -> None:
    handbook = {"name": "Rules", "knowledge_base_id": "ABCDE12345", "enable_acl": True}

    agent = an_agent(stack, tmp_path, **{"knowledge_bases": [handbook], **given})

    found = [each for each in agent.node.metadata if each.type == "aws:cdk:warning"]
    assert len(found) == warnings
    assert all("every search in Rules fails" in each.data for each in found)


def test_a_prompt_that_is_a_folder_is_refused(stack: cdk.Stack, tmp_path: Path) -> None:
    a_file(tmp_path, "prompt.txt", "")
    folder = Asset(stack, "Prompt", path=str(tmp_path))

    with pytest.raises(ValueError, match="system_prompt 'Stack/Prompt' must be a single text file"):
        an_agent(stack, tmp_path, system_prompt=folder)


@pytest.mark.parametrize(
    ("name", "times", "told"),
    [("tool.txt", 1, r"must be a \.py file, or a zip"), ("tool.py", 2, "must be given once")],
)
def test_a_tool_that_is_no_python_or_given_twice_is_refused(
    stack: cdk.Stack, tmp_path: Path, name: str, times: int, told: str
) -> None:
    tool = Asset(stack, "Tool", path=a_file(tmp_path, name, ""))

    with pytest.raises(ValueError, match=f"tools 'Stack/Tool' {told}"):
        an_agent(stack, tmp_path, tools=[tool] * times)


def test_a_network_is_an_agents_network(stack: cdk.Stack, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="network 'vpc' must be an AgentNetwork"):
        an_agent(stack, tmp_path, network="vpc")


def test_a_network_without_a_security_group_is_refused(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", restrict_default_security_group=False)

    with pytest.raises(ValueError, match="security_groups of an agent's network must be one"):
        AgentNetwork(vpc=vpc, security_groups=())


def test_another_way_to_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="context stackroom:bundling 'docker' must be 'full' or"):
        an_agent(a_stack(**{"stackroom:bundling": "docker"}), tmp_path)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, "visibility_timeout of the queue 30 must be 600"), (599, "599 must be 600 seconds")],
)
def test_a_queue_that_shows_a_message_again_too_soon_is_refused(
    stack: cdk.Stack, tmp_path: Path, seconds: int | None, told: str
) -> None:
    timeout = cdk.Duration.seconds(seconds) if seconds is not None else None
    queue = sqs.Queue(stack, "Queue", visibility_timeout=timeout)

    with pytest.raises(ValueError, match=told):
        an_agent(stack, tmp_path).consume(queue)


@pytest.mark.parametrize("given", [{"batch_size": 0}, {"batch_size": 11}, {"max_concurrency": 1}])
def test_a_batch_that_lambda_refuses_is_refused(
    stack: cdk.Stack, tmp_path: Path, given: dict[str, int]
) -> None:
    arn = "arn:aws:sqs:us-east-1:123456789012:theirs"
    queue = sqs.Queue.from_queue_arn(stack, "Queue", arn)
    [name] = given

    with pytest.raises(ValueError, match=f"{name} {given[name]} must be"):
        an_agent(stack, tmp_path).consume(queue, **given)
