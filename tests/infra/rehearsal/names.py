"""Rules that AWS's schemas lack: unique names, values of Ref and Fn::GetAtt, and size limits."""

import json
from collections.abc import Mapping
from typing import Any

# Resource types whose instances can't share these properties, and the scope of that: "account" and
# "region", one of them, or "" for the whole partition. The source is the API reference of each
# type's create request, unless another one is named.
UNIQUE_NAMES: Mapping[str, tuple[str, ...]] = {
    "AWS::ApiGatewayV2::DomainName": ("account region", "DomainName"),
    "AWS::Bedrock::DataSource": ("account region", "KnowledgeBaseId", "Name"),
    "AWS::Bedrock::KnowledgeBase": ("account region", "Name"),
    "AWS::BedrockAgentCore::Gateway": ("account region", "Name"),
    "AWS::BedrockAgentCore::GatewayTarget": ("account region", "GatewayIdentifier", "Name"),
    # "must be unique within the account", whatever its engine
    "AWS::BedrockAgentCore::Policy": ("account region", "Name"),
    "AWS::BedrockAgentCore::PolicyEngine": ("account region", "Name"),
    "AWS::CloudWatch::Alarm": ("account region", "AlarmName"),
    # "All dashboards in your account are global, not region-specific": PutDashboard
    "AWS::CloudWatch::Dashboard": ("account", "DashboardName"),
    "AWS::Cognito::ManagedLoginBranding": ("account region", "UserPoolId", "ClientId"),
    # https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-assign-domain-prefix.html
    "AWS::Cognito::UserPoolDomain": ("region", "Domain"),
    "AWS::Cognito::UserPoolGroup": ("account region", "UserPoolId", "GroupName"),
    "AWS::Cognito::UserPoolResourceServer": ("account region", "UserPoolId", "Identifier"),
    "AWS::DynamoDB::GlobalTable": ("account region", "TableName"),
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
    "AWS::IAM::ManagedPolicy": ("account", "ManagedPolicyName"),
    "AWS::IAM::Role": ("account", "RoleName"),
    "AWS::KMS::Alias": ("account region", "AliasName"),
    "AWS::Lambda::EventInvokeConfig": ("account region", "FunctionName", "Qualifier"),
    "AWS::Lambda::EventSourceMapping": ("account region", "EventSourceArn", "FunctionName"),
    "AWS::Lambda::Function": ("account region", "FunctionName"),
    "AWS::Logs::LogGroup": ("account region", "LogGroupName"),
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    "AWS::S3::Bucket": ("", "BucketName"),
    "AWS::S3Vectors::Index": ("account region", "VectorBucketArn", "IndexName"),
    "AWS::S3Vectors::VectorBucket": ("account region", "VectorBucketName"),
    "AWS::SNS::Topic": ("account region", "TopicName"),
    "AWS::SQS::Queue": ("account region", "QueueName"),
    "AWS::StepFunctions::StateMachine": ("account region", "StateMachineName"),
}

# The values of Ref other than names: "Return values" in each type's reference. `id` stands for ten
# characters that AWS generates.
REFS: Mapping[str, str] = {
    "AWS::ApiGatewayV2::Api": "{id}",
    "AWS::ApiGatewayV2::Integration": "{id}",
    "AWS::Bedrock::KnowledgeBase": "{id}",
    "AWS::BedrockAgentCore::Gateway": "{name}-{id}",
    "AWS::BedrockAgentCore::PolicyEngine": (
        "arn:aws:bedrock-agentcore:{region}:{account}:policy-engine/{name}-{id}"
    ),
    "AWS::Cognito::IdentityPool": "{region}:00000000-0000-0000-0000-00{id}",
    "AWS::Cognito::UserPool": "{region}_{id}",
    "AWS::Cognito::UserPoolClient": "{id}{id}",
    "AWS::IAM::ManagedPolicy": "arn:aws:iam::{account}:policy/{name}",
    "AWS::KMS::Key": "{id}",
    "AWS::S3Vectors::Index": "{VectorBucketArn}/index/{IndexName}",
    "AWS::S3Vectors::VectorBucket": "arn:aws:s3vectors:{region}:{account}:bucket/{name}",
    "AWS::SNS::Topic": "arn:aws:sns:{region}:{account}:{name}",
    "AWS::SQS::Queue": "https://sqs.{region}.amazonaws.com/{account}/{name}",
    "AWS::SecretsManager::Secret": "arn:aws:secretsmanager:{region}:{account}:secret:{name}-{id}",
    "AWS::StepFunctions::StateMachine": "arn:aws:states:{region}:{account}:stateMachine:{name}",
}
# The values of Fn::GetAtt other than ARNs like "arn:aws:sqs:{region}:{account}:{name}".
ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "AWS::ApiGatewayV2::DomainName": {"RegionalDomainName": "d-{id}.execute-api.amazonaws.com"},
    "AWS::Bedrock::DataSource": {"DataSourceId": "{id}"},
    "AWS::Bedrock::KnowledgeBase": {
        "KnowledgeBaseId": "{ref}",
        "KnowledgeBaseArn": "arn:aws:bedrock:{region}:{account}:knowledge-base/{ref}",
    },
    "AWS::BedrockAgentCore::Gateway": {
        "GatewayIdentifier": "{ref}",
        "GatewayArn": "arn:aws:bedrock-agentcore:{region}:{account}:gateway/{ref}",
    },
    "AWS::BedrockAgentCore::PolicyEngine": {
        "PolicyEngineArn": "{ref}",
        "PolicyEngineId": "{name}-{id}",
    },
    "AWS::IAM::Role": {"Arn": "arn:aws:iam::{account}:role/{name}"},
    "AWS::KMS::Key": {"Arn": "arn:aws:kms:{region}:{account}:key/{ref}"},
    "AWS::Lambda::Function": {"Arn": "arn:aws:lambda:{region}:{account}:function:{name}"},
    "AWS::Logs::LogGroup": {"Arn": "arn:aws:logs:{region}:{account}:log-group:{name}:*"},
    "AWS::S3::Bucket": {"Arn": "arn:aws:s3:::{name}"},
    "AWS::S3Vectors::Index": {"IndexArn": "{ref}"},
    "AWS::S3Vectors::VectorBucket": {"VectorBucketArn": "{ref}"},
    "Custom::SearchIndex": {"State": "active"},
}


def own_name(type_: str, properties: Mapping[str, Any]) -> str | None:
    """Return the name that a template gives a resource; None if AWS generates one."""
    _, *named = UNIQUE_NAMES.get(type_, ("", "Name"))
    return properties.get(*named) if len(named) == 1 else None


def name_of(type_: str, properties: Mapping[str, Any], **place: str) -> tuple[str, ...] | None:
    """
    Return the key that must be unique, or None if there may be any number of such resources.

    `place` is the resource's account and region.
    """
    where, *named = UNIQUE_NAMES.get(type_, ("",))
    own = [properties.get(each, "") for each in named]
    if not own or not all(own):
        return None
    return type_, *(place[each] for each in where.split()), *own


def too_large(type_: str, properties: Mapping[str, Any]) -> list[str]:
    """
    Return the reasons for which AWS would refuse a resource as too large, which no schema has.
    """
    if type_ == "AWS::Lambda::Function":  # infra/variables.py has the sources
        size = len(_compact(properties.get("Environment", {}).get("Variables", {})))
        return [f"variables exceeded the 4KB limit: {size} bytes"] if size > 4096 else []
    # Without white space. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    most = {"AWS::IAM::Policy": 10_240, "AWS::IAM::ManagedPolicy": 6_144}.get(type_)
    if most is not None and (size := len(_compact(properties["PolicyDocument"]))) > most:
        return [f"exceeded a policy's {most} bytes: {size}"]
    return []


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
