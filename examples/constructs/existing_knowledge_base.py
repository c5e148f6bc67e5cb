"""An agent that answers from a knowledge base that exists."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import AgentDefinitionProps, BatchAgent, BedrockKnowledgeBase

PROMPT = str(Path(__file__).with_name("system_prompt.txt"))


def build(app: cdk.App) -> None:
    stack = cdk.Stack(app, "librarian")
    about = "Rules for all employees: travel, leave, expenses."
    handbook = BedrockKnowledgeBase(
        stack, "Handbook", knowledge_base_id="ABCDE12345", description=about
    )
    definition = AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=Asset(stack, "SystemPrompt", path=PROMPT),
        knowledge_bases=[handbook],
    )
    told = {"agent_name": "librarian", "prompt": "Answer the question."}
    BatchAgent(stack, "Agent", agent_definition=definition, **told)


if __name__ == "__main__":
    build(app := cdk.App())
    app.synth()
