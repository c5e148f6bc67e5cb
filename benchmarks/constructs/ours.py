"""An agent that answers from a knowledge base that exists, with Stackroom's constructs."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import AgentDefinitionProps, BatchAgent, BedrockKnowledgeBase

PROMPT = str(Path(__file__).with_name("system_prompt.txt"))


def build(app: cdk.App) -> None:
    stack = cdk.Stack(app, "librarian")
    handbook = BedrockKnowledgeBase(
        stack,
        "Handbook",
        knowledge_base_id="ABCDE12345",
        description="Rules for all employees: travel, leave, expenses.",
        enable_acl=True,
        guardrail_id="abcdefgh1234",
    )
    definition = AgentDefinitionProps(
        bedrock_model="anthropic.claude-sonnet-4-20250514-v1:0",
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
