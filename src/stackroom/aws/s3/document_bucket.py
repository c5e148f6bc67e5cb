"""The documents' bucket: present objects and their sidecars."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, message_of, store_errors
from stackroom.errors import ObjectRefused, ServiceRefused, StoreUnavailable
from stackroom.model.bucket import File, FileVersion, StoredObject, StoredSidecar, Version
from stackroom.model.keys import SIDECAR_SUFFIX, can_have_sidecar

# Objects that S3 stores and doesn't return to us, each with the reason for its owner.
#
# HEAD answers a refusal without a body: "It's not possible to retrieve the exact exception" [S3 API
# reference: HeadObject]. So a refused object is requested by GET, one byte of it, whose error has a
# code and a message.

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


def _archived(where: str) -> str:
    return (
        f"it is archived{where and f' ({where})'}, so Stackroom can't read it; upload it again in "
        "STANDARD, or restore it and copy it onto itself with --storage-class STANDARD"
    )


_READERS = 10  # as many as boto3's pool has connections


@dataclass(frozen=True, kw_only=True)
class _Bucket:
    client: Any
    bucket: str

    def _why_unreadable(self, key: str, head: Mapping[str, Any]) -> str | None:
        """
        Return why an object can't be read, if so. Its HEAD was answered, which tells if it is
        archived or has a KMS key.
        """
        archive = head.get("ArchiveStatus") or head.get("StorageClass", "")
        archived = "ArchiveStatus" in head or archive in _ARCHIVES
        if archived and _RESTORED not in head.get("Restore", ""):
            return _archived(archive)
        encryption = str(head.get("ServerSideEncryption", ""))
        if encryption.startswith("aws:kms") and head["ContentLength"]:
            refused = self._refusal_of_reading(key)
            return refused.reason if refused is not None else None
        return None

    def _refusal_of_reading(self, key: str) -> ObjectRefused | None:
        """Return the refusal to read the object; None if it can be read now, or doesn't exist."""
        try:
            with store_errors():
                got = self.client.get_object(Bucket=self.bucket, Key=key, Range="bytes=0-0")
                got["Body"].close()
        except ClientError as error:
            if code_of(error) in ABSENT | {"InvalidRange"}:  # an empty object has no first byte
                return None
            return self._refusal(key, error)
        return None

    def _refusal(self, key: str, error: ClientError) -> ObjectRefused:
        """
        Return the refusal that the GET's error means for this one object.

        Raises ServiceRefused if we may read no other either, and the error itself if it is none of
        these.
        """
        code, message = code_of(error), message_of(error)
        if code == _ARCHIVED:
            storage_class = str(error.response["Error"].get("StorageClass", ""))
            return ObjectRefused(key, _archived(storage_class))
        if code == _BY_CUSTOMERS_KEY[0] and _BY_CUSTOMERS_KEY[1] in message:
            return ObjectRefused(key, _SSE_C)
        if code.startswith(_OF_KMS) or (code == _DENIED and _MAY_NOT_DECRYPT in message):
            return ObjectRefused(key, _FOREIGN_KEY)
        if code != _DENIED:
            raise error
        if not self._may_read_others():
            raise ServiceRefused(error.operation_name, code) from error
        return ObjectRefused(key, _NO_RIGHT)

    def _may_read_others(self) -> bool:
        """
        Return True if we may read the bucket's objects. For an object that doesn't exist, S3
        answers 404 only to callers who may read it and list the bucket [S3 API reference:
        HeadObject, Permissions].
        """
        try:
            with store_errors():
                self.client.head_object(Bucket=self.bucket, Key=_NEVER_THERE)
        except ClientError as error:
            return code_of(error) in ABSENT
        return True


class S3DocumentBucket(_Bucket):
    """
    A `DocumentBucket` in S3. A key so long that no sidecar's can be longer has none; we ingest no
    such file, and without a `user_id` its passages are nobody's.
    """

    def head(self, key: str) -> StoredObject | None:
        """Return the current version; a delete marker counts as absent, which is what it means."""
        try:
            with store_errors():
                found = self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            return self._unreadable(key, error)
        return StoredObject(
            key=key,
            size=found["ContentLength"],
            etag=found["ETag"].strip('"'),
            version_id=found.get("VersionId"),
            content_type=found.get("ContentType", ""),
            last_modified=found["LastModified"],
            attributes=found.get("Metadata", {}),
            unreadable=self._why_unreadable(key, found),
        )

    def version_of(self, key: str) -> FileVersion | None:
        """
        Return the object's version by a listing, which takes no right to read it. The newest comes
        first [S3 API reference: ListObjectVersions].
        """
        with store_errors():
            page = self.client.list_object_versions(Bucket=self.bucket, Prefix=key, MaxKeys=1)
        for each in page.get("Versions", ()):
            if each["Key"] == key and each["IsLatest"]:
                return FileVersion(each["ETag"].strip('"'), each["VersionId"])
        return None

    def was_deleted(self, key: str) -> bool:
        """
        Return True if there is a delete marker, which the answer to a HEAD reports [S3 user guide:
        DeleteMarker].
        """
        try:
            with store_errors():
                self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            headers = error.response["ResponseMetadata"]["HTTPHeaders"]
            return headers.get("x-amz-delete-marker") == "true"
        return False

    def _unreadable(self, key: str, error: ClientError) -> StoredObject | None:
        """Return an object whose HEAD was refused; None if it has gone meanwhile."""
        refused = self._refusal_of_reading(key)
        with store_errors():
            listed = self.client.list_objects_v2(Bucket=self.bucket, Prefix=key, MaxKeys=1)
        found = next(iter(listed.get("Contents", ())), None)
        if found is None or found["Key"] != key:
            return None
        if refused is None:  # another has been uploaded meanwhile
            raise StoreUnavailable(error.operation_name, code_of(error)) from error
        return StoredObject(
            key=key,
            size=found["Size"],
            etag=found["ETag"].strip('"'),
            version_id=None,
            content_type="",
            last_modified=found["LastModified"],
            unreadable=refused.reason,
        )

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        if not can_have_sidecar(key):
            return None
        try:
            with store_errors():
                found = self.client.get_object(Bucket=self.bucket, Key=key + SIDECAR_SUFFIX)
                return StoredSidecar(body=found["Body"].read(), last_modified=found["LastModified"])
        except ClientError as error:
            if code_of(error) not in ABSENT:
                self._refusal(key + SIDECAR_SUFFIX, error)
            return None

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        with ThreadPoolExecutor(_READERS) as readers:
            found = zip(keys, readers.map(self.sidecar_of, keys), strict=True)
            return {key: sidecar for key, sidecar in found if sidecar is not None}

    def write_sidecar(self, key: str, body: bytes) -> None:
        if not can_have_sidecar(key):
            return
        try:
            with store_errors():
                self.client.put_object(
                    Bucket=self.bucket,
                    Key=key + SIDECAR_SUFFIX,
                    Body=body,
                    ContentType="application/json",
                )
        except ClientError as error:
            if code_of(error) != "AccessDenied":
                raise
            refused = self._refusal_of_reading(key)
            raise refused or ServiceRefused(error.operation_name, code_of(error)) from error

    def remove_sidecar(self, key: str) -> None:
        if not can_have_sidecar(key):
            return
        with store_errors():
            self.client.delete_object(Bucket=self.bucket, Key=key + SIDECAR_SUFFIX)

    def remove(self, key: str) -> None:
        with store_errors():
            self.client.delete_object(Bucket=self.bucket, Key=key)

    def versions_since(self, prefix: str, moment: datetime) -> frozenset[Version]:
        since = moment.replace(microsecond=0)  # LastModified has whole seconds [S3 API reference]
        return frozenset(
            _version(each)
            for page in self._pages_of_versions(prefix)
            for each in page
            if each["LastModified"] >= since
        )

    def purge(
        self, prefix: str, *, before: datetime, recent: Collection[Version] = ()
    ) -> Iterator[list[str]]:
        before = before.replace(microsecond=0)
        assert prefix.endswith("/"), "a prefix without its slash is the beginning of others, too"
        found = True
        while found:  # again: of one key there may be more versions than a page holds
            found = False
            for page in self._pages_of_versions(prefix):
                if due := [
                    each
                    for each in page
                    if each["LastModified"] < before or _version(each) in recent
                ]:
                    found = True
                    self._delete(due)
                    yield sorted({each["Key"] for each in due})

    def holds_any(self, prefix: str) -> bool:
        with store_errors():
            page = self.client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, MaxKeys=1)
        return bool(page.get("KeyCount"))

    def _pages_of_versions(self, prefix: str) -> Iterator[list[dict[str, Any]]]:
        """
        Yield pages of versions, delete markers included.

        Each page continues after the last one's last key, not after its last version: S3 doesn't
        document where that is to be found once the version is deleted.
        """
        marker: dict[str, str] = {}
        while True:
            with store_errors():
                page = self.client.list_object_versions(Bucket=self.bucket, Prefix=prefix, **marker)
            versions = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            yield versions
            if not page.get("IsTruncated") or not versions:
                return
            marker = {"KeyMarker": max(each["Key"] for each in versions)}

    def _delete(self, versions: list[dict[str, Any]]) -> None:
        """
        Delete a page of at most 1,000, which is also what DeleteObjects takes [S3 API reference].
        """
        named = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions]
        with store_errors():
            answer = self.client.delete_objects(
                Bucket=self.bucket, Delete={"Objects": named, "Quiet": True}
            )
        if errors := answer.get("Errors"):  # in an answer of status 200 [S3 API reference]
            raise StoreUnavailable("DeleteObjects", str(errors[0].get("Code")))

    def uri_of(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _version(listed: dict[str, Any]) -> Version:
    return listed["Key"], listed["VersionId"]


class S3Files(_Bucket):
    def read(self, key: str, *, limit: int, version_id: str | None = None) -> File | None:
        version = {} if version_id is None else {"VersionId": version_id}
        try:
            with store_errors():
                answer = self.client.get_object(Bucket=self.bucket, Key=key, **version)
                fits = answer["ContentLength"] <= limit
                body = answer["Body"].read() if fits else None
                if not fits:
                    answer["Body"].close()
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            raise self._refusal(key, error) from error
        return File(version=_file_version(answer), body=body)

    def version_of(self, key: str) -> FileVersion | None:
        try:
            with store_errors():
                return _file_version(self.client.head_object(Bucket=self.bucket, Key=key))
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            raise


def _file_version(answer: Mapping[str, Any]) -> FileVersion:
    # HTTP quotes the etag, events and records do not.
    return FileVersion(answer["ETag"].strip('"'), answer.get("VersionId"))
