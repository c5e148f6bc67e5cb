"""
Documents in DynamoDB: one item each, in the partition of their catalog.

    item                   catalog_id            sk
    document               <catalog_id>          DOC#<document_id>
    object of no catalog   REJECTED#<user_id>    DOC#<document_id>

    get one document       GetItem
    list a catalog's       Query begins_with DOC#, consistent
"""

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws import writes
from stackroom.aws.items import from_item, query, to_item
from stackroom.aws.translation import store_errors
from stackroom.errors import RecordChanged
from stackroom.model import Document
from stackroom.ports.documents import DocumentPage

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_DOCUMENT = "DOC#"  # its id follows
# boto3's connection pool has ten connections; more threads would only wait for one.
_WRITERS = 10


@dataclass(frozen=True, kw_only=True)
class DynamoDocuments:
    """Refuses to overwrite or remove a version that the caller didn't read."""

    client: "DynamoDBClient"
    table: str

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        # Consistent, because a decision to write follows.
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(catalog_id, document_id), ConsistentRead=True
            )
        return to_document(from_item(answer["Item"])) if "Item" in answer else None

    def save(self, document: Document) -> Document:
        version = document.version + 1 if document.version else _first_version(document)
        saved = document.model_copy(update={"version": version})
        if not writes.put(self.client, self.table, _to_item(saved), **_if_unchanged(document)):
            raise RecordChanged(document.document_id)
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        with ThreadPoolExecutor(_WRITERS) as writers:
            return [saved for saved in writers.map(self._save_or_leave, documents) if saved]

    def remove(self, document: Document) -> None:
        key = _key(document.catalog_id, document.document_id)
        if not writes.delete(self.client, self.table, key, **_if_unchanged(document)):
            raise RecordChanged(document.document_id)

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return map(to_document, query(self.client, **_of_catalog(self.table, catalog_id)))

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """A megabyte at most, which is what one Query answers [DynamoDB API reference]."""
        start: dict[str, Any] = {"ExclusiveStartKey": _key(catalog_id, after)} if after else {}
        with store_errors():
            answer = self.client.query(**_of_catalog(self.table, catalog_id), Limit=limit, **start)
        last = answer.get("LastEvaluatedKey")
        found = map(from_item, answer["Items"])
        return DocumentPage(
            documents=tuple(map(to_document, found)),
            next=from_item(last)["sk"].removeprefix(_DOCUMENT) if last else None,
        )

    def _save_or_leave(self, document: Document) -> Document | None:
        try:
            return self.save(document)
        except RecordChanged:
            return None


def _first_version(document: Document) -> int:
    """
    Microseconds of its making, never seen before.

    Counted from 1, a record that was removed and made anew would come by the same versions, and
    whoever read the old one could overwrite the new.
    """
    return int(document.updated_at.timestamp() * 1_000_000)


def _if_unchanged(document: Document) -> dict[str, Any]:
    if document.version == 0:
        return {"condition": "attribute_not_exists(catalog_id)", "values": {}}
    return {"condition": "#version = :version", "values": {":version": document.version}}


def _of_catalog(table: str, catalog_id: str) -> dict[str, Any]:
    """The Query that answers a catalog's documents."""
    return {
        "TableName": table,
        "KeyConditionExpression": "catalog_id = :catalog AND begins_with(sk, :document)",
        "ExpressionAttributeValues": to_item({":catalog": catalog_id, ":document": _DOCUMENT}),
        "ConsistentRead": True,
    }


def _key(catalog_id: str, document_id: str) -> dict[str, Any]:
    return to_item({"catalog_id": catalog_id, "sk": _DOCUMENT + document_id})


def _to_item(document: Document) -> dict[str, Any]:
    """One that may never be uploaded removes itself, if nothing has come of it by then (TTL)."""
    until = document.upload_until
    ends = {} if until is None else {"expires_at": math.ceil(until.timestamp())}
    return to_item(
        {**document.model_dump(mode="json"), "sk": _DOCUMENT + document.document_id, **ends}
    )


def to_document(values: dict[str, Any]) -> Document:
    of_the_item = ("sk", "expires_at")
    return Document.model_validate(
        {name: each for name, each in values.items() if name not in of_the_item}
    )
