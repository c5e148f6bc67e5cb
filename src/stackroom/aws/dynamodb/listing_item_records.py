"""
Open items and failed items in DynamoDB, looked at beside the documents they are of.

What they are, and how they are kept: aws/dynamodb/document_items.py.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from stackroom.aws.dynamodb.document_items import FAILED, OPEN, document_key, listed_as, to_document
from stackroom.aws.dynamodb.items import get_all, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.dynamodb.writes import CONDITION_FAILED, conditional, reasons_of, transact
from stackroom.documents.model import Document
from stackroom.documents.repositories import ListingItem
from stackroom.errors import RecordChanged

_LAST = "~"  # comes after all that a sort key goes on with
_LOOKED_UP = 1000  # items whose documents are held at a time


class DynamoListingItems(DynamoTable):
    def stray(self, catalog_id: str) -> Iterator[ListingItem]:
        listed = self._listed(catalog_id)
        while some := list(islice(listed, _LOOKED_UP)):
            documents = self._documents(some)
            for each in some:
                if each.name not in listed_as(documents.get(each.document_id)):
                    yield each

    def is_gone(self, item: ListingItem) -> bool:
        return self._get(to_item({"catalog_id": item.catalog_id, "sk": item.name})) is None

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
        """In one Query: between failed and open items lies nothing but the catalog's own record."""
        for each in self._query(
            "catalog_id = :catalog AND sk BETWEEN :failed AND :open",
            {":catalog": catalog_id, ":failed": FAILED, ":open": OPEN + _LAST},
        ):
            if each["sk"].startswith((FAILED, OPEN)):
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
