"""Everybody's catalogs and documents, read from the tables for people to look at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stackroom.admission.schedule import Limits
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.catalogs import METADATA, DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.items import scan, to_item
from stackroom.aws.leases import DynamoLeases
from stackroom.ingestion.estimates import DocumentEstimate, Estimates, QueuePosition
from stackroom.keys import unplaced_partition
from stackroom.model import Catalog, Document
from stackroom_local.clients import client
from stackroom_local.state import Instance

_REJECTED = unplaced_partition("")


@dataclass(frozen=True)
class CatalogListing:
    """
    A catalog with its documents, or those of a user's objects that belong to no catalog.

    `estimates` are by document id, of what has yet to settle.
    """

    user_id: str
    name: str
    documents: tuple[Document, ...]
    estimates: Mapping[str, DocumentEstimate] = field(default_factory=dict)
    queue_position: QueuePosition | None = None


@dataclass(frozen=True)
class Records:
    instance: Instance

    def listings(self, user_id: str | None = None) -> list[CatalogListing]:
        """By user and name; of one user, or of everybody."""
        users = [user_id] if user_id else self.users()
        found = [listing for each in users for listing in self._of_user(each)]
        return sorted(found, key=lambda listing: (listing.user_id, listing.name))

    def users(self) -> list[str]:
        """Whoever has a catalog, or an object that belongs to none."""
        # A scan: the table's keys serve questions about one user, and a laptop's table is small.
        owners = scan(
            self._catalogs.client,
            TableName=self.instance.catalog_table,
            FilterExpression="sk = :metadata OR begins_with(catalog_id, :rejected)",
            ExpressionAttributeValues=to_item({":metadata": METADATA, ":rejected": _REJECTED}),
        )
        return sorted(
            {item.get("user_id") or item["catalog_id"].removeprefix(_REJECTED) for item in owners}
        )

    def catalogs(self) -> list[Catalog]:
        """Everybody's."""
        return [each for user_id in self.users() for each in self._catalogs.of_user(user_id)]

    def _of_user(self, user_id: str) -> Iterator[CatalogListing]:
        for catalog in self._catalogs.of_user(user_id):
            seen = self._estimates.of(catalog)
            yield CatalogListing(
                user_id,
                catalog.name,
                tuple(each.document for each in seen.documents),
                estimates={
                    each.document.document_id: each
                    for each in seen.documents
                    if each.eta_seconds is not None
                },
                queue_position=seen.queue_position,
            )
        unplaced = self._documents.of_catalog(unplaced_partition(user_id))
        if found := tuple(sorted(unplaced, key=lambda document: document.filename)):
            yield CatalogListing(user_id, "(no catalog)", found)

    @property
    def _catalogs(self) -> DynamoCatalogs:
        return DynamoCatalogs(client=self._dynamodb, table=self.instance.catalog_table)

    @property
    def _documents(self) -> DynamoDocuments:
        return DynamoDocuments(client=self._dynamodb, table=self.instance.catalog_table)

    @property
    def _estimates(self) -> Estimates:
        control = self.instance.control_table
        return Estimates(
            documents=self._documents,
            leases=DynamoLeases(client=self._dynamodb, table=control),
            book=DynamoAdmissionBook(client=self._dynamodb, table=control),
            limits=Limits(),
        )

    @property
    def _dynamodb(self) -> object:
        return client("dynamodb", self.instance.aws_endpoint)
