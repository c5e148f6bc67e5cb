"""An agent that searches a knowledge base of somebody else's class by that class's own tool."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_dynamodb import Table
from aws_cdk.aws_s3_assets import Asset
from glossary import Glossary

from stackroom_constructs import AgentDefinitionProps, BatchAgent

PROMPT = str(Path(__file__).with_name("system_prompt.txt"))


def build(app: cdk.App) -> None:
    stack = cdk.Stack(app, "librarian")
    terms = Table.from_table_name(stack, "Terms", "terms")
    definition = AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=Asset(stack, "SystemPrompt", path=PROMPT),
        knowledge_bases=[Glossary(stack, "Glossary", table=terms)],
    )
    told = {"agent_name": "librarian", "prompt": "Explain the terms in this text."}
    BatchAgent(stack, "Agent", agent_definition=definition, **told)


if __name__ == "__main__":
    build(app := cdk.App())
    app.synth()
