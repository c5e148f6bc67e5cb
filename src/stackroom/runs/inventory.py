"""The reconciler's port to everything that exists, page by page."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stackroom.model.records import Catalog, DataSource, Document
from stackroom.model.repositories import ListingPage
from stackroom.runs.bedrock_calls import DocumentDetail


@dataclass(frozen=True, kw_only=True)
class ListedObject:
    """An object in a listing of the bucket; anything more takes a HEAD."""

    key: str
    size: int
    etag: str
    last_modified: datetime


@dataclass(frozen=True, kw_only=True)
class KnownSource:
    """
    A data source as its knowledge base has it. `status` is Bedrock's DataSourceStatus, `prefix` is
    what an S3 data source crawls, and `reasons` are why its deletion failed.
    """

    source: DataSource
    name: str
    status: str
    prefix: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ListedDocument:
    """A document as its data source lists it: by URI in an S3 one, by our id in a CUSTOM one."""

    identifier: str
    detail: DocumentDetail


class ListingExpired(Exception):
    """The cursor has expired: only a new listing can return the rest."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the listing of {what} has expired")


class Inventory(Protocol):
    """
    Lists everything that exists, page by page, for repairs.

    Objects come in the order of their keys, sidecars among them; a user's records of one catalog
    come together. Records may be some seconds old: callers read them again before they act on them.
    """

    def objects(self, *, after: str = "", prefix: str = "") -> ListingPage[ListedObject]: ...

    def records(self, cursor: str | None) -> ListingPage[Catalog | Document]: ...

    def all_catalogs(self, cursor: str | None) -> ListingPage[Catalog]:
        """List the catalogs alone, whatever they hold; they may be some seconds old, too."""

    def source_ids(self, knowledge_base_id: str) -> list[str]: ...

    def source(self, knowledge_base_id: str, data_source_id: str) -> KnownSource | None:
        """Return the data source; None if it is gone, or of a type that is never ours."""

    def indexed(self, source: DataSource, cursor: str | None) -> ListingPage[ListedDocument] | None:
        """
        Return a page of the data source's documents; None if Bedrock lists nothing, because an S3
        data source has never been synced.

        Raises KnowledgeBaseThrottled, because all such calls of an account share a few a second,
        and ListingExpired if the cursor is too old.
        """


class Bookmark(Protocol):
    """The cursor at which a reconciliation goes on."""

    def read(self) -> str | None: ...

    def keep(self, cursor: str | None) -> None: ...


class IdParts(Protocol):
    """Document ids as bytes, stored part by part for some days under the name of their reading."""

    def keep(self, reading: str, part: int, ids: bytes) -> None: ...

    def parts(self, reading: str) -> Iterator[bytes]: ...
