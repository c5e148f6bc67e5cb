"""An agent that people talk to about documents in a bucket; docs/agents.md deploys and asks it."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk.aws_cognito import UserPool
from aws_cdk.aws_s3 import Bucket
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import (
    AgentDefinitionProps,
    BedrockKnowledgeBase,
    InteractiveAgent,
    KnowledgeBaseCreation,
)

app = cdk.App()
stack = cdk.Stack(app, "InteractiveAgent")
bucket = Bucket(stack, "Documents", enforce_ssl=True, removal_policy=cdk.RemovalPolicy.DESTROY)
handbook = BedrockKnowledgeBase(
    stack,
    "Handbook",
    create=KnowledgeBaseCreation(bucket=bucket, removal_policy=cdk.RemovalPolicy.DESTROY),
    description="Rules for all employees.",
)
users = UserPool(stack, "Users", removal_policy=cdk.RemovalPolicy.DESTROY)
prompt = Asset(stack, "Prompt", path=str(Path(__file__).with_name("system_prompt.txt")))
agent = InteractiveAgent(
    stack,
    "Agent",
    agent_name="interactive-agent",
    agent_definition=AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=prompt,
        knowledge_bases=[handbook],
    ),
    user_pool=users,
    user_pool_clients=[users.add_client("Pages")],
)
for name, value in {
    "Bucket": bucket.bucket_name,
    "KnowledgeBase": handbook.knowledge_base_id,
    "DataSource": handbook.data_source_id,
    "Sessions": agent.sessions.bucket_name,
    "Url": agent.invocations_url,
}.items():
    cdk.CfnOutput(stack, name, value=value)
app.synth()
