"""What the catalog table tells of everyone's documents, read for people to look at."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackroom.aws.catalogs import METADATA, DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.items import scan, to_item
from stackroom.model import Document
from stackroom.uploads import rejected_shelf
from stackroom_local.clients import client
from stackroom_local.state import Instance

_REJECTED = rejected_shelf("")


@dataclass(frozen=True)
class Shelf:
    """A catalog, or a user's objects that belong to none, and what lies there."""

    user_id: str
    name: str
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Records:
    instance: Instance

    def shelves(self, user_id: str | None = None) -> list[Shelf]:
        """By user and name; of one user, or of everybody."""
        found = list(self._of_user(user_id) if user_id else self._of_everybody())
        return sorted(found, key=lambda shelf: (shelf.user_id, shelf.name))

    def _of_user(self, user_id: str) -> Iterator[Shelf]:
        for catalog in self._catalogs.of_user(user_id):
            yield Shelf(user_id, catalog.name, self._in(catalog.catalog_id))
        if strays := self._in(rejected_shelf(user_id)):
            yield Shelf(user_id, "(no catalog)", strays)

    def _of_everybody(self) -> Iterator[Shelf]:
        # A scan: the table is made for the question "of this user", and a laptop's is small.
        owners = scan(
            self._catalogs.client,
            TableName=self.instance.catalog_table,
            FilterExpression="sk = :metadata OR begins_with(catalog_id, :rejected)",
            ExpressionAttributeValues=to_item({":metadata": METADATA, ":rejected": _REJECTED}),
        )
        users = {
            item.get("user_id") or item["catalog_id"].removeprefix(_REJECTED) for item in owners
        }
        for user_id in users:
            yield from self._of_user(user_id)

    def _in(self, catalog_id: str) -> tuple[Document, ...]:
        documents = self._documents.of_catalog(catalog_id)
        return tuple(sorted(documents, key=lambda document: document.filename))

    @property
    def _catalogs(self) -> DynamoCatalogs:
        return DynamoCatalogs(
            client=client("dynamodb", self.instance.aws_endpoint), table=self.instance.catalog_table
        )

    @property
    def _documents(self) -> DynamoDocuments:
        return DynamoDocuments(
            client=client("dynamodb", self.instance.aws_endpoint),
            table=self.instance.catalog_table,
        )
