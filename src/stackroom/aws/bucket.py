"""The documents' bucket: objects as they are now, and their sidecars."""

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.translation import code_of, store_errors
from stackroom.keys import SIDECAR_SUFFIX
from stackroom.ports import StoredObject, StoredSidecar

_LONGEST_KEY = 1024  # bytes [S3 user guide: object-keys]
_ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})


@dataclass(frozen=True, kw_only=True)
class S3DocumentBucket:
    """
    A key so long that no sidecar's can be longer has none; we ingest no such file, and without a
    `user_id` its passages are nobody's.
    """

    client: Any
    bucket: str

    def head(self, key: str) -> StoredObject | None:
        """The current version; a delete marker reads as absent, which is what it means."""
        try:
            with store_errors():
                found = self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if code_of(error) in _ABSENT:
                return None
            raise
        return StoredObject(
            key=key,
            size=found["ContentLength"],
            etag=found["ETag"].strip('"'),
            version_id=found.get("VersionId"),
            content_type=found.get("ContentType", ""),
            last_modified=found["LastModified"],
            attributes=found.get("Metadata", {}),
        )

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        if not _can_have_sidecar(key):
            return None
        try:
            with store_errors():
                found = self.client.get_object(Bucket=self.bucket, Key=key + SIDECAR_SUFFIX)
                return StoredSidecar(body=found["Body"].read(), last_modified=found["LastModified"])
        except ClientError as error:
            if code_of(error) in _ABSENT:
                return None
            raise

    def write_sidecar(self, key: str, body: bytes) -> None:
        if not _can_have_sidecar(key):
            return
        with store_errors():
            self.client.put_object(
                Bucket=self.bucket,
                Key=key + SIDECAR_SUFFIX,
                Body=body,
                ContentType="application/json",
            )

    def remove_sidecar(self, key: str) -> None:
        if not _can_have_sidecar(key):
            return
        with store_errors():
            self.client.delete_object(Bucket=self.bucket, Key=key + SIDECAR_SUFFIX)

    def uri_of(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _can_have_sidecar(key: str) -> bool:
    return len((key + SIDECAR_SUFFIX).encode()) <= _LONGEST_KEY
