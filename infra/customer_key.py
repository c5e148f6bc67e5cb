"""
A customer managed KMS key for tables, queues, logs and vectors; off unless configured.

The documents' bucket doesn't use it: an object's ETag is the MD5 of its content only with S3
managed keys, and documents are compared by it.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html
"""

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3vectors as s3vectors
from aws_cdk import aws_sqs as sqs
from constructs import Construct

# The rights on the key that a right on an encrypted resource requires.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
_READ_ITEMS = ("kms:Decrypt", "kms:DescribeKey")
_WRITE_ITEMS = ("kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
_RECEIVE, _SEND = ("kms:Decrypt",), ("kms:Decrypt", "kms:GenerateDataKey")
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-data-encryption.html
_USE_VECTORS = ("kms:Decrypt",)
_KEY_ACTIONS = {
    **{
        f"dynamodb:{each}": _READ_ITEMS
        for each in ("BatchGetItem", "GetItem", "GetRecords", "Query", "Scan")
    },
    **{
        f"dynamodb:{each}": _READ_ITEMS + _WRITE_ITEMS
        for each in ("BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem")
    },
    "sqs:ReceiveMessage": _RECEIVE,
    "sqs:SendMessage": _SEND,
    **{
        f"s3vectors:{each}": _USE_VECTORS
        for each in ("DeleteVectors", "GetVectors", "ListVectors", "PutVectors", "QueryVectors")
    },
}


class CustomerKey(Construct):
    """A key that rotates yearly and is retained with the data that can't be read without it."""

    def __init__(self, scope: Construct, construct_id: str, *, project: str) -> None:
        super().__init__(scope, construct_id)
        self._project = project
        self.key = kms.Key(
            self,
            "Key",
            description=f"Tables, queues, logs and vectors of {project}.",
            enable_key_rotation=True,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        kms.Alias(
            self,
            "Alias",
            alias_name=f"alias/{project}",
            target_key=self.key,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        for each in self._services():
            self.key.add_to_resource_policy(each)

    def _services(self) -> Iterator[iam.PolicyStatement]:
        """
        Yield the statements for services that use the key by themselves; roles have their own
        policies.
        """
        stack = cdk.Stack.of(self)
        here = {"aws:SourceAccount": stack.account}
        groups = [
            stack.format_arn(
                service="logs",
                resource="log-group",
                resource_name=f"{prefix}{self._project}-*",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            for prefix in ("/aws/lambda/", "/aws/vendedlogs/", "/aws/vendedlogs/states/")
        ]
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
        yield _may(
            "Logs",
            f"logs.{stack.region}",
            *("kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*"),
            "kms:DescribeKey",
            where={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )
        # For events of rules and for events that reached no target.
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
        yield _may("Events", "events", *_SEND, where={"StringEquals": here})
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-data-encryption.html
        buckets = stack.format_arn(service="s3vectors", resource="bucket", resource_name="*")
        yield _may(
            "IndexesOfVectors",
            "indexing.s3vectors",
            "kms:Decrypt",
            where={
                "ArnLike": {"aws:SourceArn": buckets},
                "StringEquals": here,
                "ForAnyValue:StringEquals": {
                    "kms:EncryptionContextKeys": ["aws:s3vectors:arn", "aws:s3vectors:resource-id"]
                },
            },
        )


def encrypt(app: cdk.App, key: kms.IKey) -> None:
    """
    Encrypt tables, queues and logs of all stacks; let the roles that use these or vectors use the
    key.
    """
    for each in app.node.find_all():
        if isinstance(each, sqs.CfnQueue):
            each.kms_master_key_id = key.key_arn
            each.sqs_managed_sse_enabled = None
        elif isinstance(each, dynamodb.CfnGlobalTable):
            # A TableV2 takes a key only if the region is known during synthesis.
            where = "Replicas.0.SSESpecification.KMSMasterKeyId"
            each.add_property_override(where, key.key_arn)
        elif isinstance(each, logs.CfnLogGroup):
            each.kms_key_id = key.key_arn
        elif isinstance(each, iam.Policy):
            _allow(each, key)


def encrypted_with(
    key: kms.IKey | None,
) -> s3vectors.CfnVectorBucket.EncryptionConfigurationProperty:
    """
    Return a vector bucket's encryption, which is final: CloudFormation replaces the bucket to
    change it.
    """
    of = s3vectors.CfnVectorBucket.EncryptionConfigurationProperty
    return of(sse_type="AES256") if key is None else of(sse_type="aws:kms", kms_key_arn=key.key_arn)


def _allow(policy: iam.Policy, key: kms.IKey) -> None:
    stack, needed = cdk.Stack.of(policy), dict[str, set[str]]()
    domain = f"{stack.region}.{stack.url_suffix}"
    for statement in policy.document.to_json()["Statement"]:
        actions = statement["Action"]
        for action in [actions] if isinstance(actions, str) else actions:
            needed.setdefault(action.partition(":")[0], set()).update(_KEY_ACTIONS.get(action, ()))
    for service, actions in sorted(needed.items()):
        if actions:
            policy.add_statements(
                iam.PolicyStatement(
                    actions=sorted(actions),
                    resources=[key.key_arn],
                    conditions={"StringEquals": {"kms:ViaService": f"{service}.{domain}"}},
                )
            )


def _may(sid: str, service: str, *actions: str, where: dict[str, object]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
        actions=list(actions),
        resources=["*"],  # in a key's policy: this key
        conditions=where,
    )
