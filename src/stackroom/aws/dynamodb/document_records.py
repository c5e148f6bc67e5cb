"""
Documents in DynamoDB, in the partition of their catalog.

    item                   catalog_id            sk
    document               <catalog_id>          DOC#<document_id>
    object of no catalog   REJECTED#<user_id>    DOC#<document_id>
    open item              <catalog_id>          OPEN#<opened_at>#<document_id>
    failed item            <catalog_id>          FAILED#<document_id>

    get one document       GetItem
    list a catalog's       Query begins_with DOC#, consistent
    list what is open      Query begins_with OPEN#, then BatchGetItem, both consistent
    list what failed       Query begins_with FAILED#, likewise

How they are written, with what their catalog counts of them: aws/dynamodb/document_writes.py.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

from stackroom.aws.dynamodb.document_items import DOCUMENT, FAILED, OPEN, document_key, to_document
from stackroom.aws.dynamodb.document_writes import DocumentWrites
from stackroom.aws.dynamodb.items import from_item, get_all, query, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import Beside, in_threads
from stackroom.documents.model import Document, DocumentStatus
from stackroom.documents.repositories import DocumentPage
from stackroom.errors import RecordChanged

_LOOKED_UP = 100  # at a time [DynamoDB API reference: BatchGetItem]


@dataclass(frozen=True, kw_only=True)
class DynamoDocuments(DynamoTable):
    """Refuses to overwrite or remove a version that the caller didn't read."""

    beside: Beside = in_threads

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        kept = self._get(document_key(catalog_id, document_id))
        return None if kept is None else to_document(kept)

    def save(self, document: Document) -> Document:
        saved = self._writes.keep(document)
        if saved is None:
            raise RecordChanged(document.document_id)
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Those of one catalog in as few transactions as hold them, one after another."""
        wanted = list(documents)
        plain = [each for each in wanted if self._writes.is_plain(each)]
        counted: dict[str, list[Document]] = defaultdict(list)
        for each in wanted:
            if not self._writes.is_plain(each):
                counted[each.catalog_id].append(each)
        tasks = [partial(self._keep_plain, each) for each in plain]
        tasks += [partial(self._keep_counted, each) for each in counted.values()]
        kept = dict(pair for pairs in self.beside(tasks) for pair in pairs)
        return [kept[key] for key in map(_key, wanted) if key in kept]

    def remove(self, document: Document) -> None:
        if not self._writes.remove(document):
            raise RecordChanged(document.document_id)

    def open_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        found = self._listed(catalog_id, OPEN, limit)
        return islice((each for each in found if each.is_open), limit)

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        found = self._listed(catalog_id, FAILED, limit)
        return islice((each for each in found if each.status is DocumentStatus.FAILED), limit)

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

    def _listed(self, catalog_id: str, items: str, limit: int | None) -> Iterator[Document]:
        """As they are now, in the order of what lists them; it may not any more."""
        size = {} if limit is None else {"Limit": limit}
        listed = query(self.client, **_of_catalog(self.table, catalog_id, items), **size)
        ids = (each["document_id"] for each in listed)
        while batch := list(islice(ids, _LOOKED_UP)):
            keys = [document_key(catalog_id, each) for each in batch]
            found = map(to_document, get_all(self.client, self.table, keys, consistent=True))
            by_id = {each.document_id: each for each in found}
            yield from (by_id[each] for each in batch if each in by_id)

    @cached_property
    def _writes(self) -> DocumentWrites:
        return DocumentWrites(client=self.client, table=self.table)

    def _keep_plain(self, document: Document) -> list[tuple[tuple[str, str], Document]]:
        kept = self._writes.keep(document)
        return [] if kept is None else [(_key(document), kept)]

    def _keep_counted(self, documents: list[Document]) -> list[tuple[tuple[str, str], Document]]:
        return [(_key(each), each) for each in self._writes.keep_together(documents)]


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
