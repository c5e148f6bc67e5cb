"""
A document's items in DynamoDB, and the writes that keep them consistent; nothing is written here.

    item                   catalog_id            sk
    document               <catalog_id>          DOC#<document_id>
    object of no catalog   REJECTED#<user_id>    DOC#<document_id>
    counters               <catalog_id>          METADATA (catalog_records.py)

    local index    sort key
    open-index     open_key     OPEN#<opened_at>#<document_id> while the document is open,
                                OVER#<over_since>#<document_id> while it waits over a cap
    failed-index   failed_key   <document_id> while it counts as failed

The indexes are sparse: a document that has no such attribute is not in them. They are local because
only a local index can be read consistently, and can be made only together with the table [DynamoDB
developer guide: Local secondary indexes].
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom.aws.dynamodb.catalog_records import COUNTERS
from stackroom.aws.dynamodb.items import WRITE_ID, Item, instant, record_timestamp, to_item
from stackroom.aws.dynamodb.table import conditional
from stackroom.model.catalog_counts import (
    Counts,
    booked,
    counts_of,
    indexed_last,
    uncounted,
)
from stackroom.model.keys import unplaced_partition
from stackroom.model.records import Document

DOCUMENT = "DOC#"  # its id follows
# The limits of one TransactWriteItems [DynamoDB API reference]: 100 actions, one of which counts,
# and 4 MB, measured roughly by the JSON.
MOST_DOCUMENTS = 99
_MOST_BYTES = 3_000_000
_UNPLACED = unplaced_partition("")
_OPEN_KEY, _FAILED_KEY = "open_key", "failed_key"
_OF_THE_ITEM = frozenset({"sk", "expires_at", _OPEN_KEY, _FAILED_KEY})

Action = dict[str, dict[str, Any]]  # of TransactWriteItems


@dataclass(frozen=True)
class IndexedState:
    """The documents of a catalog in one state, by a local index."""

    index: str
    key: str
    prefix: str = ""

    def has(self, item: Mapping[str, Any]) -> bool:
        return self.key in item and str(item[self.key]).startswith(self.prefix)

    def query(self, table: str, catalog_id: str) -> dict[str, Any]:
        """Return the Query for the keys of these documents, in their order."""
        condition, values = "catalog_id = :catalog", {":catalog": catalog_id}
        if self.prefix:
            condition += f" AND begins_with({self.key}, :prefix)"
            values[":prefix"] = self.prefix
        return {
            "TableName": table,
            "IndexName": self.index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": to_item(values),
            "ConsistentRead": True,
        }


OPEN = IndexedState("open-index", _OPEN_KEY, "OPEN#")
OVER = IndexedState("open-index", _OPEN_KEY, "OVER#")
WAITING = IndexedState("open-index", _OPEN_KEY)  # what is open comes first
FAILED = IndexedState("failed-index", _FAILED_KEY)


def document_key(catalog_id: str, document_id: str) -> Item:
    return to_item({"catalog_id": catalog_id, "sk": DOCUMENT + document_id})


def to_document(values: Mapping[str, Any]) -> Document:
    return Document.model_validate(
        {name: each for name, each in values.items() if name not in _OF_THE_ITEM}
    )


@dataclass(frozen=True, kw_only=True)
class DocumentWrite:
    """The document before and after a write; None as the latter removes it."""

    before: Document
    kept: Document | None

    @property
    def change(self) -> Counts:
        after = counts_of(self.kept) if self.kept is not None else Counts()
        return after - counts_of(self.before)

    @property
    def item(self) -> Item:
        """
        Return the item. A document that may never be uploaded expires, if nothing has come of it by
        then.
        """
        kept = self.kept
        assert kept is not None, "what is removed has no item"
        until = kept.upload_until if kept.is_to_come else None
        ends = {} if until is None else {"expires_at": math.ceil(until.timestamp())}  # TTL
        values = kept.model_dump(mode="json", exclude_defaults=True) | _index_keys(kept)
        # The index of names has the size of each.
        return to_item({**values, "sk": DOCUMENT + kept.document_id, "size": kept.size, **ends})

    def action(self, table: str, write_id: str) -> Action:
        """
        Return the write, on condition of the version that was read; each write changes the version.
        """
        version = self.before.version
        condition, values = "attribute_not_exists(catalog_id)", dict[str, Any]()
        if version:
            condition, values = "#version = :version", {":version": version}
        on = {"TableName": table, **conditional(condition, values)}
        if self.kept is None:
            key = document_key(self.before.catalog_id, self.before.document_id)
            return {"Delete": {"Key": key, **on}}
        return {"Put": {"Item": self.item | to_item({WRITE_ID: write_id}), **on}}


def _index_keys(document: Document) -> dict[str, str]:
    keys: dict[str, str] = {}
    counted, document_id = document.counted, document.document_id
    if document.opened_at is not None:
        keys[_OPEN_KEY] = f"{OPEN.prefix}{instant(document.opened_at)}#{document_id}"
    elif counted is not None and counted.over_since is not None:
        keys[_OPEN_KEY] = f"{OVER.prefix}{instant(counted.over_since)}#{document_id}"
    if counted is not None and counted.failed:
        keys[_FAILED_KEY] = document_id
    return keys


def counting(table: str, key: Item, change: Counts, kept: Sequence[Document]) -> list[Action]:
    """
    Return the writes of the counters for such a change, none if nothing is counted. Their condition
    is that the catalog exists and no counter falls below zero.
    """
    counters = {name: by for name, by in zip(COUNTERS, change.each, strict=True) if by}
    if not counters:
        return []
    added = ", ".join(f"{name} :{name}" for name in counters)
    values: dict[str, Any] = {f":{name}": by for name, by in counters.items()}
    conditions, settings = ["attribute_exists(catalog_id)"], []
    for name, by in counters.items():
        if by < 0:
            conditions.append(f"{name} >= :{name}_taken")
            values[f":{name}_taken"] = -by
    if kept:
        settings.append("updated_at = :at")
        values[":at"] = record_timestamp(max(each.updated_at for each in kept))
    if (indexed_at := indexed_last(kept)) is not None:
        settings.append("indexed_at = :indexed_at")
        values[":indexed_at"] = record_timestamp(indexed_at)
    expression = f"ADD {added}" + (f" SET {', '.join(settings)}" if settings else "")
    on = conditional(" AND ".join(conditions), values, update=expression)
    return [{"Update": {"TableName": table, "Key": key, **on}}]


# The writes of documents: each by its states before and after, and those of a catalog in groups.


@dataclass(frozen=True, kw_only=True)
class CatalogSnapshot:
    """The known state of a catalog's record; `counts` once it is known that they matter."""

    is_there: bool = True
    counts: Counts | None = None


def assumed_snapshot(catalog_id: str) -> CatalogSnapshot:
    """Return the usual state of the catalog's record; an object of no catalog has none."""
    return CatalogSnapshot(is_there=not catalog_id.startswith(_UNPLACED))


def planned(
    document: Document, snapshot: CatalogSnapshot, *, removes: bool = False
) -> DocumentWrite:
    before = document if document.version else uncounted(document)
    if removes:
        return DocumentWrite(before=before, kept=None)
    version = document.version + 1 if document.version else _first_version(document)
    saved = document.model_copy(update={"version": version})
    kept = booked(saved, before.opened_at) if snapshot.is_there else uncounted(saved)
    return DocumentWrite(before=before, kept=kept)


def _first_version(document: Document) -> int:
    """
    Return the microseconds of its creation as its first version, never seen before.

    Counted from 1, a record that was removed and made anew would repeat the same versions, and
    whoever read the old one could overwrite the new.
    """
    return int(document.updated_at.timestamp() * 1_000_000)


def groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Split documents into groups that each fit a transaction."""
    group: list[Document] = []
    size = 0
    for document in documents:
        own = len(document.model_dump_json().encode())
        if group and (len(group) == MOST_DOCUMENTS or size + own > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(document)
        size += own
    if group:
        yield group
