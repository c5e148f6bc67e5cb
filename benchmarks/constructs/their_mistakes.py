"""The mistakes of `our_mistakes`, in an app with the blueprint's constructs."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from appmod_catalog_blueprints import (
    AclConfiguration,
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    BedrockModelProps,
    CreateKnowledgeBaseConfiguration,
    RetrievalConfiguration,
    VectorStoreConfiguration,
)
from aws_cdk.aws_s3_assets import Asset

HERE = Path(__file__).parent
ID = "ABCDE12345"


def knowledge_base(stack: cdk.Stack, name: str = "Handbook", **given: Any) -> BedrockKnowledgeBase:
    return BedrockKnowledgeBase(stack, name, **{"name": name, "description": "Rules.", **given})


def agent(stack: cdk.Stack, *knowledge_bases: Any, **given: Any) -> None:
    definition = AgentDefinitionProps(
        bedrock_model=given.pop("model", BedrockModelProps()),
        system_prompt=Asset(stack, "SystemPrompt", path=str(HERE / "system_prompt.txt")),
        knowledge_bases=list(knowledge_bases),
        tools=given.pop("tools", []),
    )
    said = {"agent_name": "librarian", "prompt": "Answer the question.", **given}
    BatchAgent(stack, "Agent", agent_definition=definition, **said)


def given(**arguments: Any) -> Any:
    return lambda stack: agent(stack, knowledge_base(stack, **arguments))


def creation() -> CreateKnowledgeBaseConfiguration:
    return CreateKnowledgeBaseConfiguration(
        data_source_bucket_name="documents", data_source_prefix="handbook/"
    )


def retrieval(**arguments: Any) -> RetrievalConfiguration:
    return RetrievalConfiguration(**arguments)


MADE = {
    "no_id_and_no_creation": given(knowledge_base_id=""),
    "id_and_creation": given(knowledge_base_id=ID, create=creation()),
    "one_id_twice": lambda stack: agent(
        stack,
        knowledge_base(stack, "A", knowledge_base_id=ID),
        knowledge_base(stack, "B", knowledge_base_id=ID),
    ),
    "blank_description": given(knowledge_base_id=ID, description=" "),
    "negative_count": given(knowledge_base_id=ID, retrieval=retrieval(number_of_results=-1)),
    "count_over_100": given(knowledge_base_id=ID, retrieval=retrieval(number_of_results=101)),
    "reserved_acl_field": given(
        knowledge_base_id=ID,
        acl=AclConfiguration(enabled=True, metadata_field="x-amz-bedrock-kb-source-uri"),
    ),
    "no_such_filter": given(
        knowledge_base_id=ID, retrieval=retrieval(retrieval_filter={"is": {"year": 2026}})
    ),
    "no_such_store": given(
        knowledge_base_id=ID, vector_store=VectorStoreConfiguration(type="FAISS")
    ),
    "3501_bytes": given(knowledge_base_id=ID, description="x" * 3501),
    "blank_name": lambda stack: agent(stack, agent_name=" "),
    "blank_prompt": lambda stack: agent(stack, prompt=" "),
    "no_such_model": lambda stack: agent(
        stack, model=BedrockModelProps(custom_model_id="Sonnet, please")
    ),
    "tool_is_no_python": lambda stack: agent(
        stack, tools=[Asset(stack, "Tool", path=str(HERE / "system_prompt.txt"))]
    ),
    "prompt_is_4_kb": lambda stack: agent(stack, prompt="x" * 4096),
}
