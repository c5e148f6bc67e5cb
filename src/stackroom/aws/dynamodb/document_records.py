"""
Documents in DynamoDB, in the partition of their catalog (the items: document_items.py).

    get one document       GetItem
    list a catalog's       Query begins_with DOC#, consistent
    list what is open      Query begins_with OPEN#, then BatchGetItem, both consistent
    list what failed       Query begins_with FAILED#, likewise; what is over a cap, OVER#

A document's item, its open item and its catalog's counters are written together or not at all
(aws/dynamodb/document_items.py). A write that changes none of the latter is a plain one. Documents
of one catalog share transactions, for each costs a write of the counters. What refuses a write is
told apart: the document changed since it was read; its books are not as the caller has them (the
record was built anew, or is from before they were kept), or its catalog is being deleted, or is
gone, or counts less than there is. Only the first is the caller's: the others are read, and the
write is made as they have it.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from operator import add
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.dynamodb.catalog_records import key_of, to_catalog
from stackroom.aws.dynamodb.document_items import (
    DOCUMENT,
    FAILED,
    OPEN,
    OVER,
    Books,
    DocumentWrite,
    Shelf,
    books_of,
    counting,
    document_key,
    groups,
    listed_as,
    planned,
    shelf_of,
    to_document,
)
from stackroom.aws.dynamodb.items import WRITE_ID, Item, from_item, get_all, query, to_item
from stackroom.aws.dynamodb.table import (
    CONDITION_FAILED,
    DynamoTable,
    conditional,
    outlasting_conflicts,
    reasons_of,
    transact,
)
from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import Beside, chunks, in_threads
from stackroom.documents.catalog_counts import Counts, counts_in
from stackroom.documents.model import CatalogStatus, Document, DocumentStatus
from stackroom.documents.repositories import DocumentPage, ListingItem
from stackroom.errors import RecordChanged, StoreUnavailable

_TRIES = 6
_LAST = "~"  # comes after all that a sort key goes on with
_HELD = 1000  # documents at a time, of listing items
_LOOKED_UP = 100  # at a time [DynamoDB API reference: BatchGetItem]


@dataclass(frozen=True, kw_only=True)
class _Refused:
    """By the document's own item, as it stands; or else by that of its catalog."""

    by_document: bool
    item: Item | None = None


@dataclass(frozen=True, kw_only=True)
class DynamoDocuments(DynamoTable):
    """Refuses to overwrite or remove a version that the caller didn't read."""

    beside: Beside = in_threads

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        kept = self._get(document_key(catalog_id, document_id))
        return None if kept is None else to_document(kept)

    def save(self, document: Document) -> Document:
        saved = self._alone(document, shelf_of(document.catalog_id))
        if saved is None:
            raise RecordChanged(document.document_id)
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Those of one catalog in as few transactions as hold them, one after another."""
        wanted = list(documents)
        plain = [each for each in wanted if _is_plain(each)]
        counted: dict[str, list[Document]] = defaultdict(list)
        for each in wanted:
            if not _is_plain(each):
                counted[each.catalog_id].append(each)
        tasks = [partial(self._each, [each], shelf_of(each.catalog_id)) for each in plain]
        tasks += [partial(self._of_one_catalog, each) for each in counted.values()]
        kept = {_key(each): each for some in self.beside(tasks) for each in some}
        return [kept[key] for key in map(_key, wanted) if key in kept]

    def remove(self, document: Document) -> None:
        if self._alone(document, shelf_of(document.catalog_id), removes=True) is None:
            raise RecordChanged(document.document_id)

    def open_in(
        self, catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        found = self._listed(catalog_id, OPEN, limit, newest=newest)
        return islice((each for each in found if each.is_open), limit)

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        found = self._listed(catalog_id, FAILED, limit)
        return islice((each for each in found if each.status is DocumentStatus.FAILED), limit)

    def over_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        found = self._listed(catalog_id, OVER, limit)
        return islice((each for each in found if each.over_cap is not None), limit)

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return map(to_document, query(self.client, **_of_catalog(self.table, catalog_id)))

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """A megabyte at most, which is what one Query answers [DynamoDB API reference]."""
        start: dict[str, Any] = (
            {"ExclusiveStartKey": document_key(catalog_id, after)} if after else {}
        )
        with store_errors():
            answer = self.client.query(**_of_catalog(self.table, catalog_id), Limit=limit, **start)
        last = answer.get("LastEvaluatedKey")
        found = map(from_item, answer["Items"])
        return DocumentPage(
            documents=tuple(map(to_document, found)),
            next=from_item(last)["sk"].removeprefix(DOCUMENT) if last else None,
        )

    def _listed(
        self, catalog_id: str, items: str, limit: int | None, *, newest: bool = False
    ) -> Iterator[Document]:
        """As they are now, in the order of what lists them; it may not any more."""
        how: dict[str, Any] = {} if limit is None else {"Limit": limit}
        how |= {"ScanIndexForward": False} if newest else {}
        listed = query(self.client, **_of_catalog(self.table, catalog_id, items), **how)
        ids = (each["document_id"] for each in listed)
        for batch in chunks(ids, of=_LOOKED_UP):
            keys = [document_key(catalog_id, each) for each in batch]
            found = map(to_document, get_all(self.client, self.table, keys, consistent=True))
            by_id = {each.document_id: each for each in found}
            yield from (by_id[each] for each in batch if each in by_id)

    def _of_one_catalog(self, documents: Sequence[Document]) -> list[Document]:
        """Those that are kept, in as few transactions as hold them."""
        shelf, kept = shelf_of(documents[0].catalog_id), list[Document]()
        for group in groups(documents):
            shelf, together = self._together(group, shelf)
            kept += together or self._each(group, shelf)
        return kept

    def _each(self, documents: Sequence[Document], shelf: Shelf) -> list[Document]:
        each_kept = (self._alone(each, shelf) for each in documents)
        return [each for each in each_kept if each is not None]

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

    def _alone(self, document: Document, shelf: Shelf, *, removes: bool = False) -> Document | None:
        """As it is kept, or what is gone; None if it changed since it was read."""
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
        change = reduce(add, (each.change for each in writes), Counts())
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


def _is_plain(document: Document) -> bool:
    """Whether keeping it writes one item, as far as the caller's copy tells."""
    write = planned(document, books_of(document), shelf_of(document.catalog_id))
    return write.change == Counts()


def _key(document: Document) -> tuple[str, str]:
    return (document.catalog_id, document.document_id)


def _of_catalog(table: str, catalog_id: str, items: str = DOCUMENT) -> dict[str, Any]:
    """The Query that answers a catalog's documents, or its open items."""
    return {
        "TableName": table,
        "KeyConditionExpression": "catalog_id = :catalog AND begins_with(sk, :items)",
        "ExpressionAttributeValues": to_item({":catalog": catalog_id, ":items": items}),
        "ConsistentRead": True,
    }


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


class DynamoListingItems(DynamoTable):
    """Open items and failed items, looked at beside the documents they are of."""

    def stray(self, catalog_id: str) -> Iterator[ListingItem]:
        listed = self._listed(catalog_id)
        while some := list(islice(listed, _HELD)):
            documents = self._documents(some)
            for each in some:
                if each.name not in listed_as(documents.get(each.document_id)):
                    yield each

    def is_gone(self, item: ListingItem) -> bool:
        key = to_item({"catalog_id": item.catalog_id, "sk": item.name})
        return not list(get_all(self.client, self.table, [key], consistent=True))

    def drop(self, item: ListingItem) -> None:
        document = self._documents([item]).get(item.document_id)
        if item.name in listed_as(document):
            raise RecordChanged(item.document_id)
        key = to_item({"catalog_id": item.catalog_id, "sk": item.name})
        self._write(
            self._unchanged(item.catalog_id, item.document_id, document),
            {"Delete": {"TableName": self.table, "Key": key}},
            document_id=item.document_id,
        )

    def unlisted(self, documents: Iterable[Document]) -> list[Document]:
        wanted = [each for each in documents if listed_as(each)]
        keys = [
            to_item({"catalog_id": each.catalog_id, "sk": name})
            for each in wanted
            for name in listed_as(each)
        ]
        there = {each["sk"] for each in get_all(self.client, self.table, keys, consistent=True)}
        return [each for each in wanted if not listed_as(each) <= there]

    def list_anew(self, document: Document) -> None:
        names = {"catalog_id": document.catalog_id, "document_id": document.document_id}
        puts = [
            {"Put": {"TableName": self.table, "Item": to_item({**names, "sk": name})}}
            for name in sorted(listed_as(document))
        ]
        unchanged = self._unchanged(document.catalog_id, document.document_id, document)
        self._write(unchanged, *puts, document_id=document.document_id)

    def _listed(self, catalog_id: str) -> Iterator[ListingItem]:
        """In one Query: between these items lies nothing but the catalog's own record."""
        for each in self._query(
            "catalog_id = :catalog AND sk BETWEEN :failed AND :over",
            {":catalog": catalog_id, ":failed": FAILED, ":over": OVER + _LAST},
        ):
            if each["sk"].startswith((FAILED, OPEN, OVER)):
                yield ListingItem(
                    catalog_id=catalog_id, document_id=each["document_id"], name=each["sk"]
                )

    def _documents(self, items: Iterable[ListingItem]) -> dict[str, Document]:
        keys = {each.document_id: document_key(each.catalog_id, each.document_id) for each in items}
        found = get_all(self.client, self.table, keys.values(), consistent=True)
        return {each.document_id: each for each in map(to_document, found)}

    def _unchanged(
        self, catalog_id: str, document_id: str, document: Document | None
    ) -> dict[str, Any]:
        condition, values = "attribute_not_exists(catalog_id)", dict[str, Any]()
        if document is not None:
            condition, values = "#version = :version", {":version": document.version}
        on = conditional(condition, values)
        key = document_key(catalog_id, document_id)
        return {"ConditionCheck": {"TableName": self.table, "Key": key, **on}}

    def _write(self, *actions: dict[str, Any], document_id: str) -> None:
        try:
            transact(self.client, *actions)
        except self.client.exceptions.TransactionCanceledException as refusal:
            if CONDITION_FAILED not in reasons_of(refusal):
                raise
            raise RecordChanged(document_id) from refusal
