"""Everybody's catalogs, documents and receipts, read from the tables for people to look at."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from botocore.exceptions import ClientError
from pydantic import ValidationError as Malformed

from stackroom.aws.dynamodb.catalog_records import METADATA, to_catalog
from stackroom.aws.dynamodb.document_items import FAILED, OPEN, to_document
from stackroom.aws.dynamodb.items import get_all, scan, to_item
from stackroom.aws.dynamodb.receipt_records import RECEIPTS, to_receipt
from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.clock import utc_now
from stackroom.documents.keys import unplaced_partition
from stackroom.documents.model import Catalog, Document, Receipt
from stackroom.errors import StoreUnavailable
from stackroom.ingestion.estimates import CatalogEstimate, DocumentEstimate, QueuePosition
from stackroom.wiring.adapters import Deployment
from stackroom.wiring.use_cases import UseCases
from stackroom_local.sites.site import Site
from stackroom_local.sites.site_services import SiteServices

NO_CATALOG = "(no catalog)"
UNREADABLE = "a record of it is none that Stackroom writes; `stackroom reconcile` names it"
_REJECTED = unplaced_partition("")
_UNPLACED = 1000  # of a user, that are told of


@dataclass(frozen=True)
class CatalogListing:
    """
    A catalog with its documents, or those of a user's objects that belong to no catalog.

    `estimates` are by document id, of what has yet to settle. `trouble` says why the documents
    can't be told. Of a large catalog only what is open or failed is listed.
    """

    user_id: str
    name: str
    documents: tuple[Document, ...]
    estimates: Mapping[str, DocumentEstimate] = field(default_factory=dict)
    queue_position: QueuePosition | None = None
    trouble: str | None = None
    unlisted: int = 0  # of those that it counts


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
        unlisted=0 if seen.is_whole else _unlisted(seen),
    )


def _unlisted(seen: CatalogEstimate) -> int:
    listed = sum(each.document.is_counted for each in seen.documents)
    return max(0, seen.catalog.document_count - listed)


@dataclass(frozen=True)
class SiteRecords:
    site: Site

    def listings(self, user_id: str | None = None) -> list[CatalogListing]:
        """By user and name; of one user, or of everybody."""
        users = [user_id] if user_id else self.users()
        found = [listing for each in users for listing in self._of_user(each)]
        return sorted(found, key=lambda listing: (listing.user_id, listing.name))

    def documents(self, user_id: str | None = None) -> Iterator[Document]:
        """
        Every one, also of a large catalog; a catalog ends early at a record that can't be read.

        As much is read as there is: for whoever holds records against all that lies in the bucket.
        """
        now = utc_now()
        for each in [user_id] if user_id else self.users():
            for partition in self._partitions(each):
                with suppress(Malformed):  # `listings` tells of it
                    found = self._stores.documents.of_catalog(partition)
                    yield from (document for document in found if not document.has_lapsed(now))

    def users(self) -> list[str]:
        """Whoever has a catalog, or an object that belongs to none."""
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
        """Everybody's."""
        return [each for user_id in self.users() for each in self._stores.catalogs.of_user(user_id)]

    def receipts(self) -> list[Receipt]:
        """Everybody's, also of whoever has no catalog any more."""
        found = scan(
            self._stores.receipts.client,
            TableName=self.site.control_table,
            FilterExpression="begins_with(pk, :receipts)",
            ExpressionAttributeValues=to_item({":receipts": RECEIPTS}),
            ConsistentRead=True,
        )
        return [to_receipt(item) for item in found]

    def _of_user(self, user_id: str) -> Iterator[CatalogListing]:
        try:
            catalogs = list(self._stores.catalogs.of_user(user_id))
        except Malformed:
            catalogs = []
            yield CatalogListing(user_id, "(all catalogs)", (), trouble=UNREADABLE)
        for catalog in catalogs:
            try:
                yield listed(self._looking.estimates.of(catalog))
            except Malformed:
                yield CatalogListing(user_id, catalog.name, (), trouble=UNREADABLE)
        partition = unplaced_partition(user_id)
        page = self._stores.documents.page(partition, after=None, limit=_UNPLACED)
        if found := tuple(sorted(page.documents, key=lambda document: document.filename)):
            yield CatalogListing(user_id, NO_CATALOG, found)

    def _partitions(self, user_id: str) -> Iterator[str]:
        """Of the user's catalogs, and of what belongs to none."""
        with suppress(Malformed):
            for catalog in self._stores.catalogs.of_user(user_id):
                yield catalog.catalog_id
        yield unplaced_partition(user_id)

    @cached_property
    def _looking(self) -> UseCases:
        return SiteServices(self.site).looking

    @property
    def _stores(self) -> Deployment:
        return self._looking.deployment


# Everybody's records as they change: read once, and from then on only what changed.

# Which records changed since the last look: the stream that DynamoDB keeps of a table's changes.
#
# It is switched on by whoever looks first, so that nobody pays for it where nobody does. Reading
# it costs what changed; a Query or a Scan costs everything that is there, with a filter too.

Key = tuple[str, str]  # catalog_id, sk

# What the stream answers to a reader that was away for too long [DynamoDB API reference:
# GetRecords], and a server that was started anew to one of an earlier stream.
_LOST = {"ExpiredIteratorException", "ResourceNotFoundException", "TrimmedDataAccessException"}


@dataclass
class Changes:
    dynamodb: Any
    streams: Any
    table: str
    _iterators: list[str] | None = field(default=None, init=False)

    def since_last_look(self) -> set[Key] | None:
        """None at first, and whenever changes may have been missed: then read everything."""
        if self._iterators is None:
            with store_errors():
                self._iterators = self._latest()
            return None
        try:
            with store_errors():
                return self._read(self._iterators)
        except ClientError as error:
            if code_of(error) not in _LOST:
                raise
            self._iterators = None
            return self.since_last_look()

    def _read(self, iterators: list[str]) -> set[Key] | None:
        changed: set[Key] = set()
        following: list[str] = []
        for iterator in iterators:
            position: str | None = iterator
            while position is not None:
                answer = self.streams.get_records(ShardIterator=position)
                changed |= {_key(each["dynamodb"]["Keys"]) for each in answer["Records"]}
                position = answer.get("NextShardIterator")
                if position is not None and not answer["Records"]:
                    following.append(position)
                    break
        if len(following) < len(iterators):  # a shard ended; others follow it
            self._iterators = self._latest()
            return None
        self._iterators = following
        return changed

    def _latest(self) -> list[str]:
        stream = self._stream()
        shards = self.streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
        return [
            self.streams.get_shard_iterator(
                StreamArn=stream, ShardId=each["ShardId"], ShardIteratorType="LATEST"
            )["ShardIterator"]
            for each in shards
        ]

    def _stream(self) -> str:
        table = self.dynamodb.describe_table(TableName=self.table)["Table"]
        if not table.get("StreamSpecification", {}).get("StreamEnabled"):
            table = self.dynamodb.update_table(
                TableName=self.table,
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            )["TableDescription"]
        return str(table["LatestStreamArn"])


def _key(keys: dict[str, dict[str, str]]) -> Key:
    return keys["catalog_id"]["S"], keys["sk"]["S"]


_Partitions = dict[str, dict[str, Document]]  # by catalog_id, then sk
_NO_CATALOGS = unplaced_partition("")


@dataclass
class _Table:
    """What the table of catalogs and documents holds, as it was at the last `catch_up`."""

    services: SiteServices
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
        return self.services.looking.estimates.of(catalog, known=known.values())

    @cached_property
    def _changes(self) -> Changes:
        return Changes(
            dynamodb=self._client,
            streams=self.services.site.client("dynamodbstreams"),
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
        return self.services.stores.catalogs.client

    @property
    def _name(self) -> str:
        return self.services.site.catalog_table


@dataclass
class ChangedRecords:
    """Of one user, or of everybody; `look` as often as you like."""

    site: Site
    user_id: str | None = None
    _table: _Table = field(init=False)
    _listings: list[CatalogListing] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._table = _Table(SiteServices(self.site))

    def look(self) -> list[CatalogListing]:
        """
        As things are now, by user and name; as they last were if the table did not answer.

        Raises `NotUp` once nothing is served any more.
        """
        serving = self.site.now()
        if serving != self.site:
            # A server that was started anew knows nothing of an earlier one's stream.
            self.site, self._table = serving, _Table(SiteServices(serving))
        try:
            self._table.catch_up()
            found = self._table.listings(self.user_id)
            self._listings = sorted(found, key=lambda each: (each.user_id, each.name))
        except StoreUnavailable:
            pass  # the next look finds what this one missed
        return self._listings
