"""The resources and rights of an interactive agent."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_

from stackroom_agents.interactive import InteractiveSettings
from stackroom_constructs import AgentNetwork, InteractiveAgent, InvalidArgument
from tests.constructs.agents import (
    MODEL,
    a_stack,
    arguments,
    granted,
    properties,
    spelled,
    synthesise_with_cdk_nag,
)

ASSETS = "arn:aws:s3:::cdk-hnb659fds-assets-123456789012-us-east-1"
RUNTIME = "AWS::BedrockAgentCore::Runtime"
POOL = "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_pool"
LOGS = "arn:aws:logs:us-east-1:123456789012:log-group:"
LAYER = "arn:aws:lambda:us-east-1:123456789012:layer:somebodys:1"


def an_agent(stack: cdk.Stack, folder: Path, **given: Any) -> InteractiveAgent:
    pool = cognito.UserPool.from_user_pool_id(stack, "Pool", "us-east-1_pool")
    clients = [cognito.UserPoolClient.from_user_pool_client_id(stack, "Client", "pages")]
    required = {"user_pool": pool, "user_pool_clients": clients, **given}
    return InteractiveAgent(stack, "Agent", **arguments(stack, folder, **required))


def test_runtime_validates_tokens_and_has_exactly_the_needed_grants(
    tmp_path: Path,
) -> None:
    stack = a_stack()
    an_agent(stack, tmp_path)
    runtime = properties(stack, RUNTIME)
    values = {name: spelled(value) for name, value in runtime["EnvironmentVariables"].items()}
    settings = InteractiveSettings.from_env(values)
    code = runtime["AgentRuntimeArtifact"]["CodeConfiguration"]
    own = f"{LOGS}/aws/bedrock-agentcore/runtimes/{runtime['AgentRuntimeName']}-*"
    [trust] = properties(stack, "AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"]

    assert runtime["AuthorizerConfiguration"]["CustomJWTAuthorizer"] == {
        "AllowedClients": ["pages"],
        "DiscoveryUrl": f"{POOL}/.well-known/openid-configuration",
    }
    assert (settings.identity_issuer, settings.identity_client_ids) == (POOL, ("pages",))
    assert runtime["RequestHeaderConfiguration"] == {"RequestHeaderAllowlist": ["Authorization"]}
    assert trust["Principal"] == {"Service": "bedrock-agentcore.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    stream = "bedrock:InvokeModelWithResponseStream"
    assert granted(stack) == {
        (stream, f"arn:aws:bedrock:us-east-1::foundation-model/{MODEL}"),
        ("s3:GetObject", f"{ASSETS}/{settings.system_prompt_s3_key}"),
        ("s3:GetObject", f"{ASSETS}/{code['Code']['S3']['Prefix']}"),
        ("s3:GetObject", "<AgentSessions.Arn>/*"),
        ("s3:PutObject", "<AgentSessions.Arn>/*"),
        ("s3:ListBucket", "<AgentSessions.Arn>"),
        ("kms:Decrypt", "<AgentKey.Arn>"),
        ("kms:GenerateDataKey", "<AgentKey.Arn>"),
        ("logs:DescribeLogGroups", f"{LOGS}*"),
        ("logs:DescribeLogStreams", own),
        ("logs:CreateLogGroup", own),
        ("logs:CreateLogStream", f"{own}:log-stream:*"),
        ("logs:PutLogEvents", f"{own}:log-stream:*"),
    }


def test_sessions_are_encrypted_and_expire_without_cdk_nag_findings(tmp_path: Path) -> None:
    stack = a_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["a"], private_subnet_ids=["subnet-1"]
    )
    network = AgentNetwork(vpc=vpc)
    an_agent(stack, tmp_path, session_ttl=cdk.Duration.days(7), network=network)

    synthesise_with_cdk_nag(stack)
    bucket = properties(stack, "AWS::S3::Bucket")
    [rule] = bucket["LifecycleConfiguration"]["Rules"]
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    inside = properties(stack, RUNTIME)["NetworkConfiguration"]["NetworkModeConfig"]
    assert (rule["ExpirationInDays"], rule["Status"]) == (7, "Enabled")
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert inside["Subnets"] == ["subnet-1"]


def test_options_that_the_runtime_lacks_are_refused(tmp_path: Path) -> None:
    stack = a_stack()
    layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", LAYER)
    large = [
        {"knowledge_base_id": f"ABCDE1234{n}", "name": f"N{n}", "description": "x" * 700}
        for n in range(3)
    ]

    for name, given, argument in (
        ("lambda_layers", [layer], "lambda_layers"),
        ("user_pool_clients", [], "user_pool_clients"),
        ("knowledge_bases", large, "KNOWLEDGE_BASES_CONFIG"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            an_agent(cdk.Stack(stack, name.replace("_", "-")), tmp_path, **{name: given})
        assert refused.value.argument == argument
