"""All users' catalogs, documents and receipts, read from the tables for people to look at."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import ValidationError as Malformed

from stackroom.aws.dynamodb.catalog_records import METADATA
from stackroom.aws.dynamodb.items import scan, to_item
from stackroom.aws.dynamodb.receipt_records import RECEIPTS, to_receipt
from stackroom.clock import utc_now
from stackroom.errors import StoreUnavailable
from stackroom.model.keys import unplaced_partition
from stackroom.model.records import Catalog, Document, DocumentStatus, Receipt
from stackroom.runs.estimates import CatalogEstimate, DocumentEstimate, QueuePosition
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_services import SiteServices, SiteUseCases

NO_CATALOG = "(no catalog)"
UNREADABLE = "a record is malformed; `stackroom reconcile` names it"
_REJECTED = unplaced_partition("")
_UNPLACED = 1000  # objects of a user that are listed


@dataclass(frozen=True)
class CatalogListing:
    """
    A catalog with its documents, or a user's objects that belong to no catalog.

    `estimates` has the unsettled documents' estimates by document id. `trouble` says why the
    documents can't be listed. Of a large catalog, only some unsettled and failed documents are
    listed; `unlisted` counts the others, those that are being indexed as pending.
    """

    user_id: str
    name: str
    documents: tuple[Document, ...]
    estimates: Mapping[str, DocumentEstimate] = field(default_factory=dict)
    queue_position: QueuePosition | None = None
    trouble: str | None = None
    unlisted: Counter[DocumentStatus] = field(default_factory=Counter)


def listed(seen: CatalogEstimate) -> CatalogListing:
    return CatalogListing(
        seen.catalog.user_id,
        seen.catalog.name,
        tuple(each.document for each in seen.documents),
        estimates={
            each.document.document_id: each
            for each in seen.documents
            if each.so_far_seconds is not None
        },
        queue_position=seen.queue_position,
        unlisted=Counter() if seen.is_whole else _unlisted(seen),
    )


def _unlisted(seen: CatalogEstimate) -> Counter[DocumentStatus]:
    """Return the catalog's own counts, without the listed documents."""
    catalog, listed = seen.catalog, Counter(each.document.status for each in seen.documents)
    waiting = catalog.waiting_count + catalog.over_count
    settled = catalog.document_count - waiting - catalog.failed_count
    return +Counter(
        {
            DocumentStatus.PENDING: waiting
            - listed[DocumentStatus.PENDING]
            - listed[DocumentStatus.INDEXING],
            DocumentStatus.FAILED: catalog.failed_count - listed[DocumentStatus.FAILED],
            DocumentStatus.INDEXED: settled - listed[DocumentStatus.INDEXED],
        }
    )


@dataclass(frozen=True)
class SiteRecords:
    site: Site

    def listings(self, user_id: str | None = None, *, whole: bool = False) -> list[CatalogListing]:
        """
        Return the listings of one user or of everybody, by user and name.

        With `whole`, large catalogs are listed completely.
        """
        users = [user_id] if user_id else self.users()
        found = [listing for each in users for listing in self._of_user(each, whole=whole)]
        return sorted(found, key=lambda listing: (listing.user_id, listing.name))

    def documents(self, user_id: str | None = None) -> Iterator[Document]:
        """
        Yield every document, also of large catalogs; a catalog ends early at a malformed record.

        It reads as much as it can, for comparison with all objects in the bucket.
        """
        now = utc_now()
        for each in [user_id] if user_id else self.users():
            for partition in self._partitions(each):
                with suppress(Malformed):  # `listings` tells of it
                    found = self._stores.documents.of_catalog(partition)
                    yield from (document for document in found if not document.has_lapsed(now))

    def users(self) -> list[str]:
        """Return the users who have a catalog, or an object that belongs to none."""
        # A scan: the table's keys serve questions about one user, and a laptop's table is small.
        owners = scan(
            self._stores.catalogs.client,
            TableName=self.site.catalog_table,
            FilterExpression="sk = :metadata OR begins_with(catalog_id, :rejected)",
            ExpressionAttributeValues=to_item({":metadata": METADATA, ":rejected": _REJECTED}),
        )
        return sorted(
            {item.get("user_id") or item["catalog_id"].removeprefix(_REJECTED) for item in owners}
        )

    def catalogs(self) -> list[Catalog]:
        """Return all users' catalogs."""
        return [each for user_id in self.users() for each in self._stores.catalogs.of_user(user_id)]

    def receipts(self) -> list[Receipt]:
        """Return all users' receipts, including those of users who have no catalog any more."""
        found = scan(
            self._stores.receipts.client,
            TableName=self.site.control_table,
            FilterExpression="begins_with(pk, :receipts)",
            ExpressionAttributeValues=to_item({":receipts": RECEIPTS}),
            ConsistentRead=True,
        )
        return [to_receipt(item) for item in found]

    def _of_user(self, user_id: str, *, whole: bool) -> Iterator[CatalogListing]:
        try:
            catalogs = list(self._stores.catalogs.of_user(user_id))
        except Malformed:
            catalogs = []
            yield CatalogListing(user_id, "(all catalogs)", (), trouble=UNREADABLE)
        for catalog in catalogs:
            try:
                known = (
                    list(self._stores.documents.of_catalog(catalog.catalog_id)) if whole else None
                )
                yield listed(self._stores.estimates.of(catalog, known=known))
            except Malformed:
                yield CatalogListing(user_id, catalog.name, (), trouble=UNREADABLE)
        partition = unplaced_partition(user_id)
        page = self._stores.documents.page(partition, after=None, limit=_UNPLACED)
        if found := tuple(sorted(page.documents, key=lambda document: document.filename)):
            yield CatalogListing(user_id, NO_CATALOG, found)

    def _partitions(self, user_id: str) -> Iterator[str]:
        """
        Yield the table's partitions of the user's catalogs, and of the user's objects in no
        catalog.
        """
        with suppress(Malformed):
            for catalog in self._stores.catalogs.of_user(user_id):
                yield catalog.catalog_id
        yield unplaced_partition(user_id)

    @cached_property
    def _stores(self) -> SiteUseCases:
        return SiteServices(self.site).stores


@dataclass
class FollowedRecords:
    """The records of one user or of everybody, with all documents, read again and again."""

    site: Site
    user_id: str | None = None
    _records: SiteRecords = field(init=False)
    _listings: list[CatalogListing] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._records = SiteRecords(self.site)

    def refresh(self) -> list[CatalogListing]:
        """
        Return the current listings by user and name, or the previous ones if the table does not
        answer.

        Raises `NotUp` once the site is no longer served.
        """
        serving = self.site.now()
        if serving != self.site:
            self.site, self._records = serving, SiteRecords(serving)
        with suppress(StoreUnavailable):  # the next look finds what this one missed
            self._listings = self._records.listings(self.user_id, whole=True)
        return self._listings
