"""
What DynamoDB keeps of a document, and the writes that keep it right; nothing is written here.

    item                   catalog_id            sk
    document               <catalog_id>          DOC#<document_id>
    object of no catalog   REJECTED#<user_id>    DOC#<document_id>
    open item              <catalog_id>          OPEN#<opened_at>#<document_id>, while it is open
    failed item            <catalog_id>          FAILED#<document_id>, while it counts as failed
    item over a cap        <catalog_id>          OVER#<over_since>#<document_id>, while it waits so
    counters               <catalog_id>          METADATA (catalog_records.py)

A document's item says in `opened_at` and `counted` what of it stands in the others, and a write
is on the condition that it still does. Items from before these were kept have no `counted`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stackroom.aws.dynamodb.catalog_records import COUNTERS
from stackroom.aws.dynamodb.items import WRITE_ID, Item, from_item, instant, to_item
from stackroom.aws.dynamodb.table import conditional
from stackroom.documents.catalog_counts import (
    Counts,
    awaits_indexing,
    booked,
    counts_of,
    indexed_last,
    uncounted,
)
from stackroom.documents.keys import unplaced_partition
from stackroom.documents.model import CatalogStatus, Counted, Document

DOCUMENT = "DOC#"  # its id follows
OPEN = "OPEN#"  # since when, and its id, follow
FAILED = "FAILED#"  # its id follows
OVER = "OVER#"  # since when it was open, and its id, follow
# Of one TransactWriteItems [DynamoDB API reference]: 100 actions, three of a document and one of
# which counts, and 4 MB, of which JSON says roughly how much there is.
MOST_DOCUMENTS = 99 // 3
_MOST_BYTES = 3_000_000
_UNPLACED = unplaced_partition("")
_UNSAID = (
    *("failing_since", "retry_at", "title_words", "gaps"),
    *("lacks_folder", "lost_sidecar", "unread", "text_id", "text_tokens", "indexed_text_id"),
    *("illegible", "indexed_version_id"),
)
# `uninspected` stands in items from before documents waited for their text.
_OF_THE_ITEM = frozenset({"sk", "expires_at", "uninspected"})

Action = dict[str, dict[str, Any]]  # of TransactWriteItems


def document_key(catalog_id: str, document_id: str) -> Item:
    return to_item({"catalog_id": catalog_id, "sk": DOCUMENT + document_id})


def to_document(values: Mapping[str, Any]) -> Document:
    known = {name: each for name, each in values.items() if name not in _OF_THE_ITEM}
    return Document.model_validate({**known, "counted": known.get("counted") or None})


@dataclass(frozen=True, kw_only=True)
class Books:
    """
    What stands in the open item and the counters of a document, as its own item says.

    `are_kept` is False of an item from before: it counts as its catalog's totals counted it then.
    """

    document: Document
    are_kept: bool = True

    @classmethod
    def of(cls, item: Item) -> "Books":
        document = to_document(from_item(item))
        if "counted" in item:
            return cls(document=document)
        counted = Counted(size=document.size) if document.is_counted else None
        return cls(document=document.model_copy(update={"counted": counted}), are_kept=False)

    @property
    def condition(self) -> dict[str, Any]:
        """The document's item is at the version that was read, and the books are these."""
        if self.document.version == 0:
            return conditional("attribute_not_exists(catalog_id)", {})
        condition = "#version = :version"
        values: dict[str, Any] = {":version": self.document.version}
        for name, kept in _books_in(self.document).items():
            if kept is None or not self.are_kept:
                condition += f" AND attribute_not_exists({name})"
            else:
                condition += f" AND {name} = :{name}"
                values[f":{name}"] = kept
        return conditional(condition, values)


@dataclass(frozen=True, kw_only=True)
class DocumentWrite:
    """From what the books were to the document as it is to be kept; None removes it."""

    books: Books
    kept: Document | None

    @property
    def change(self) -> Counts:
        after = counts_of(self.kept) if self.kept is not None else Counts()
        return after - counts_of(self.books.document)

    @property
    def item(self) -> Item:
        """One that may never be uploaded removes itself, if nothing has come of it by then."""
        kept = self.kept
        assert kept is not None, "what is removed has no item"
        until = kept.upload_until if kept.is_to_come else None
        ends = {} if until is None else {"expires_at": math.ceil(until.timestamp())}  # TTL
        # Left out where it is nothing: while a deployment replaces one function after another, the
        # earlier ones read what the new ones write, and forbid what they don't know.
        unsaid = {name for name in _UNSAID if not getattr(kept, name)}
        values = {**kept.model_dump(mode="json", exclude=unsaid), **_books_in(kept)}
        return to_item({**values, "sk": DOCUMENT + kept.document_id, **ends})

    def actions(self, table: str, write_id: str) -> list[Action]:
        """The document's own comes first."""
        document = self.books.document
        catalog_id, document_id = document.catalog_id, document.document_id
        on = {"TableName": table, **self.books.condition}
        if self.kept is None:
            key = document_key(catalog_id, document_id)
            actions: list[Action] = [{"Delete": {"Key": key, **on}}]
        else:
            actions = [{"Put": {"Item": self.item | to_item({WRITE_ID: write_id}), **on}}]
        before, after = listed_as(document), listed_as(self.kept)
        for sort_key in before - after:
            key = to_item({"catalog_id": catalog_id, "sk": sort_key})
            actions.append({"Delete": {"TableName": table, "Key": key}})
        for sort_key in after - before:
            values = {"catalog_id": catalog_id, "sk": sort_key, "document_id": document_id}
            actions.append({"Put": {"TableName": table, "Item": to_item(values)}})
        return actions


def counting(
    table: str, key: Item, change: Counts, kept: Sequence[Document], *, may_index: bool
) -> list[Action]:
    """
    What counts such a change, and nothing if there is none, on the condition that the catalog is
    there and nothing comes to less than none.

    `may_index` unless it is being deleted: then it becomes `indexing` for what of `kept` is to be.
    """
    counters = {name: by for name, by in zip(COUNTERS, change.each, strict=True) if by}
    if not counters:
        return []
    added = ", ".join(f"{name} :{name}" for name in counters)
    values: dict[str, Any] = {f":{name}": by for name, by in counters.items()}
    conditions, told = ["attribute_exists(catalog_id)"], []
    for name, by in counters.items():
        if by < 0:
            conditions.append(f"{name} >= :{name}_taken")
            values[f":{name}_taken"] = -by
    if kept:
        told.append("updated_at = :at")
        values[":at"] = max(each.updated_at for each in kept).isoformat()
    if (indexed_at := indexed_last(kept)) is not None:
        told.append("indexed_at = :indexed_at")
        values[":indexed_at"] = indexed_at.isoformat()
    if may_index and any(map(awaits_indexing, kept)):
        told.append("#status = :indexing")
        conditions.append("#status <> :deleting")
        values[":indexing"] = str(CatalogStatus.INDEXING)
        values[":deleting"] = str(CatalogStatus.DELETING)
    expression = f"ADD {added}" + (f" SET {', '.join(told)}" if told else "")
    on = conditional(" AND ".join(conditions), values, update=expression)
    return [{"Update": {"TableName": table, "Key": key, **on}}]


def _books_in(document: Document) -> dict[str, Any]:
    """As attributes; nothing counted is an empty map, unlike nothing known."""
    dumped = document.model_dump(mode="json", include={"opened_at", "counted"})
    return {"opened_at": dumped["opened_at"], "counted": dumped["counted"] or {}}


def listed_as(document: Document | None) -> set[str]:
    """The sort keys of what lists the document."""
    if document is None:
        return set()
    keys = set()
    if document.opened_at is not None:
        keys.add(f"{OPEN}{instant(document.opened_at)}#{document.document_id}")
    if document.counted is not None and document.counted.failed:
        keys.add(FAILED + document.document_id)
    if document.counted is not None and document.counted.over_since is not None:
        keys.add(f"{OVER}{instant(document.counted.over_since)}#{document.document_id}")
    return keys


# How documents are to be written: each by what it was and is, and those of a catalog in groups.


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """What is known of the record of a catalog; `counts` once it is known that they matter."""

    is_there: bool = True
    is_deleting: bool = False
    counts: Counts | None = None


def shelf_of(catalog_id: str) -> Shelf:
    """As most are; an object of no catalog has none."""
    return Shelf(is_there=not catalog_id.startswith(_UNPLACED))


def books_of(document: Document) -> Books:
    """As the caller's copy has them; of one that was never kept there are none."""
    return Books(document=document if document.version else uncounted(document))


def planned(
    document: Document, books: Books, shelf: Shelf, *, removes: bool = False
) -> DocumentWrite:
    if removes:
        return DocumentWrite(books=books, kept=None)
    version = document.version + 1 if document.version else _first_version(document)
    saved = document.model_copy(update={"version": version})
    since = _opened_at(document, books)
    kept = booked(saved, since) if shelf.is_there else uncounted(saved)
    return DocumentWrite(books=books, kept=kept)


def _opened_at(document: Document, books: Books) -> datetime | None:
    """As it stands in the books; later if it is to queue up anew."""
    there, wanted = books.document.opened_at, document.opened_at
    return wanted if there is not None and wanted is not None and wanted > there else there


def _first_version(document: Document) -> int:
    """
    Microseconds of its making, never seen before.

    Counted from 1, a record that was removed and made anew would come by the same versions, and
    whoever read the old one could overwrite the new.
    """
    return int(document.updated_at.timestamp() * 1_000_000)


def groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """As many as fit a transaction."""
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
