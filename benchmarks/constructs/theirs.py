"""An agent that answers from a knowledge base that exists, with the blueprint's constructs."""

from pathlib import Path

import aws_cdk as cdk
from appmod_catalog_blueprints import (
    AclConfiguration,
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    BedrockModelProps,
    GuardrailConfiguration,
)
from aws_cdk.aws_s3_assets import Asset

PROMPT = str(Path(__file__).with_name("system_prompt.txt"))


def build(app: cdk.App) -> None:
    stack = cdk.Stack(app, "librarian")
    handbook = BedrockKnowledgeBase(
        stack,
        "Handbook",
        name="Handbook",
        description="Rules for all employees: travel, leave, expenses.",
        knowledge_base_id="ABCDE12345",
        acl=AclConfiguration(enabled=True),
        guardrail=GuardrailConfiguration(guardrail_id="abcdefgh1234"),
    )
    definition = AgentDefinitionProps(
        bedrock_model=BedrockModelProps(),
        system_prompt=Asset(stack, "SystemPrompt", path=PROMPT),
        knowledge_bases=[handbook],
    )
    BatchAgent(
        stack,
        "Agent",
        agent_name="librarian",
        agent_definition=definition,
        prompt="Answer the question.",
    )


if __name__ == "__main__":
    build(app := cdk.App())
    app.synth()
