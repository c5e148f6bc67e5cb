"""
Resources that outlive the other stacks: documents, records, and the users whose ids are prefixes.

Nothing that people put into this stack is deleted with it; `make destroy PURGE=yes` empties it
explicitly.
"""

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra.backups import create_backups
from infra.browser_uploads import upload_cors_rules
from infra.bucket_policy import guard
from infra.console_address import ConsoleAddress
from infra.customer_key import CustomerKey
from infra.deployment import Deployment
from infra.sign_in import identity_provider
from infra.tables import CatalogTable, ControlTable
from stackroom_constructs.acknowledgments import accept, accept_wildcard


class DataStack(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self.table_names = [
            f"{deployment.project}-kb-catalog",
            f"{deployment.project}-kb-control",
        ]
        self.console_address = ConsoleAddress(self, "Console", deployment=deployment)
        self.bucket = self._documents()
        encryption = (
            CustomerKey(self, "Encryption", project=deployment.project)
            if deployment.customer_managed_key
            else None
        )
        self.key = None if encryption is None else encryption.key
        self.catalog_table = CatalogTable(self, "Catalogs", table_name=self.table_names[0])
        self.control_table = ControlTable(self, "Control", table_name=self.table_names[1])
        self.webhook_key = self._webhook_key()
        self.user_pool = self._user_pool()
        self._operators()
        self.uploader_policy = self._uploader_policy()
        # The user pool is protected from deletion, even when the first deployment fails and rolls
        # back: so it is created last.
        tables = [self.catalog_table, self.control_table]
        made = (self.console_address, self.bucket, *tables, self.uploader_policy, self.webhook_key)
        self.user_pool.node.add_dependency(*made)
        if encryption is not None:
            self.user_pool.node.add_dependency(encryption)
        if days := deployment.operations.backup_days:
            backups = create_backups(
                self, project=deployment.project, days=days, bucket=self.bucket, tables=[*tables]
            )
            self.user_pool.node.add_dependency(*backups)

        cdk.CfnOutput(self, "BucketName", value=self.bucket.bucket_name)
        cdk.CfnOutput(self, "CatalogTableName", value=self.catalog_table.table_name)
        cdk.CfnOutput(self, "ControlTableName", value=self.control_table.table_name)
        cdk.CfnOutput(self, "UserPoolId", value=self.user_pool.user_pool_id)
        cdk.CfnOutput(self, "IssuerUrl", value=f"https://{identity_provider(self.user_pool)}")
        if self.console_address.origin is not None:
            cdk.CfnOutput(self, "ConsoleUrl", value=f"{self.console_address.origin}/")
        cdk.CfnOutput(self, "UploaderPolicyArn", value=self.uploader_policy.managed_policy_arn)

    def _documents(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Documents",
            bucket_name=self._deployment.bucket_name("kb-docs"),
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            blocked_encryption_types=[s3.BlockedEncryptionType.SSE_C],
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            cors=upload_cors_rules([self.console_address.origin, *self._deployment.upload_origins]),
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="forget-old-versions",
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    expired_object_delete_marker=True,
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
        )
        # The bucket's own property: `event_bridge_enabled` would add a Lambda function.
        resource = bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket), "a Bucket's default child is its CfnBucket"
        resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )
        accept(
            bucket,
            "S1",
            because="Nothing here reads access logs, and their bucket would need an owner, a"
            " lifecycle and a purge of its own. A trail tells more: docs/deploy.md.",
        )
        guard(bucket, deployment=self._deployment)
        return bucket

    def _user_pool(self) -> cognito.UserPool:
        """
        Create the pool here, not with the gateway: a new pool would give people other prefixes.
        """
        settings = self._deployment.sign_in
        users = cognito.UserPool(
            self,
            "Users",
            user_pool_name=f"{self._deployment.project}-users",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(username=True, email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_digits=True,
                require_lowercase=True,
                require_uppercase=True,
                require_symbols=True,
            ),
            deletion_protection=True,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            **settings.pool_arguments,
        )
        if settings.threat_protection is not cognito.StandardThreatProtectionMode.FULL_FUNCTION:
            accept(
                users,
                "COG8",
                because="Threat protection is billed per user and month; a setting turns it on.",
            )
        if settings.mfa is not cognito.Mfa.REQUIRED:
            accept(
                users,
                "COG2",
                because="Operators choose by a setting whether people have a second factor.",
            )
        return users

    def _operators(self) -> None:
        """
        Create the group here, not with the console, because its members must outlive the console.
        """
        operators = cognito.CfnUserPoolGroup(
            self,
            "Operators",
            user_pool_id=self.user_pool.user_pool_id,
            group_name="operators",
            description="Who may see the console's page of operations, about all users.",
        )
        operators.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def _uploader_policy(self) -> iam.ManagedPolicy:
        """
        Create the policy for people and programs: the tag `user_id` gives access to that prefix.
        """
        own_keys = "${aws:PrincipalTag/user_id}/*"
        own_objects = self._deployment.document_arns(self, own_keys)
        policy = iam.ManagedPolicy(
            self,
            "Uploader",
            managed_policy_name=f"{self._deployment.project}-uploader-{self.region}",
            # Never change it: CloudFormation would create another policy, whose name is taken.
            description="Put documents under the prefix that the principal's user_id tag names.",
            statements=[
                iam.PolicyStatement(
                    actions=[
                        "s3:PutObject",
                        "s3:GetObject",
                        "s3:DeleteObject",
                        "s3:AbortMultipartUpload",
                        "s3:ListMultipartUploadParts",
                    ],
                    resources=[own_objects],
                ),
                iam.PolicyStatement(
                    actions=["s3:ListBucket"],
                    resources=[self.bucket.bucket_arn],
                    conditions={"StringLike": {"s3:prefix": own_keys}},
                ),
            ],
        )
        accept_wildcard(policy, own_objects, because="It stands for keys below one's own prefix.")
        return policy

    def _webhook_key(self) -> secrets.Secret:
        """
        Create the key from which each webhook's is derived. AWS generates it: it is in no template
        or variable.
        """
        key = secrets.Secret(
            self,
            "WebhookKey",
            secret_name=f"{self._deployment.project}-webhook-key",
            description="What the secrets of webhooks are derived from.",
            generate_secret_string=secrets.SecretStringGenerator(
                password_length=64, exclude_punctuation=True
            ),
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        accept(
            key,
            "SMG4",
            because="With another, no receiver would take a call until it was told its new secret.",
        )
        return key
