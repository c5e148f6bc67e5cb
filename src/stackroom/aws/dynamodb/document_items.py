"""
What DynamoDB keeps of a document, and the writes that keep it right; nothing is written here.

    item          catalog_id      sk
    document      <catalog_id>    DOC#<document_id>
    open item     <catalog_id>    OPEN#<opened_at>#<document_id>    while the document is open
    failed item   <catalog_id>    FAILED#<document_id>              while it counts as failed
    counters      <catalog_id>    METADATA                          (catalog_records.py)

A document's item says in `opened_at` and `counted` what of it stands in the others, and a write
is on the condition that it still does. Items from before these were kept have no `counted`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from stackroom.aws.dynamodb.catalog_records import COUNTERS
from stackroom.aws.dynamodb.items import WRITE_ID, Item, from_item, instant, to_item
from stackroom.aws.dynamodb.writes import conditional
from stackroom.documents.catalog_counts import Counts, awaits_indexing, counts_of, indexed_last
from stackroom.documents.model import CatalogStatus, Counted, Document

DOCUMENT = "DOC#"  # its id follows
OPEN = "OPEN#"  # since when, and its id, follow
FAILED = "FAILED#"  # its id follows
MOST_ACTIONS = 3  # of a document in a transaction
_OF_THE_ITEM = frozenset({"sk", "expires_at"})

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
            return {"condition": "attribute_not_exists(catalog_id)", "values": {}}
        condition, values = "#version = :version", {":version": self.document.version}
        for name, kept in _books_in(self.document).items():
            if kept is None or not self.are_kept:
                condition += f" AND attribute_not_exists({name})"
            else:
                condition += f" AND {name} = :{name}"
                values[f":{name}"] = kept
        return {"condition": condition, "values": values}


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
    def key(self) -> Item:
        return document_key(self.books.document.catalog_id, self.books.document.document_id)

    @property
    def item(self) -> Item:
        """One that may never be uploaded removes itself, if nothing has come of it by then."""
        kept = self.kept
        assert kept is not None, "what is removed has no item"
        until = kept.upload_until if kept.is_to_come else None
        ends = {} if until is None else {"expires_at": math.ceil(until.timestamp())}  # TTL
        # Left out where it is nothing: while a deployment replaces one function after another, the
        # earlier ones read what the new ones write, and forbid what they don't know.
        unsaid = None if kept.uninspected else {"uninspected"}
        values = {**kept.model_dump(mode="json", exclude=unsaid), **_books_in(kept)}
        return to_item({**values, "sk": DOCUMENT + kept.document_id, **ends})

    def _listing(self, sort_key: str) -> Item:
        document = self.books.document
        return to_item(
            {"catalog_id": document.catalog_id, "sk": sort_key, "document_id": document.document_id}
        )

    def actions(self, table: str, write_id: str) -> list[Action]:
        """The document's own comes first."""
        on = {"TableName": table, **conditional(**self.books.condition)}
        if self.kept is None:
            actions: list[Action] = [{"Delete": {"Key": self.key, **on}}]
        else:
            actions = [{"Put": {"Item": self.item | to_item({WRITE_ID: write_id}), **on}}]
        before, after = listed_as(self.books.document), listed_as(self.kept)
        for sort_key in before - after:
            key = {"catalog_id": self.books.document.catalog_id, "sk": sort_key}
            actions.append({"Delete": {"TableName": table, "Key": to_item(key)}})
        for sort_key in after - before:
            actions.append({"Put": {"TableName": table, "Item": self._listing(sort_key)}})
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


def change_of(writes: Sequence[DocumentWrite]) -> Counts:
    return reduce(add, (each.change for each in writes), Counts())


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
    return keys
