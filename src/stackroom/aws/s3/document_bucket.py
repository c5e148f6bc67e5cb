"""The documents' bucket: objects as they are now, and their sidecars."""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.aws.s3.object_refusals import ABSENT, refusal, refusal_of_reading, why_unreadable
from stackroom.errors import ServiceRefused, StoreUnavailable
from stackroom.keys import SIDECAR_SUFFIX, can_have_sidecar
from stackroom.ports.bucket import StoredObject, StoredSidecar, Version

_READERS = 10  # as many as boto3's pool has connections


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
            unreadable=why_unreadable(self.client, self.bucket, key, found),
        )

    def was_deleted(self, key: str) -> bool:
        """By the delete marker, which a miss tells of [S3 user guide: DeleteMarker]."""
        try:
            with store_errors():
                self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            headers = error.response["ResponseMetadata"]["HTTPHeaders"]
            return headers.get("x-amz-delete-marker") == "true"
        return False

    def _unreadable(self, key: str, error: ClientError) -> StoredObject | None:
        """Whose HEAD was refused; None if it has gone meanwhile."""
        refused = refusal_of_reading(self.client, self.bucket, key)
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
            unreadable=refused.why,
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
                refusal(self.client, self.bucket, key + SIDECAR_SUFFIX, error)
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
            refused = refusal_of_reading(self.client, self.bucket, key)
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
        Delete markers included. Each page goes on after the last one's last key, and not after its
        last version: where that is to be found once the version is deleted, S3 doesn't say.
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
        """A page has at most 1,000, which is also what DeleteObjects takes [S3 API reference]."""
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
