"""
What S3 keeps and doesn't give to us, each with the reason for its owner.

HEAD answers a refusal without a body: "It's not possible to retrieve the exact exception" [S3 API
reference: HeadObject]. So what it refuses is asked for by GET, one byte of it, whose error has a
code and a message.
"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, message_of, store_errors
from stackroom.errors import ObjectRefused, ServiceRefused

ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})

# StorageClass of what must be restored before GET [S3 user guide: archived-objects]. In
# INTELLIGENT_TIERING it is ArchiveStatus that tells.
_ARCHIVES = frozenset({"GLACIER", "DEEP_ARCHIVE"})
_RESTORED = 'ongoing-request="false"'  # [S3 API reference: HeadObject, x-amz-restore]
_ARCHIVED = "InvalidObjectState"  # [S3 API reference: ErrorResponses]
_DENIED = "AccessDenied"
# "The object was stored using a form of Server Side Encryption. The correct parameters must be
# provided to retrieve the object." [AWS re:Post: GetObject of an SSE-C object without its key]
_BY_CUSTOMERS_KEY = ("InvalidRequest", "Server Side Encryption")
# Codes of keys that are disabled, pending deletion or gone [S3 API reference: ErrorResponses].
_OF_KMS = "KMS."
_MAY_NOT_DECRYPT = "kms:"  # "... is not authorized to perform: kms:Decrypt on ..." [AWS re:Post]
_NEVER_THERE = "_stackroom/never-there.metadata.json"  # as a sidecar, for who reads only those

_SSE_C = (
    "it is encrypted with a key that you hold (SSE-C), so Stackroom can't read it; "
    "upload it again without --sse-c"
)
_FOREIGN_KEY = (
    "it is encrypted with a KMS key that Stackroom may not use; "
    "upload it again without naming a key (without --sse aws:kms)"
)
_NO_RIGHT = (
    "S3 denies Stackroom to read it; upload it under another name, "
    "or ask your operator which policy denies it"
)


def why_unreadable(client: Any, bucket: str, key: str, head: Mapping[str, Any]) -> str | None:
    """Of an object whose HEAD was answered; the answer tells what is archived or has a KMS key."""
    archive = head.get("ArchiveStatus") or head.get("StorageClass", "")
    archived = "ArchiveStatus" in head or archive in _ARCHIVES
    if archived and _RESTORED not in head.get("Restore", ""):
        return _archived(archive)
    if str(head.get("ServerSideEncryption", "")).startswith("aws:kms") and head["ContentLength"]:
        refused = refusal_of_reading(client, bucket, key)
        return refused.why if refused is not None else None
    return None


def refusal_of_reading(client: Any, bucket: str, key: str) -> ObjectRefused | None:
    """None if the object can be read now, or isn't there."""
    try:
        with store_errors():
            client.get_object(Bucket=bucket, Key=key, Range="bytes=0-0")["Body"].close()
    except ClientError as error:
        if code_of(error) in ABSENT | {"InvalidRange"}:  # an empty object has no first byte
            return None
        return refusal(client, bucket, key, error)
    return None


def refusal(client: Any, bucket: str, key: str, error: ClientError) -> ObjectRefused:
    """
    What the GET's error says of this one object.

    Raises ServiceRefused if we may read no other either, and the error itself if it is none of
    these.
    """
    code, message = code_of(error), message_of(error)
    if code == _ARCHIVED:
        return ObjectRefused(key, _archived(str(error.response["Error"].get("StorageClass", ""))))
    if code == _BY_CUSTOMERS_KEY[0] and _BY_CUSTOMERS_KEY[1] in message:
        return ObjectRefused(key, _SSE_C)
    if code.startswith(_OF_KMS) or (code == _DENIED and _MAY_NOT_DECRYPT in message):
        return ObjectRefused(key, _FOREIGN_KEY)
    if code != _DENIED:
        raise error
    if not _may_read_others(client, bucket):
        raise ServiceRefused(error.operation_name, code) from error
    return ObjectRefused(key, _NO_RIGHT)


def _may_read_others(client: Any, bucket: str) -> bool:
    """
    Of what isn't there, S3 says 404 only to whoever may read it, had it been there, and list the
    bucket [S3 API reference: HeadObject, Permissions].
    """
    try:
        with store_errors():
            client.head_object(Bucket=bucket, Key=_NEVER_THERE)
    except ClientError as error:
        return code_of(error) in ABSENT
    return True


def _archived(where: str) -> str:
    return (
        f"it is archived{where and f' ({where})'}, so Stackroom can't read it; upload it again in "
        "STANDARD, or restore it and copy it onto itself with --storage-class STANDARD"
    )
