"""
Documents in DynamoDB, in the partition of their catalog (the items: document_items.py).

    get one document         GetItem
    list a catalog's         Query begins_with DOC#, consistent
    list what is open        Query of a local index, then BatchGetItem, both consistent; likewise
                             what failed and what waits over a cap

A document's item and its catalog's counters are written together or not at all. A write that
changes no counter is a plain one. Documents of one catalog share transactions, because each costs a
write of the counters.

A write may be refused because the document changed since it was read; the caller handles that. If
the catalog is gone, or its counts are too low, the catalog is read again and the write repeated.
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
    Action,
    CatalogSnapshot,
    DocumentWrite,
    IndexedState,
    assumed_snapshot,
    counting,
    document_key,
    groups,
    planned,
    to_document,
)
from stackroom.aws.dynamodb.items import WRITE_ID, from_item, get_all, query, to_item
from stackroom.aws.dynamodb.table import (
    CONDITION_FAILED,
    DynamoTable,
    outlasting_conflicts,
    reasons_of,
    transact,
)
from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import RunParallel, chunks, run_in_threads
from stackroom.errors import RecordChanged, StoreUnavailable
from stackroom.model.catalog_counts import Counts, counts_in
from stackroom.model.records import Document
from stackroom.model.repositories import DocumentPage

_TRIES = 6
_KEYS_AT_ONCE = 100  # at a time [DynamoDB API reference: BatchGetItem]


@dataclass(frozen=True, kw_only=True)
class _Refused:
    """A refusal by the document's own item, if there is one, or else by that of its catalog."""

    by_document: bool
    is_gone: bool = False


@dataclass(frozen=True, kw_only=True)
class DynamoDocuments(DynamoTable):
    """A `Documents` that refuses to overwrite or remove a version that the caller didn't read."""

    run_parallel: RunParallel = run_in_threads

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        kept = self._get(document_key(catalog_id, document_id))
        return None if kept is None else to_document(kept)

    def save(self, document: Document) -> Document:
        saved = self._alone(document, assumed_snapshot(document.catalog_id))
        if saved is None:
            raise RecordChanged(document.document_id)
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """
        Save the documents, those of one catalog in as few transactions as hold them, one after
        another.
        """
        wanted = list(documents)
        plain = [each for each in wanted if _is_plain(each)]
        counted: dict[str, list[Document]] = defaultdict(list)
        for each in wanted:
            if not _is_plain(each):
                counted[each.catalog_id].append(each)
        tasks = [partial(self._each, [each], assumed_snapshot(each.catalog_id)) for each in plain]
        tasks += [partial(self._of_one_catalog, each) for each in counted.values()]
        kept = {_key(each): each for some in self.run_parallel(tasks) for each in some}
        return [kept[key] for key in map(_key, wanted) if key in kept]

    def remove(self, document: Document) -> None:
        if self._alone(document, assumed_snapshot(document.catalog_id), removes=True) is None:
            raise RecordChanged(document.document_id)

    def open_in(
        self, catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        return islice(self._listed(catalog_id, OPEN, limit, newest=newest), limit)

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        return islice(self._listed(catalog_id, FAILED, limit), limit)

    def over_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        return islice(self._listed(catalog_id, OVER, limit), limit)

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return map(to_document, query(self.client, **_of_catalog(self.table, catalog_id)))

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """
        Return a page of at most a megabyte, which is what one Query returns [DynamoDB API
        reference].
        """
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
        self, catalog_id: str, listing: IndexedState, limit: int | None, *, newest: bool = False
    ) -> Iterator[Document]:
        """Yield the documents that a listing names, without those in another state by now."""
        how: dict[str, Any] = {} if limit is None else {"Limit": limit}
        how |= {"ScanIndexForward": False} if newest else {}
        listed = query(self.client, **listing.query(self.table, catalog_id), **how)
        for batch in chunks((each["sk"] for each in listed), of=_KEYS_AT_ONCE):
            keys = [to_item({"catalog_id": catalog_id, "sk": each}) for each in batch]
            found = get_all(self.client, self.table, keys, consistent=True)
            by_key = {each["sk"]: to_document(each) for each in found if listing.has(each)}
            yield from (by_key[each] for each in batch if each in by_key)

    def _of_one_catalog(self, documents: Sequence[Document]) -> list[Document]:
        """
        Save documents of one catalog and return the saved ones; if any in a transaction is refused,
        save each alone.
        """
        snapshot, kept = assumed_snapshot(documents[0].catalog_id), list[Document]()
        for group in groups(documents):
            writes = [planned(each, snapshot) for each in group]
            if self._write(writes, snapshot) is None:
                kept += (each.kept for each in writes if each.kept is not None)
            else:
                kept += self._each(group, snapshot)
        return kept

    def _each(self, documents: Sequence[Document], snapshot: CatalogSnapshot) -> list[Document]:
        each_kept = (self._alone(each, snapshot) for each in documents)
        return [each for each in each_kept if each is not None]

    def _alone(
        self, document: Document, snapshot: CatalogSnapshot, *, removes: bool = False
    ) -> Document | None:
        """
        Save or remove the document; return it as saved or removed, or None if it changed since it
        was read.
        """
        for _ in range(_TRIES):
            write = planned(document, snapshot, removes=removes)
            refused = self._write([write], snapshot)
            if refused is None:
                return write.kept or document
            if refused.by_document:
                return document if removes and refused.is_gone else None
            snapshot = self._read_snapshot(document.catalog_id)
        raise StoreUnavailable("TransactWriteItems", CONDITION_FAILED)

    def _write(self, writes: Sequence[DocumentWrite], snapshot: CatalogSnapshot) -> _Refused | None:
        write_id = secrets.token_hex(8)
        actions = [each.action(self.table, write_id) for each in writes]
        change = reduce(add, (each.change for each in writes), Counts())
        if snapshot.counts is not None:
            change = change.within(snapshot.counts)
        kept = [each.kept for each in writes if each.kept is not None]
        catalog = key_of(writes[0].before.catalog_id)
        if snapshot.is_there:
            actions += counting(self.table, catalog, change, kept)
        try:
            self._send(actions)
        except self.client.exceptions.ConditionalCheckFailedException as refusal:
            return _refused_by(refusal.response.get("Item"), write_id)
        except self.client.exceptions.TransactionCanceledException as refusal:
            return _refused(refusal, len(writes), write_id)
        return None

    def _send(self, actions: list[Action]) -> None:
        """Send the write; one of a single item costs half of what it would in a transaction."""
        if len(actions) > 1:
            transact(self.client, *actions)
            return
        put, delete = actions[0].get("Put"), actions[0].get("Delete")
        with store_errors():
            if put is not None:
                outlasting_conflicts(lambda: self.client.put_item(**put))
            if delete is not None:
                outlasting_conflicts(lambda: self.client.delete_item(**delete))

    def _read_snapshot(self, catalog_id: str) -> CatalogSnapshot:
        kept = self._get(key_of(catalog_id))
        if kept is None:
            return CatalogSnapshot(is_there=False)
        return CatalogSnapshot(counts=counts_in(to_catalog(kept)))


def _is_plain(document: Document) -> bool:
    """Return True if saving the document writes one item, as far as the caller's copy tells."""
    write = planned(document, assumed_snapshot(document.catalog_id))
    return write.change == Counts()


def _key(document: Document) -> tuple[str, str]:
    return (document.catalog_id, document.document_id)


def _of_catalog(table: str, catalog_id: str) -> dict[str, Any]:
    """Return the Query for a catalog's documents."""
    return {
        "TableName": table,
        "KeyConditionExpression": "catalog_id = :catalog AND begins_with(sk, :document)",
        "ExpressionAttributeValues": to_item({":catalog": catalog_id, ":document": DOCUMENT}),
        "ConsistentRead": True,
    }


def _refused(refusal: ClientError, documents: int, write_id: str) -> _Refused | None:
    """Return which write was refused: the documents' own come first, then those of counters."""
    for reason in refusal.response.get("CancellationReasons", [])[:documents]:
        if reason.get("Code") == CONDITION_FAILED:
            return _refused_by(reason.get("Item"), write_id)
    if CONDITION_FAILED in reasons_of(refusal)[documents:]:
        return _Refused(by_document=False)
    raise refusal


# Any: boto3 types an answer's item otherwise than a request's.
def _refused_by(item: Any, write_id: str) -> _Refused | None:
    """
    Return the refusal, or None if the write met its own result: then only its answer was lost.
    """
    is_own = item is not None and item.get(WRITE_ID) == to_item({WRITE_ID: write_id})[WRITE_ID]
    return None if is_own else _Refused(by_document=True, is_gone=item is None)
