"""The documents' bucket: objects as they are now, and their sidecars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """An object as HEAD finds it now; `attributes` are its `x-amz-meta-*` values, undecoded."""

    key: str
    size: int
    etag: str
    version_id: str | None
    content_type: str
    last_modified: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StoredSidecar:
    body: bytes
    last_modified: datetime


class DocumentBucket(Protocol):
    def head(self, key: str) -> StoredObject | None: ...

    def sidecar_of(self, key: str) -> StoredSidecar | None: ...

    def sidecars_of(self, keys: Sequence[str]) -> dict[str, StoredSidecar]:
        """By key, of those that have one; read beside each other."""
        ...

    def write_sidecar(self, key: str, body: bytes) -> None: ...

    def remove_sidecar(self, key: str) -> None: ...

    def remove(self, key: str) -> None:
        """Delete the object; a versioned bucket keeps what it was for a while."""
        ...

    def purge(self, prefix: str, *, until: datetime) -> Iterator[list[str]]:
        """
        Delete for good every version under the prefix that was written by then, page by page.

        Answers each page's keys once they are deleted; sidecars are among them.
        """
        ...

    def holds_any(self, prefix: str) -> bool:
        """Whether any object lies under the prefix now."""
        ...

    def uri_of(self, key: str) -> str:
        """The `s3://` URI by which a knowledge base knows the object."""
        ...
