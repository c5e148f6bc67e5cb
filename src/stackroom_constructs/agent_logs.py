"""Where an agent's function logs: a group of its own, under the agent's key."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

# What may stand in a question and is nobody's business: email and postal addresses, credentials,
# numbers of cards. https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/protect-sensitive-log-data-types.html
_PROTECTED = (
    logs.DataIdentifier.EMAILADDRESS,
    logs.DataIdentifier.ADDRESS,
    logs.DataIdentifier.AWSSECRETKEY,
    logs.DataIdentifier.OPENSSHPRIVATEKEY,
    logs.DataIdentifier.PGPPRIVATEKEY,
    logs.DataIdentifier.PKCSPRIVATEKEY,
    logs.DataIdentifier.PUTTYPRIVATEKEY,
    logs.DataIdentifier.CREDITCARDNUMBER,
    logs.DataIdentifier.CREDITCARDEXPIRATION,
    logs.DataIdentifier.CREDITCARDSECURITYCODE,
)


class AgentLogs(logs.LogGroup):
    """
    Encrypted with the agent's key, since with observability on it holds what people asked; then
    CloudWatch Logs also finds, counts and masks personal data and credentials in it.

    A key that is only referred to can't be changed here: the app is warned that the key's own
    policy must let CloudWatch Logs use it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: kms.IKey,
        is_observed: bool,
        removal_policy: cdk.RemovalPolicy,
    ) -> None:
        # A name that is known before the group is: the key's policy has it, and the group the key.
        name = f"/aws/lambda/{cdk.Names.unique_resource_name(scope, separator='-')}"
        super().__init__(
            scope,
            construct_id,
            log_group_name=name,
            encryption_key=key,
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=removal_policy,
            data_protection_policy=(
                logs.DataProtectionPolicy(identifiers=list(_PROTECTED)) if is_observed else None
            ),
        )
        allowed = key.add_to_resource_policy(_may_be_used_for(self, name))
        if not allowed.statement_added:
            cdk.Annotations.of(self).add_warning_v2(
                "stackroom:key-of-logs",
                "The policy of this agent's encryption_key must let CloudWatch Logs use it for"
                f" {name}, see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/"
                "encrypt-log-data-kms.html",
            )


def _may_be_used_for(scope: Construct, log_group_name: str) -> iam.PolicyStatement:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html"""
    arn = cdk.Stack.of(scope).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group_name,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(f"logs.{cdk.Aws.REGION}.amazonaws.com")],
        actions=[
            "kms:Encrypt",
            "kms:Decrypt",
            "kms:ReEncryptFrom",
            "kms:ReEncryptTo",
            "kms:GenerateDataKey",
            "kms:GenerateDataKeyWithoutPlaintext",
            "kms:DescribeKey",
        ],
        resources=["*"],  # of a key's policy: the key
        conditions={"ArnEquals": {"kms:EncryptionContext:aws:logs:arn": arn}},
    )
