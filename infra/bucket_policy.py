"""Writes to the documents' bucket that are denied to everybody, whatever their own role allows."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from infra.deployment import Deployment

SIDECARS = "*.metadata.json"
TEXTS = "_text/*"
PLACES = "_text/*.places.json.gz"

_PUTS = ("s3:PutObject",)
_DELETES = ("s3:DeleteObject", "s3:DeleteObjectVersion")
_ENCRYPTION = "s3:x-amz-server-side-encryption"


def guard(bucket: s3.Bucket, *, deployment: Deployment) -> None:
    """
    Deny writing sidecars to all roles but the pipeline's, and objects that we can't read to all.

    A sidecar names the owner of a document.
    """
    # S3 blocks SSE-C by itself only for buckets made since April 2026
    # [S3 user guide: default-s3-c-encryption-setting-faq].
    by_customer = {"Null": {f"{_ENCRYPTION}-customer-algorithm": "false"}}
    _refuse(bucket, "NoKeysOfCustomers", _PUTS, on="*", where=by_customer)
    by_kms = {"Null": {_ENCRYPTION: "false"}, "StringNotEquals": {_ENCRYPTION: "AES256"}}
    _refuse(bucket, "NoKeysOfKms", _PUTS, on="*", where=by_kms)

    def others_than(*functions: str) -> dict[str, dict[str, list[str]]]:
        stack = cdk.Stack.of(bucket)
        sessions = [arn for each in functions for arn in deployment.sessions_of(stack, each)]
        return {"ArnNotLike": {"aws:PrincipalArn": sessions}}

    # The reconciler does for a lost event what the upload handler would have done. The catalog
    # tools and the console delete a sidecar with its document; they never write one.
    writers = ("upload-handler", "reconciler")
    removers = ("catalog-tools", *(["console"] if deployment.console else []))
    _refuse(bucket, "SidecarsAreThePipelines", _PUTS, on=SIDECARS, where=others_than(*writers))
    _refuse(
        bucket,
        "SidecarsGoWithTheirDocuments",
        _DELETES,
        on=SIDECARS,
        where=others_than(*writers, *removers),
    )
    _refuse(bucket, "TextsAreTheReaders", _PUTS, on=TEXTS, where=others_than("inspect"))
    # Texts are deleted with their document or their catalog.
    settlers = ("inspect", "ingest", "status-poller", "reconciler")
    _refuse(
        bucket,
        "TextsGoWithTheirDocuments",
        _DELETES,
        on=TEXTS,
        where=others_than(*settlers, *removers),
    )


def _refuse(
    bucket: s3.Bucket, sid: str, actions: Sequence[str], *, on: str, where: Mapping[str, object]
) -> None:
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=list(actions),
            resources=[bucket.arn_for_objects(on)],
            conditions=dict(where),
        )
    )
