"""What a knowledge base's service role needs to read documents."""

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.creation import KnowledgeBaseCreation
from stackroom_constructs.model import Right


def rights_to_read(scope: Construct, creation: KnowledgeBaseCreation) -> list[Right]:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html"""
    stack = cdk.Stack.of(scope)
    in_account = {"StringEquals": {"aws:ResourceAccount": stack.account}}
    rights = [
        Right(
            actions=("s3:ListBucket",), resources=(creation.bucket.bucket_arn,), where=in_account
        ),
        Right(
            actions=("s3:GetObject",),
            resources=(creation.objects_arn,),
            where=in_account,
            because="A data source reads any key below its prefix; it only reads, and only in this"
            " account.",
        ),
    ]
    key = creation.bucket.encryption_key
    if key is not None:
        by_s3 = {"StringEquals": {"kms:ViaService": f"s3.{stack.region}.{stack.url_suffix}"}}
        rights.append(Right(actions=("kms:Decrypt",), resources=(key.key_arn,), where=by_s3))
    return rights
