"""
Checks for names of a deployment that are taken, at which creating a stack would fail.

The synthesised templates define the names: each resource with a name of its own that isn't in the
existing stacks yet is looked up, with one call each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from infra.asking import (
    Client,
    Result,
    failed,
    is_not_found,
    join_reasons,
    passed,
    reason_of,
    run_parallel,
    warning,
)
from infra.synthesised import Account, PlannedDeployment

_ANOTHER = "make deploy PROJECT=another"
_VAULT = "AWS::Backup::BackupVault"

# In these states, the CLI updates a stack or creates it again.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_CHANGEABLE = frozenset(
    {
        *("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"),
        *("IMPORT_ROLLBACK_COMPLETE", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"),
        "REVIEW_IN_PROGRESS",
    }
)


# By resource type: the property with the name, and a lookup that returns nothing or raises if no
# such resource exists.
_Lookup = Callable[[Client, Account, str], Any]


def _named(listed: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [each for each in listed if each["name"] == name]


LOOKUPS: Mapping[str, tuple[str, _Lookup]] = {
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
    # Lambda creates it again for what a function logs while its stack is being deleted.
    "AWS::Logs::LogGroup": (
        "LogGroupName",
        lambda c, _, n: [
            each
            for each in c("logs").describe_log_groups(logGroupNamePrefix=n)["logGroups"]
            if each["logGroupName"] == n
        ],
    ),
    # Kept with its backups, also by PURGE and when `backup_days` is reset. Looking up a single
    # vault
    # is denied if it doesn't exist.
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
    """An existing stack; `own` are the logical ids of its resources."""

    status: str
    own: frozenset[str]


def check_names(client: Client, account: Account, planned: PlannedDeployment) -> Result:
    """Check that each stack can be created or updated, and that new resources' names are free."""
    stacks = _existing_stacks(client("cloudformation"), list(planned.stacks))
    aws = f"aws --region {account.region}"
    for name, existing in stacks.items():
        if existing.own and existing.own.isdisjoint(planned.stacks[name]["Resources"]):
            return failed(f"stack {name} belongs to another program", _ANOTHER)
        if existing.status not in _CHANGEABLE:
            return failed(
                f"stack {name} is {existing.status}",
                f"{aws} {_next_command(existing.status, name)}",
            )
    own = {(name, each) for name, existing in stacks.items() for each in existing.own}
    new = [
        (resource["Type"], resolved)
        for stack, logical_id, resource in planned.resources()
        if resource["Type"] in LOOKUPS
        and (stack, logical_id) not in own
        and (name := resource["Properties"].get(LOOKUPS[resource["Type"]][0])) is not None
        and (resolved := account.resolve(name)) is not None
    ]
    results = run_parallel([partial(_is_taken, client, account, *each) for each in new])
    if taken := [each for each, result in zip(new, results, strict=True) if result is True]:
        return _taken(taken, aws, planned.project)
    if unknown := [each for each in results if isinstance(each, str)]:
        return warning(f"no name is known to be taken, but {join_reasons(unknown)}")
    return passed(f"{len(stacks)} existing stacks, {len(new)} new names are free")


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
    listed = ", ".join(f"{kind.removeprefix('AWS::')} {name}" for kind, name in taken)
    return failed(
        f"taken by others than these stacks (docs/deploy.md, the last table): {listed}", *lines
    )


def _next_command(status: str, stack: str) -> str:
    if status == "UPDATE_ROLLBACK_FAILED":
        return f"cloudformation continue-update-rollback --stack-name {stack}"
    if status in ("CREATE_FAILED", "DELETE_FAILED"):
        return f"cloudformation delete-stack --stack-name {stack}"
    return f"cloudformation describe-stack-events --stack-name {stack}"


def _existing_stacks(cloudformation: Any, names: list[str]) -> dict[str, Stack]:
    found = run_parallel([partial(_stack, cloudformation, name) for name in names])
    return {name: each for name, each in zip(names, found, strict=True) if each is not None}


def _stack(cloudformation: Any, name: str) -> Stack | None:
    try:
        [stack] = cloudformation.describe_stacks(StackName=name)["Stacks"]
        pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        listed = [each for page in pages for each in page["StackResourceSummaries"]]
    except ClientError as error:
        if is_not_found(error):
            return None
        raise
    own = {
        each["LogicalResourceId"] for each in listed if each["ResourceStatus"] != "DELETE_COMPLETE"
    }
    return Stack(stack["StackStatus"], frozenset(own))


def _is_taken(client: Client, account: Account, kind: str, name: str) -> bool | str:
    """Return True if the resource exists, or the reason why that is unknown."""
    try:
        return bool(LOOKUPS[kind][1](client, account, name))
    except ClientError as error:
        if is_not_found(error):
            return False
        return reason_of(error)
    except BotoCoreError as error:
        return str(error)
