"""An agent that answers from documents in a bucket; docs/agents.md deploys it and asks it."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import (
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    KnowledgeBaseCreation,
)

app = cdk.App()
stack = cdk.Stack(app, "FirstAgent")
bucket = Bucket(stack, "Documents", enforce_ssl=True, removal_policy=cdk.RemovalPolicy.DESTROY)
handbook = BedrockKnowledgeBase(
    stack,
    "Handbook",
    create=KnowledgeBaseCreation(
        bucket=bucket, prefix="handbook/", removal_policy=cdk.RemovalPolicy.DESTROY
    ),
    description="Rules for all employees.",
)
prompt = Asset(stack, "Prompt", path=str(Path(__file__).with_name("system_prompt.txt")))
agent = BatchAgent(
    stack,
    "Agent",
    agent_name="first-agent",
    agent_definition=AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=prompt,
        knowledge_bases=[handbook],
    ),
    prompt="Answer the question.",
)
for name, value in {
    "Bucket": bucket.bucket_name,
    "KnowledgeBase": handbook.knowledge_base_id,
    "DataSource": handbook.data_source_id,
    "Function": agent.agent_function.function_name,
}.items():
    cdk.CfnOutput(stack, name, value=value)
app.synth()
