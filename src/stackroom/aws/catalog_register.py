"""
Catalogs opened and closed, and counted with it, so that no user has more than are allowed.

    control table
    a user's catalogs     pk USER#<user_id>, sk CATALOGS: attribute `catalogs` counts them
"""

from dataclasses import dataclass
from typing import Any

from stackroom.aws.catalogs import METADATA, DynamoCatalogs, key_of
from stackroom.aws.items import to_item
from stackroom.aws.transactions import CONDITION_FAILED, reasons_of, refuse, transact
from stackroom.errors import CatalogLimitReached, RecordChanged
from stackroom.model import Catalog, CatalogStatus

MAX_CATALOGS = 100  # of one user (contract)
_DELETING = str(CatalogStatus.DELETING)


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogRegister(DynamoCatalogs):
    control_table: str

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
            refuse(error, catalog.catalog_id)
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
