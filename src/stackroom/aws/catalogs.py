"""
Catalogs in DynamoDB, beside their documents.

    item        catalog_id        sk                user_id-index
    catalog     <catalog_id>      METADATA          user_id
    document    <catalog_id>      DOC#<id>          (aws/documents.py)

    control table
    a user's catalogs     pk USER#<user_id>, sk CATALOGS: attribute `catalogs` counts them

    get a catalog              GetItem METADATA
    list a user's catalogs     Query user_id-index, then BatchGetItem
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from stackroom.aws.items import from_item, query, to_item
from stackroom.aws.transactions import CONDITION_FAILED, reasons_of, refuse, transact
from stackroom.aws.translation import store_errors
from stackroom.errors import CatalogLimitReached, RecordChanged
from stackroom.model import Catalog, CatalogStatus, DataSource

MAX_CATALOGS = 100  # of one user (contract)
METADATA = "METADATA"
_USER_INDEX = "user_id-index"
_DELETING = str(CatalogStatus.DELETING)


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogs:
    client: Any
    table: str

    def get(self, catalog_id: str) -> Catalog | None:
        # Consistent, because the event after the one that opened it must find it.
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(catalog_id), ConsistentRead=True
            )
        return to_catalog(from_item(answer["Item"])) if "Item" in answer else None

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        found = query(
            self.client,
            TableName=self.table,
            IndexName=_USER_INDEX,
            KeyConditionExpression="user_id = :user",
            ExpressionAttributeValues=to_item({":user": user_id}),
        )
        # BatchGetItem takes 100 keys [DynamoDB API reference]
        while keys := [_key(item["catalog_id"]) for item in islice(found, 100)]:
            yield from self._batch(keys)

    def place(self, catalog_id: str, source: DataSource) -> None:
        values = {
            ":kb": source.knowledge_base_id,
            ":source": source.data_source_id,
            ":type": str(source.type),
        }
        placed = self._update(
            catalog_id,
            "SET knowledge_base_id = :kb, data_source_id = :source, data_source_type = :type",
            values,
            condition="(attribute_not_exists(data_source_id) OR data_source_id = :source)",
        )
        if not placed:
            assert self.get(catalog_id) is None, "only the catalog's one live run places it"
            raise RecordChanged(catalog_id)

    def clear_data_source(self, catalog_id: str) -> None:
        displaced = self._update(
            catalog_id,
            "REMOVE knowledge_base_id, data_source_id, data_source_type",
            {":deleting": _DELETING},
            condition="#status = :deleting",
        )
        if not displaced:
            raise RecordChanged(catalog_id)

    def update_totals(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        totals = "document_count = :count, total_bytes = :size, updated_at = :at"
        values = {
            ":count": count,
            ":size": size,
            ":at": at.isoformat(),
            ":deleting": _DELETING,
        }
        written = self._update(
            catalog_id,
            f"SET {totals}, #status = :status",
            {**values, ":status": str(status)},
            condition="#status <> :deleting",
        ) or self._update(catalog_id, f"SET {totals}", values, condition="#status = :deleting")
        if not written:
            raise RecordChanged(catalog_id)

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        values = {":deleting": _DELETING, ":at": at.isoformat()}
        if not self._update(catalog_id, "SET #status = :deleting, updated_at = :at", values):
            raise RecordChanged(catalog_id)

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        values = {
            ":deleting": _DELETING,
            ":ready": str(CatalogStatus.READY),
            ":at": at.isoformat(),
        }
        unmarked = self._update(
            catalog_id,
            "SET #status = :ready, updated_at = :at",
            values,
            condition="#status = :deleting",
        )
        if not unmarked and self.get(catalog_id) is None:
            raise RecordChanged(catalog_id)

    def _update(
        self, catalog_id: str, expression: str, values: dict[str, Any], *, condition: str = ""
    ) -> bool:
        """False if there is no such catalog, or it doesn't meet the condition."""
        conditions = " AND ".join(filter(None, ("attribute_exists(catalog_id)", condition)))
        named = "#status" in expression + conditions
        try:
            with store_errors():
                self.client.update_item(
                    TableName=self.table,
                    Key=_key(catalog_id),
                    UpdateExpression=expression,
                    ConditionExpression=conditions,
                    ExpressionAttributeValues=to_item(values),
                    **({"ExpressionAttributeNames": {"#status": "status"}} if named else {}),
                )
        except self.client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _batch(self, keys: list[dict[str, Any]]) -> Iterator[Catalog]:
        wanted = {self.table: {"Keys": keys}}
        while wanted:
            with store_errors():
                answer = self.client.batch_get_item(RequestItems=wanted)
            for item in answer["Responses"].get(self.table, []):
                yield to_catalog(from_item(item))
            wanted = answer.get("UnprocessedKeys", {})


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogRegister(DynamoCatalogs):
    """Opens and closes catalogs, counting each user's in the control table."""

    control_table: str

    def open(self, catalog: Catalog) -> Catalog:
        put = {
            "TableName": self.table,
            "Item": _to_item(catalog),
            "ConditionExpression": "attribute_not_exists(catalog_id)",
        }
        count = self._count(
            catalog,
            1,
            ConditionExpression="attribute_not_exists(catalogs) OR catalogs < :limit",
            values={":limit": MAX_CATALOGS},
        )
        try:
            transact(self.client, {"Put": put}, {"Update": count})
        except self.client.exceptions.TransactionCanceledException as error:
            there = self.get(catalog.catalog_id)
            if there is not None:
                return there  # opened by another upload at the same moment
            if reasons_of(error)[-1:] == [CONDITION_FAILED]:
                raise CatalogLimitReached(MAX_CATALOGS) from error
            refuse(error, catalog.catalog_id)
        return catalog

    def close(self, catalog: Catalog) -> None:
        """
        Safe to repeat: one that is gone is closed, and was counted down with it.

        One that was opened anew, under the same id, is another catalog by its `created_at`.
        """
        delete = {
            "TableName": self.table,
            "Key": _key(catalog.catalog_id),
            "ConditionExpression": "#status = :deleting AND created_at = :created",
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": to_item(
                {":deleting": _DELETING, ":created": catalog.model_dump(mode="json")["created_at"]}
            ),
        }
        try:
            transact(self.client, {"Delete": delete}, {"Update": self._count(catalog, -1)})
        except self.client.exceptions.TransactionCanceledException as error:
            if self.get(catalog.catalog_id) is None:
                return
            if CONDITION_FAILED in reasons_of(error):
                raise RecordChanged(catalog.catalog_id) from error
            refuse(error, catalog.catalog_id)

    def _count(
        self, catalog: Catalog, by: int, *, values: dict[str, Any] | None = None, **condition: str
    ) -> dict[str, Any]:
        return {
            "TableName": self.control_table,
            "Key": to_item({"pk": f"USER#{catalog.user_id}", "sk": "CATALOGS"}),
            "UpdateExpression": "ADD catalogs :by",
            "ExpressionAttributeValues": to_item({":by": by, **(values or {})}),
            **condition,
        }


def _key(catalog_id: str) -> dict[str, Any]:
    return to_item({"catalog_id": catalog_id, "sk": METADATA})


def _to_item(catalog: Catalog) -> dict[str, Any]:
    return to_item({**catalog.model_dump(mode="json"), "sk": METADATA})


def to_catalog(values: dict[str, Any]) -> Catalog:
    return Catalog.model_validate({name: each for name, each in values.items() if name != "sk"})
