"""An agent with a knowledge base made for it, where a document says which groups may read it."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_s3_assets import Asset

import stackroom_constructs as sr

PROMPT = str(Path(__file__).with_name("system_prompt.txt"))


def build(app: cdk.App) -> None:
    stack = cdk.Stack(app, "librarian")
    bucket = Bucket.from_bucket_name(stack, "Bucket", "documents-of-the-house")
    rules = sr.KnowledgeBaseCreation(bucket=bucket, prefix="rules/", chunking="fixed")
    handbook = sr.BedrockKnowledgeBase(stack, "Handbook", create=rules, enable_acl=True)
    definition = sr.AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=Asset(stack, "SystemPrompt", path=PROMPT),
        knowledge_bases=[handbook],
    )
    told = {"agent_name": "librarian", "prompt": "Answer.", "identity_from_event": True}
    sr.BatchAgent(stack, "Agent", agent_definition=definition, **told)


if __name__ == "__main__":
    build(app := cdk.App())
    app.synth()
