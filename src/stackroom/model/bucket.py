"""The documents' bucket: objects as they are now, and their sidecars."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """
    An object as HEAD finds it now; `attributes` are its `x-amz-meta-*` values, undecoded.

    `unreadable` is why we can't read it, in words for its owner. HEAD itself may be refused then:
    the object is described as far as a listing tells.
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
    """`version_id` is None where the bucket keeps no versions."""

    etag: str
    version_id: str | None


@dataclass(frozen=True, kw_only=True)
class StoredSidecar:
    body: bytes
    last_modified: datetime


Version = tuple[str, str]  # key and version id; a delete marker is one, too


class DocumentBucket(Protocol):
    def head(self, key: str) -> StoredObject | None: ...

    def version_of(self, key: str) -> FileVersion | None:
        """Return the version that lies there now, or None if none does."""

    def was_deleted(self, key: str) -> bool:
        """
        Whether somebody deleted what lay there: the bucket says so, unless all versions were.
        """

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        """None also for one that we can't read; who needs one writes it anew."""

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        """By key, of those that have one; read beside each other."""

    def write_sidecar(self, key: str, body: bytes) -> None:
        """Raises ObjectRefused where we may write as little as read."""

    def remove_sidecar(self, key: str) -> None: ...

    def remove(self, key: str) -> None:
        """Delete the object; a versioned bucket keeps what it was for a while."""

    def versions_since(self, prefix: str, moment: datetime) -> frozenset[Version]:
        """Those under the prefix now that were written then or later, sidecars among them."""

    def purge(
        self, prefix: str, *, before: datetime, recent: Collection[Version] = ()
    ) -> Iterator[list[str]]:
        """
        Delete for good, page by page, every version under the prefix that was written before that
        moment, and of the others the `recent` ones.

        Answers each page's keys once they are deleted; sidecars are among them.
        """

    def holds_any(self, prefix: str) -> bool:
        """Whether any object lies under the prefix now."""

    def uri_of(self, key: str) -> str:
        """The `s3://` URI by which a knowledge base knows the object."""
