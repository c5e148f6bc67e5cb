"""
Which names a deployment would take that something else has: creating the stack would fail there.

By the synthesised templates: whatever has a name of its own in them, and isn't yet in the stacks
that stand, is asked for, one call each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from infra.asking import (
    Client,
    Result,
    bad,
    good,
    is_gone,
    side_by_side,
    together,
    warning,
    why_not,
)
from infra.synthesised import Account, Wanted

_ANOTHER = "make deploy PROJECT=another"
_VAULT = "AWS::Backup::BackupVault"

# While a stack is in one of these, the CLI changes it, or makes it anew.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_CHANGEABLE = frozenset(
    {
        *("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"),
        *("IMPORT_ROLLBACK_COMPLETE", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"),
        "REVIEW_IN_PROGRESS",
    }
)


# By type: the property that names it, and how to look for it, which answers nothing or raises
# where there is none.
_Look = Callable[[Client, Account, str], Any]


def _named(listed: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [each for each in listed if each["name"] == name]


LOOKS: Mapping[str, tuple[str, _Look]] = {
    "AWS::S3::Bucket": ("BucketName", lambda c, _, n: c("s3").head_bucket(Bucket=n)),
    "AWS::DynamoDB::GlobalTable": (
        "TableName",
        lambda c, _, n: c("dynamodb").describe_table(TableName=n),
    ),
    "AWS::EventSchemas::Registry": (
        "RegistryName",
        lambda c, _, n: c("schemas").describe_registry(RegistryName=n),
    ),
    "AWS::SecretsManager::Secret": (
        "Name",
        lambda c, _, n: c("secretsmanager").describe_secret(SecretId=n),
    ),
    "AWS::KMS::Alias": (
        "AliasName",
        lambda c, _, n: c("kms").describe_key(KeyId=n),
    ),
    "AWS::S3Vectors::VectorBucket": (
        "VectorBucketName",
        lambda c, _, n: c("s3vectors").get_vector_bucket(vectorBucketName=n),
    ),
    "AWS::Bedrock::KnowledgeBase": (
        "Name",
        lambda c, _, n: _named(
            c("bedrock-agent").list_knowledge_bases(maxResults=1000)["knowledgeBaseSummaries"], n
        ),
    ),
    "AWS::BedrockAgentCore::Gateway": (
        "Name",
        lambda c, _, n: _named(
            c("bedrock-agentcore-control").list_gateways(maxResults=1000)["items"], n
        ),
    ),
    "AWS::BedrockAgentCore::PolicyEngine": (
        "Name",
        lambda c, _, n: _named(
            c("bedrock-agentcore-control").list_policy_engines(maxResults=100)["policyEngines"], n
        ),
    ),
    "AWS::Lambda::Function": (
        "FunctionName",
        lambda c, _, n: c("lambda").get_function_configuration(FunctionName=n),
    ),
    "AWS::IAM::Role": ("RoleName", lambda c, _, n: c("iam").get_role(RoleName=n)),
    "AWS::IAM::ManagedPolicy": (
        "ManagedPolicyName",
        lambda c, a, n: c("iam").get_policy(PolicyArn=f"arn:aws:iam::{a.id}:policy/{n}"),
    ),
    "AWS::SQS::Queue": ("QueueName", lambda c, _, n: c("sqs").get_queue_url(QueueName=n)),
    "AWS::SNS::Topic": (
        "TopicName",
        lambda c, a, n: c("sns").get_topic_attributes(TopicArn=a.arn("sns", n)),
    ),
    "AWS::StepFunctions::StateMachine": (
        "StateMachineName",
        lambda c, a, n: c("stepfunctions").describe_state_machine(
            stateMachineArn=a.arn("states", f"stateMachine:{n}")
        ),
    ),
    # Lambda makes one again for what a function says while its stack is being deleted.
    "AWS::Logs::LogGroup": (
        "LogGroupName",
        lambda c, _, n: [
            each
            for each in c("logs").describe_log_groups(logGroupNamePrefix=n)["logGroups"]
            if each["logGroupName"] == n
        ],
    ),
    # Kept with its backups, also by PURGE and where `backup_days` goes. A look for one alone is
    # denied where there is none.
    _VAULT: (
        "BackupVaultName",
        lambda c, _, n: [
            each
            for page in c("backup").get_paginator("list_backup_vaults").paginate()
            for each in page["BackupVaultList"]
            if each["BackupVaultName"] == n
        ],
    ),
    "AWS::CloudWatch::Alarm": (
        "AlarmName",
        lambda c, _, n: c("cloudwatch").describe_alarms(AlarmNames=[n])["MetricAlarms"],
    ),
    "AWS::CloudWatch::Dashboard": (
        "DashboardName",
        lambda c, _, n: c("cloudwatch").get_dashboard(DashboardName=n),
    ),
    # Unique in the region over all accounts.
    "AWS::Cognito::UserPoolDomain": (
        "Domain",
        lambda c, _, n: c("cognito-idp").describe_user_pool_domain(Domain=n)["DomainDescription"],
    ),
}


@dataclass(frozen=True)
class Stack:
    """One that stands; `own` are the logical ids of what is in it."""

    status: str
    own: frozenset[str]


def names(client: Client, account: Account, wanted: Wanted) -> Result:
    """Whether each stack can be made or changed, and what it makes has a name that is free."""
    stacks = _standing(client("cloudformation"), list(wanted.stacks))
    aws = f"aws --region {account.region}"
    for name, stands in stacks.items():
        if stands.own and stands.own.isdisjoint(wanted.stacks[name]["Resources"]):
            return bad(f"stack {name} is another program's", _ANOTHER)
        if stands.status not in _CHANGEABLE:
            return bad(f"stack {name} is {stands.status}", f"{aws} {_next(stands.status, name)}")
    own = {(name, each) for name, stands in stacks.items() for each in stands.own}
    asked = [
        (resource["Type"], resolved)
        for stack, logical_id, resource in wanted.resources()
        if resource["Type"] in LOOKS
        and (stack, logical_id) not in own
        and (told := resource["Properties"].get(LOOKS[resource["Type"]][0])) is not None
        and (resolved := account.resolved(told)) is not None
    ]
    found = side_by_side([partial(_is_taken, client, account, *each) for each in asked])
    if taken := [each for each, there in zip(asked, found, strict=True) if there is True]:
        return _taken(taken, aws, wanted.project)
    if unknown := [each for each in found if isinstance(each, str)]:
        return warning(f"none is seen to be taken, but {together(unknown)}")
    return good(f"{len(stacks)} stacks stand, {len(asked)} new names are free")


def _taken(taken: list[tuple[str, str]], aws: str, project: str) -> Result:
    logs = [name for kind, name in taken if kind == "AWS::Logs::LogGroup"]
    lines = [f"{aws} logs delete-log-group --log-group-name {name}" for name in logs]
    vaults = [name for kind, name in taken if kind == _VAULT]
    lines += [
        f"{aws} backup delete-backup-vault --backup-vault-name {name}   # once it is empty"
        for name in vaults
    ]
    if vaults:
        lines += ['make deploy ARGS="-c backup_days=0"   # without daily backups']
    if len(logs) + len(vaults) < len(taken):
        lines += [f"make destroy PURGE=yes PROJECT={project}   # with all its data", _ANOTHER]
    told = ", ".join(f"{kind.removeprefix('AWS::')} {name}" for kind, name in taken)
    return bad(
        f"taken, and in none of these stacks (docs/deploy.md, the last table): {told}", *lines
    )


def _next(status: str, stack: str) -> str:
    if status == "UPDATE_ROLLBACK_FAILED":
        return f"cloudformation continue-update-rollback --stack-name {stack}"
    if status in ("CREATE_FAILED", "DELETE_FAILED"):
        return f"cloudformation delete-stack --stack-name {stack}"
    return f"cloudformation describe-stack-events --stack-name {stack}"


def _standing(cloudformation: Any, names: list[str]) -> dict[str, Stack]:
    found = side_by_side([partial(_stack, cloudformation, name) for name in names])
    return {name: each for name, each in zip(names, found, strict=True) if each is not None}


def _stack(cloudformation: Any, name: str) -> Stack | None:
    try:
        [stack] = cloudformation.describe_stacks(StackName=name)["Stacks"]
        pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        listed = [each for page in pages for each in page["StackResourceSummaries"]]
    except ClientError as error:
        if is_gone(error):
            return None
        raise
    own = {
        each["LogicalResourceId"] for each in listed if each["ResourceStatus"] != "DELETE_COMPLETE"
    }
    return Stack(stack["StackStatus"], frozenset(own))


def _is_taken(client: Client, account: Account, kind: str, name: str) -> bool | str:
    """Whether it is there; or why that can't be told."""
    try:
        return bool(LOOKS[kind][1](client, account, name))
    except ClientError as error:
        if is_gone(error):
            return False
        return why_not(error)
    except BotoCoreError as error:
        return str(error)
