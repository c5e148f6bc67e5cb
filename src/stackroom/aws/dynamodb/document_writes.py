"""
A document's item, its open item and its catalog's counters, written together or not at all.

A write that changes none of the latter is a plain one. Documents of one catalog share transactions,
for each costs a write of the counters. What refuses a write is told apart: the document changed
since it was read; its books are not as the caller has them (the record was built anew, or is from
before they were kept), or its catalog is being deleted, or is gone, or counts less than there is.
Only the first is the caller's: the others are read, and the write is made as they have it.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.dynamodb.catalog_records import key_of, to_catalog
from stackroom.aws.dynamodb.document_items import (
    MOST_ACTIONS,
    Books,
    DocumentWrite,
    change_of,
    counting,
)
from stackroom.aws.dynamodb.items import WRITE_ID, Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.dynamodb.writes import (
    CONDITION_FAILED,
    outlasting_conflicts,
    reasons_of,
    transact,
)
from stackroom.aws.error_mapping import store_errors
from stackroom.documents.catalog_counts import Counts, booked, counts_in, uncounted
from stackroom.documents.keys import unplaced_partition
from stackroom.documents.model import CatalogStatus, Document
from stackroom.errors import StoreUnavailable

# How documents are to be written: each by what it was and is, and those of a catalog in groups.

# Of one TransactWriteItems [DynamoDB API reference]: 100 actions, one of which counts, and 4 MB,
# of which JSON says roughly how much there is.
MOST_DOCUMENTS = 99 // MOST_ACTIONS
_MOST_BYTES = 3_000_000
_UNPLACED = unplaced_partition("")


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


_TRIES = 6


@dataclass(frozen=True, kw_only=True)
class _Refused:
    """By the document's own item, as it stands; or else by that of its catalog."""

    by_document: bool
    item: Item | None = None


class DocumentWrites(DynamoTable):
    def keep(self, document: Document) -> Document | None:
        """As it is kept; None if it changed since it was read."""
        return self._alone(document, shelf_of(document.catalog_id), removes=False)

    def remove(self, document: Document) -> bool:
        """Also what is gone; False if it changed since it was read."""
        return self._alone(document, shelf_of(document.catalog_id), removes=True) is not None

    def is_plain(self, document: Document) -> bool:
        """Whether keeping it writes one item, as far as the caller's copy tells."""
        write = planned(document, books_of(document), shelf_of(document.catalog_id))
        return write.change == Counts()

    def keep_together(self, documents: Sequence[Document]) -> Iterator[Document]:
        """Those of one catalog that are kept, in as few transactions as hold them."""
        shelf = shelf_of(documents[0].catalog_id)
        for group in groups(documents):
            shelf, kept = self._together(group, shelf)
            yield from kept or self._each(group, shelf)

    def _each(self, documents: Sequence[Document], shelf: Shelf) -> Iterator[Document]:
        each_kept = (self._alone(each, shelf, removes=False) for each in documents)
        return (each for each in each_kept if each is not None)

    def _together(
        self, documents: Sequence[Document], shelf: Shelf
    ) -> tuple[Shelf, list[Document]]:
        """All that were kept, or none if any of them is to be seen to alone."""
        for _ in range(_TRIES):
            writes = [planned(each, books_of(each), shelf) for each in documents]
            refused = self._write(writes, shelf)
            if refused is None:
                return shelf, [each.kept for each in writes if each.kept is not None]
            if refused.by_document:
                break
            shelf = self._look(documents[0].catalog_id)
        return shelf, []

    def _alone(self, document: Document, shelf: Shelf, *, removes: bool) -> Document | None:
        books = books_of(document)
        for _ in range(_TRIES):
            write = planned(document, books, shelf, removes=removes)
            refused = self._write([write], shelf)
            if refused is None:
                return write.kept or document
            if not refused.by_document:
                shelf = self._look(document.catalog_id)
                continue
            if refused.item is None:
                return document if removes else None
            books = Books.of(refused.item)
            if books.document.version != document.version:
                return None
        raise StoreUnavailable("TransactWriteItems", CONDITION_FAILED)

    def _write(self, writes: Sequence[DocumentWrite], shelf: Shelf) -> _Refused | None:
        write_id = secrets.token_hex(8)
        parts = [each.actions(self.table, write_id) for each in writes]
        actions = [action for part in parts for action in part]
        change = change_of(writes)
        if shelf.counts is not None:
            change = change.within(shelf.counts)
        kept = [each.kept for each in writes if each.kept is not None]
        catalog = key_of(writes[0].books.document.catalog_id)
        if shelf.is_there:
            may_index = not shelf.is_deleting
            actions += counting(self.table, catalog, change, kept, may_index=may_index)
        try:
            self._send(actions)
        except self.client.exceptions.ConditionalCheckFailedException as refusal:
            return _refused_by(refusal.response.get("Item"), write_id)
        except self.client.exceptions.TransactionCanceledException as refusal:
            return _refused(refusal, [len(part) for part in parts], write_id)
        return None

    def _send(self, actions: list[dict[str, Any]]) -> None:
        """A write of one item costs half of what it would in a transaction."""
        if len(actions) > 1:
            transact(self.client, *actions)
            return
        put, delete = actions[0].get("Put"), actions[0].get("Delete")
        with store_errors():
            if put is not None:
                outlasting_conflicts(lambda: self.client.put_item(**put))
            if delete is not None:
                outlasting_conflicts(lambda: self.client.delete_item(**delete))

    def _look(self, catalog_id: str) -> Shelf:
        kept = self._get(key_of(catalog_id))
        if kept is None:
            return Shelf(is_there=False)
        catalog = to_catalog(kept)
        return Shelf(
            is_deleting=catalog.status is CatalogStatus.DELETING, counts=counts_in(catalog)
        )


def _refused(refusal: ClientError, parts: Sequence[int], write_id: str) -> _Refused | None:
    """Each part begins with a document's own action; what follows the last part counts."""
    reasons = refusal.response.get("CancellationReasons", [])
    start = 0
    for length in parts:
        if reasons[start].get("Code") == CONDITION_FAILED:
            return _refused_by(reasons[start].get("Item"), write_id)
        start += length
    if CONDITION_FAILED in reasons_of(refusal)[start:]:
        return _Refused(by_document=False)
    raise refusal


# Any: boto3 types an answer's item otherwise than a request's.
def _refused_by(item: Any, write_id: str) -> _Refused | None:
    """Not if what met the write is what it has made: then only its answer was lost."""
    is_own = item is not None and item.get(WRITE_ID) == to_item({WRITE_ID: write_id})[WRITE_ID]
    return None if is_own else _Refused(by_document=True, item=item)
