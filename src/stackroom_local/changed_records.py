"""Everybody's records as they change: read once, and from then on only what changed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError as Malformed

from stackroom.aws.dynamodb.catalog_records import METADATA, to_catalog
from stackroom.aws.dynamodb.document_items import FAILED, OPEN, to_document
from stackroom.aws.dynamodb.items import get_all, scan, to_item
from stackroom.errors import StoreUnavailable
from stackroom.ingestion.estimates import CatalogEstimate
from stackroom.keys import unplaced_partition
from stackroom.model import Catalog, Document
from stackroom_local.changes import Changes, Key
from stackroom_local.product import Product
from stackroom_local.records import NO_CATALOG, CatalogListing, listed
from stackroom_local.sites.site import Site

_Partitions = dict[str, dict[str, Document]]  # by catalog_id, then sk
_NO_CATALOGS = unplaced_partition("")


@dataclass
class _Table:
    """What the table of catalogs and documents holds, as it was at the last `catch_up`."""

    product: Product
    catalogs: dict[str, Catalog] = field(default_factory=dict)
    documents: _Partitions = field(default_factory=lambda: defaultdict(dict))
    _unread: set[Key] | None = None  # None: everything
    _listed: dict[str, CatalogListing] = field(default_factory=dict)  # by catalog_id

    def catch_up(self) -> None:
        changed = self._changes.since_last_look()
        self._unread = None if changed is None or self._unread is None else self._unread | changed
        # What changed is forgotten only once it has been read, whatever fails until then.
        self._read_all() if self._unread is None else self._read(self._unread)
        self._unread = set()

    def listings(self, user_id: str | None) -> Iterator[CatalogListing]:
        for catalog in self.catalogs.values():
            if user_id in (None, catalog.user_id):
                yield self._listing(catalog)
        for partition, found in self.documents.items():
            owner = partition.removeprefix(_NO_CATALOGS)
            if owner != partition and found and user_id in (None, owner):
                yield CatalogListing(owner, NO_CATALOG, tuple(found.values()))

    def _listing(self, catalog: Catalog) -> CatalogListing:
        """Anew if a record of it changed, or an estimate may have."""
        last = self._listed.get(catalog.catalog_id)
        if last is None or last.estimates:
            last = self._listed[catalog.catalog_id] = listed(self._estimate(catalog))
        return last

    def _estimate(self, catalog: Catalog) -> CatalogEstimate:
        """Its documents are not read again."""
        known = self.documents.get(catalog.catalog_id, {})
        return self.product.looking.estimates.of(catalog, known=known.values())

    @cached_property
    def _changes(self) -> Changes:
        return Changes(
            dynamodb=self._client,
            streams=self.product.site.client("dynamodbstreams"),
            table=self._name,
        )

    def _read_all(self) -> None:
        items = list(scan(self._client, TableName=self._name, ConsistentRead=True))
        self.catalogs.clear()
        self.documents.clear()
        self._listed.clear()
        self._keep(items)

    def _read(self, keys: set[Key]) -> None:
        wanted = (to_item({"catalog_id": catalog_id, "sk": sk}) for catalog_id, sk in keys)
        items = list(get_all(self._client, self._name, wanted, consistent=True))
        for catalog_id, sk in keys:
            self._listed.pop(catalog_id, None)
            self.documents[catalog_id].pop(sk, None)
            if sk == METADATA:
                self.catalogs.pop(catalog_id, None)
        self._keep(items)

    def _keep(self, items: Iterable[dict[str, Any]]) -> None:
        for item in items:
            if item["sk"].startswith((OPEN, FAILED)):
                continue
            with suppress(Malformed):  # `status` without --watch tells of such a record
                if item["sk"] == METADATA:
                    self.catalogs[item["catalog_id"]] = to_catalog(item)
                else:
                    self.documents[item["catalog_id"]][item["sk"]] = to_document(item)

    @property
    def _client(self) -> Any:
        return self.product.stores.catalogs.client

    @property
    def _name(self) -> str:
        return self.product.site.catalog_table


@dataclass
class Following:
    """Of one user, or of everybody; `look` as often as you like."""

    site: Site
    user_id: str | None = None
    _table: _Table = field(init=False)
    _listings: list[CatalogListing] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._table = _Table(Product(self.site))

    def look(self) -> list[CatalogListing]:
        """
        As things are now, by user and name; as they last were if the table did not answer.

        Raises `NotUp` once nothing is served any more.
        """
        serving = self.site.now()
        if serving != self.site:
            # A server that was started anew knows nothing of an earlier one's stream.
            self.site, self._table = serving, _Table(Product(serving))
        try:
            self._table.catch_up()
            found = self._table.listings(self.user_id)
            self._listings = sorted(found, key=lambda each: (each.user_id, each.name))
        except StoreUnavailable:
            pass  # the next look finds what this one missed
        return self._listings
