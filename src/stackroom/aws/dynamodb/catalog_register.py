"""
Catalogs opened and closed, and counted with it, so that no user has more than are allowed.

    control table
    a user's catalogs     pk USER#<user_id>, sk CATALOGS: attribute `catalogs` counts them,
                          the string set `catalog_ids` names them
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from stackroom.aws.dynamodb.catalog_records import METADATA, DynamoCatalogs, key_of, to_catalog
from stackroom.aws.dynamodb.items import Item, get_all, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.dynamodb.writes import CONDITION_FAILED, reasons_of, transact
from stackroom.documents.model import Catalog, CatalogStatus
from stackroom.errors import CatalogLimitReached, RecordChanged

MAX_CATALOGS = 100  # of one user (contract)
_DELETING = str(CatalogStatus.DELETING)


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogRegister(DynamoCatalogs):
    control_table: str

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        """
        With what was opened a moment ago, which the index may not tell yet. Two round trips: the
        index and the register at once, then the catalogs of either.
        """
        with ThreadPoolExecutor(1) as beside:
            registered = beside.submit(self._registered, user_id)
            ids = dict.fromkeys(self.ids_of(user_id))
        keys = map(key_of, ids | dict.fromkeys(registered.result()))
        return map(to_catalog, get_all(self.client, self.table, keys, consistent=True))

    def open(self, catalog: Catalog) -> Catalog:
        put = {
            "TableName": self.table,
            "Item": to_item({**catalog.model_dump(mode="json"), "sk": METADATA}),
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
            raise
        return catalog

    def close(self, catalog: Catalog) -> None:
        """
        Safe to repeat: one that is gone is closed, and was counted down with it.

        One that was opened anew, under the same id, is another catalog by its `created_at`.
        """
        delete = {
            "TableName": self.table,
            "Key": key_of(catalog.catalog_id),
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
            raise

    def _registered(self, user_id: str) -> list[str]:
        control = DynamoTable(client=self.client, table=self.control_table)
        return sorted((control._get(_key(user_id)) or {}).get("catalog_ids", ()))

    def _count(
        self, catalog: Catalog, by: int, *, values: dict[str, Any] | None = None, **condition: str
    ) -> dict[str, Any]:
        names = ", catalog_ids :id" if by > 0 else " DELETE catalog_ids :id"
        return {
            "TableName": self.control_table,
            "Key": _key(catalog.user_id),
            "UpdateExpression": f"ADD catalogs :by{names}",
            "ExpressionAttributeValues": to_item(
                {":by": by, ":id": {catalog.catalog_id}, **(values or {})}
            ),
            **condition,
        }


def _key(user_id: str) -> Item:
    return to_item({"pk": f"USER#{user_id}", "sk": "CATALOGS"})
