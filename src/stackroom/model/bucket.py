"""The port of the documents' bucket: objects as they are now, and their sidecars."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import BaseModel, Field, ValidationError

from stackroom.model.attributes import Attribute


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """
    An object as HeadObject returns it now; `attributes` are its `x-amz-meta-*` values, undecoded.

    `unreadable` is why we can't read it, in words for its owner. HeadObject itself may be refused
    then, and the object is described as far as a listing does.
    """

    key: str
    size: int
    etag: str
    version_id: str | None
    content_type: str
    last_modified: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)
    unreadable: str | None = None


class FileVersion(NamedTuple):
    """A version of a file. `version_id` is None if the bucket keeps no versions."""

    etag: str
    version_id: str | None


@dataclass(frozen=True, kw_only=True)
class File:
    """An object as it is now; `body` is None if it is larger than was asked for."""

    version: FileVersion
    body: bytes | None


class Files(Protocol):
    def read(self, key: str, *, limit: int, version_id: str | None = None) -> File | None:
        """
        Return the object or the named version of it, or None if there is none. The body is left out
        if it has more than `limit` bytes. Raises ObjectRefused if S3 refuses to hand it out.
        """

    def version_of(self, key: str) -> FileVersion | None:
        """Return the current version, or None if there is none."""


class _Sidecar(BaseModel):
    metadata_attributes: dict[str, Attribute] = Field(alias="metadataAttributes")


@dataclass(frozen=True, kw_only=True)
class StoredSidecar:
    body: bytes
    last_modified: datetime

    @property
    def attributes(self) -> dict[str, Attribute] | None:
        """The attributes of a sidecar of ours; None for anything else."""
        try:
            return _Sidecar.model_validate_json(self.body).metadata_attributes
        except ValidationError:
            return None


Version = tuple[str, str]  # key and version id; a delete marker is one, too


class DocumentBucket(Protocol):
    def head(self, key: str) -> StoredObject | None: ...

    def version_of(self, key: str) -> FileVersion | None:
        """Return the current version, or None if there is no object."""

    def was_deleted(self, key: str) -> bool:
        """Return True if the object was deleted and the bucket still has a version of it."""

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        """
        Return the sidecar; None if there is none or we can't read it, so that it is rewritten.
        """

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        """Return the sidecars of those keys that have one, read in parallel."""

    def write_sidecar(self, key: str, body: bytes) -> None:
        """Raises ObjectRefused if the bucket policy denies writing."""

    def remove_sidecar(self, key: str) -> None: ...

    def remove(self, key: str) -> None:
        """Delete the object; a versioned bucket keeps its versions for a while."""

    def versions_since(self, prefix: str, moment: datetime) -> frozenset[Version]:
        """Return the current versions under the prefix written since, including sidecars."""

    def purge(
        self, prefix: str, *, before: datetime, recent: Collection[Version] = ()
    ) -> Iterator[list[str]]:
        """
        Permanently delete, page by page, every version under the prefix that was written before
        that moment, and of the later ones the `recent` versions.

        Yields each page's keys once they are deleted, including sidecars.
        """

    def holds_any(self, prefix: str) -> bool:
        """Return True if any object has the prefix."""

    def uri_of(self, key: str) -> str:
        """Return the `s3://` URI by which a knowledge base knows the object."""
