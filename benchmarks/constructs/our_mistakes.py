"""The mistakes of `their_mistakes`, in an app with Stackroom's constructs."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import (
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    KnowledgeBaseCreation,
)

HERE = Path(__file__).parent
ID = "ABCDE12345"


def knowledge_base(stack: cdk.Stack, name: str = "Handbook", **given: Any) -> BedrockKnowledgeBase:
    return BedrockKnowledgeBase(stack, name, **{"description": "Rules.", **given})


def agent(stack: cdk.Stack, *knowledge_bases: Any, **given: Any) -> None:
    definition = AgentDefinitionProps(
        bedrock_model=given.pop("model", "anthropic.claude-sonnet-4-20250514-v1:0"),
        system_prompt=Asset(stack, "SystemPrompt", path=str(HERE / "system_prompt.txt")),
        knowledge_bases=knowledge_bases,
        tools=given.pop("tools", ()),
    )
    said = {"agent_name": "librarian", "prompt": "Answer the question.", **given}
    BatchAgent(stack, "Agent", agent_definition=definition, **said)


def given(**arguments: Any) -> Any:
    return lambda stack: agent(stack, knowledge_base(stack, **arguments))


def created(stack: cdk.Stack) -> KnowledgeBaseCreation:
    return KnowledgeBaseCreation(bucket=Bucket(stack, "Documents"), prefix="handbook/")


MADE = {
    "no_id_and_no_creation": given(),
    "id_and_creation": lambda stack: agent(
        stack, knowledge_base(stack, knowledge_base_id=ID, create=created(stack))
    ),
    "one_id_twice": lambda stack: agent(
        stack,
        knowledge_base(stack, "A", knowledge_base_id=ID),
        knowledge_base(stack, "B", knowledge_base_id=ID),
    ),
    "blank_description": given(knowledge_base_id=ID, description=" "),
    "negative_count": given(knowledge_base_id=ID, number_of_results=-1),
    "count_over_100": given(knowledge_base_id=ID, number_of_results=101),
    "reserved_acl_field": given(
        knowledge_base_id=ID,
        enable_acl=True,
        acl_metadata_field="x-amz-bedrock-kb-source-uri",
    ),
    "no_such_filter": given(knowledge_base_id=ID, retrieval_filter={"is": {"year": 2026}}),
    "no_such_store": given(knowledge_base_id=ID, vector_store_type="FAISS"),
    "3501_bytes": given(knowledge_base_id=ID, description="x" * 3501),
    "blank_name": lambda stack: agent(stack, agent_name=" "),
    "blank_prompt": lambda stack: agent(stack, prompt=" "),
    "no_such_model": lambda stack: agent(stack, model="Sonnet, please"),
    "tool_is_no_python": lambda stack: agent(
        stack, tools=[Asset(stack, "Tool", path=str(HERE / "system_prompt.txt"))]
    ),
    "prompt_is_4_kb": lambda stack: agent(stack, prompt="x" * 4096),
}
