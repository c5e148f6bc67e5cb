"""Synthesised agents, and their templates with references resolved."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from aws_cdk.aws_s3_assets import Asset
from cdk_nag import AwsSolutionsChecks

from stackroom_constructs import AgentDefinitionProps, BatchAgent, IKnowledgeBase, RetrievalTool

MODEL = "amazon.nova-lite-v1:0"
# The environment of the tests' stacks, so that ARNs can be written out.
HERE = cdk.Environment(account="123456789012", region="us-east-1")
_FLAGS = {"@aws-cdk/core:enablePartitionLiterals": True, "stackroom:bundling": "none"}


def a_stack(**context: object) -> cdk.Stack:
    app = cdk.App(analytics_reporting=False, context={**_FLAGS, **context})
    return cdk.Stack(app, "Stack", env=HERE)


def a_file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def an_agent(stack: cdk.Stack, folder: Path, **given: Any) -> BatchAgent:
    return BatchAgent(
        stack, "Agent", **arguments(stack, folder, **{"prompt": "Answer the question.", **given})
    )


def arguments(stack: cdk.Stack, folder: Path, **given: Any) -> dict[str, Any]:
    """
    Return the minimal arguments of an agent; `given` adds arguments of it or of its definition.
    """
    prompt = a_file(folder, "system_prompt.txt", "You are a librarian.\n")
    of_definition = {
        name: given.pop(name) for name in AgentDefinitionProps.__annotations__ if name in given
    }
    if "system_prompt" not in of_definition:
        of_definition["system_prompt"] = Asset(stack, "SystemPrompt", path=prompt)
    definition = AgentDefinitionProps(**{"bedrock_model": MODEL, **of_definition})
    return {"agent_name": "librarian", "agent_definition": definition, **given}


def resources(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = Template.from_stack(stack).to_json()["Resources"]
    return found


def properties(stack: cdk.Stack, type_: str) -> dict[str, Any]:
    """Return the properties of the only resource of a type."""
    [found] = [each for each in resources(stack).values() if each["Type"] == type_]
    properties: dict[str, Any] = found["Properties"]
    return properties


def variables(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any] = properties(stack, "AWS::Lambda::Function")["Environment"]["Variables"]
    return found


def entries(stack: cdk.Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(variables(stack)["KNOWLEDGE_BASES_CONFIG"])
    return found


def granted(stack: cdk.Stack, policy: str = "") -> set[tuple[str, str]]:
    """Return action and resource of every statement; `policy` is the name of an inline policy."""
    role = properties(stack, "AWS::IAM::Role")
    documents = {each["PolicyName"]: each["PolicyDocument"] for each in role.get("Policies", ())}
    if policy:
        documents = {policy: documents[policy]}
    else:
        documents["default"] = properties(stack, "AWS::IAM::Policy")["PolicyDocument"]
    return {
        (action, spelled(resource))
        for document in documents.values()
        for statement in document["Statement"]
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def app_of(stack: cdk.Stack) -> cdk.App:
    app = stack.node.root
    assert isinstance(app, cdk.App), "the root of these tests is an app"
    return app


def synthesise_with_cdk_nag(stack: cdk.Stack) -> None:
    """Synthesise the app; unaccepted findings of cdk-nag fail."""
    app = app_of(stack)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()


def spelled(value: Any) -> str:
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(spelled, parts))
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name.rstrip('0123456789ABCDEF')}.{attribute}>"
        case _:
            return str(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class Wiki:
    """A third party's knowledge base, which only implements the interface."""

    def __init__(self, wiki_id: str = "wiki", tool: RetrievalTool | None = None) -> None:
        self.name = f"The {wiki_id}"
        self.description = "What colleagues wrote down."
        self._id = wiki_id
        self._tool = tool or RetrievalTool(name="search_wiki", module="their_wiki.tool")

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        secret = f"arn:aws:secretsmanager:us-east-1:123456789012:secret:{self._id}"
        return [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[secret])]

    def export_configuration(self) -> dict[str, Any]:
        return {"knowledgeBaseId": self._id, "url": "https://wiki.example"}

    def retrieval_tool(self) -> RetrievalTool:
        return self._tool


def statements(stack: cdk.Stack, knowledge_base: IKnowledgeBase) -> list[dict[str, Any]]:
    """Return the statements as IAM reads them, with pseudo parameters in braces."""
    found = [each.to_statement_json() for each in knowledge_base.generate_iam_permissions()]
    return [
        {
            "Action": each["Action"],
            "Resource": readable(each["Resource"]),
            **({"Condition": readable(each["Condition"])} if "Condition" in each else {}),
        }
        for each in stack.resolve(found)
    ]


def readable(value: Any) -> Any:
    match value:
        case {"Fn::Join": ["", parts]}:
            return "".join(map(readable, parts))
        case {"Ref": str(name)} if name.startswith("AWS::"):
            return {
                "AWS::Partition": "{partition}",
                "AWS::Region": "{region}",
                "AWS::AccountId": "{account}",
            }[name]
        case list():
            return [readable(each) for each in value]
        case dict():
            return {key: readable(each) for key, each in value.items()}
        case _:
            return value
