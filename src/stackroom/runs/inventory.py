"""All there is, page by page, for the reconciler."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stackroom.model.records import Catalog, DataSource, Document
from stackroom.model.repositories import ListingPage
from stackroom.runs.bedrock_calls import DocumentDetail


@dataclass(frozen=True, kw_only=True)
class ListedObject:
    """What a listing of the bucket tells; the rest takes a HEAD."""

    key: str
    size: int
    etag: str
    last_modified: datetime


@dataclass(frozen=True, kw_only=True)
class KnownSource:
    """
    A data source as its knowledge base has it. `status` is Bedrock's DataSourceStatus, `prefix`
    what an S3 data source crawls, `reasons` why its deletion failed.
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
    """A cursor that is taken no more: only a new listing can tell the rest."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the listing of {what} can't be gone on with, and begins anew")


class Inventory(Protocol):
    """
    All there is, page by page, for repairs.

    Objects come in the order of their keys, sidecars among them; a user's records of one catalog
    come together. Records may be some seconds old: whoever acts on them reads them again.
    """

    def objects(self, *, after: str = "", prefix: str = "") -> ListingPage[ListedObject]: ...

    def records(self, cursor: str | None) -> ListingPage[Catalog | Document]: ...

    def all_catalogs(self, cursor: str | None) -> ListingPage[Catalog]:
        """The catalogs alone, whatever they hold; they may be some seconds old, too."""

    def source_ids(self, knowledge_base_id: str) -> list[str]: ...

    def source(self, knowledge_base_id: str, data_source_id: str) -> KnownSource | None:
        """None if it is gone, or of a type that is never ours."""

    def indexed(self, source: DataSource, cursor: str | None) -> ListingPage[ListedDocument] | None:
        """
        None if Bedrock lists nothing there: an S3 data source must have been synced once.

        Raises KnowledgeBaseThrottled, for all such calls of an account share a few a second, and
        ListingExpired if the cursor is too old.
        """


class Bookmark(Protocol):
    """Where a reconciliation goes on."""

    def read(self) -> str | None: ...

    def keep(self, cursor: str | None) -> None: ...


class IdParts(Protocol):
    """Ids of documents as bytes, kept part by part for some days, by the name of their reading."""

    def keep(self, reading: str, part: int, ids: bytes) -> None: ...

    def parts(self, reading: str) -> Iterator[bytes]: ...
