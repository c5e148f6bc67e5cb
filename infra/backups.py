"""Daily backups of documents and tables, in a vault that outlives them; off unless configured."""

import aws_cdk as cdk
from aws_cdk import aws_backup as backup
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from stackroom_constructs.acknowledgments import accept

# https://docs.aws.amazon.com/aws-backup/latest/devguide/security-iam-awsmanpol.html
_POLICIES = (
    "service-role/AWSBackupServiceRolePolicyForBackup",  # DynamoDB among others
    "AWSBackupServiceRolePolicyForS3Backup",
)


def create_backups(
    stack: cdk.Stack,
    *,
    project: str,
    days: int,
    bucket: s3.IBucket,
    tables: list[dynamodb.ITable],
) -> tuple[IConstruct, ...]:
    """Create the vault, the plan and the role, and return them."""
    vault = backup.BackupVault(
        stack,
        "Backups",
        backup_vault_name=project,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
    plan = backup.BackupPlan(
        stack,
        "BackupPlan",
        backup_plan_name=project,
        backup_vault=vault,
        backup_plan_rules=[
            backup.BackupPlanRule(
                rule_name="daily",
                schedule_expression=events.Schedule.cron(hour="3", minute="0"),
                delete_after=cdk.Duration.days(days),
            )
        ],
    )
    role = iam.Role(
        stack,
        "BackupRole",
        assumed_by=iam.ServicePrincipal("backup.amazonaws.com"),
        managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(n) for n in _POLICIES],
    )
    for name in _POLICIES:
        accept(
            role,
            f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]",
            because="AWS Backup's own policies say what it needs, and change with it.",
        )
    plan.add_selection(
        "Kept",
        role=role,
        resources=[
            backup.BackupResource.from_arn(bucket.bucket_arn),
            *(backup.BackupResource.from_arn(table.table_arn) for table in tables),
        ],
    )
    return vault, plan, role
