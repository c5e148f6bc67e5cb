"""
Catalogs in DynamoDB, beside their documents.

    item        catalog_id        sk                user_id-index
    catalog     <catalog_id>      METADATA          user_id
    document    <catalog_id>      DOC#<id>          (document_records.py, which counts them here)

    control table
    a user's catalogs    pk USER#<user_id>, sk CATALOGS: attribute `catalogs` counts them, so that
                         no user has more than are allowed, the string set `catalog_ids` names them

    get a catalog              GetItem METADATA
    list a user's catalogs     Query user_id-index, then BatchGetItem
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stackroom.aws.dynamodb.items import Item, get_all, record_timestamp, to_item
from stackroom.aws.dynamodb.table import CONDITION_FAILED, DynamoTable, reasons_of, transact
from stackroom.errors import LimitReached, RecordChanged
from stackroom.model.attributes import MOST_RECORDED
from stackroom.model.catalog_counts import Counts, counts_in, status_of
from stackroom.model.records import Catalog, CatalogStatus, DataSource

METADATA = "METADATA"
USER_INDEX = "user_id-index"
# The counters of its documents, in the order of Counts.each.
COUNTERS = (
    "document_count",
    "total_bytes",
    "failed_count",
    "waiting_count",
    "open_count",
    "over_count",
    "over_new_count",
    "over_new_bytes",
)
_DELETING = str(CatalogStatus.DELETING)
MAX_CATALOGS = 100  # of one user (contract)


class DynamoCatalogs(DynamoTable):
    def get(self, catalog_id: str) -> Catalog | None:
        # Consistent, because the event after the one that opened it must find it.
        kept = self._get(key_of(catalog_id))
        return None if kept is None else to_catalog(kept)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        keys = map(key_of, self.ids_of(user_id))
        return map(to_catalog, get_all(self.client, self.table, keys))

    def ids_of(self, user_id: str) -> Iterator[str]:
        """Return the catalogs' ids by the index, which is eventually consistent."""
        found = self._query("user_id = :user", {":user": user_id}, IndexName=USER_INDEX)
        return (item["catalog_id"] for item in found)

    def place(self, catalog_id: str, source: DataSource) -> None:
        values = {
            ":kb": source.knowledge_base_id,
            ":source": source.data_source_id,
            ":type": str(source.type),
            ":shared": source.is_shared,
        }
        placed = self._change(
            catalog_id,
            "SET knowledge_base_id = :kb, data_source_id = :source, data_source_type = :type,"
            " data_source_shared = :shared",
            values,
            condition="(attribute_not_exists(data_source_id) OR data_source_id = :source)",
        )
        if not placed:  # it is gone, or somebody has just placed it elsewhere
            raise RecordChanged(catalog_id)

    def record_attributes(self, catalog_id: str, types: frozenset[str]) -> None:
        self._change(
            catalog_id,
            "ADD attribute_types :types",
            {":types": set(types), ":most": MOST_RECORDED},
            condition="(attribute_not_exists(attribute_types) OR size(attribute_types) < :most)",
        )

    def describe(self, catalog_id: str, *, name: str, description: str, at: datetime) -> None:
        values = {
            ":name": name,
            ":description": description,
            ":at": record_timestamp(at),
            ":deleting": _DELETING,
        }
        expression = "SET #name = :name, #description = :description, updated_at = :at"
        if not self._change(catalog_id, expression, values, condition="#status <> :deleting"):
            raise RecordChanged(catalog_id)

    def clear_data_source(self, catalog_id: str) -> None:
        cleared = self._change(
            catalog_id,
            "REMOVE knowledge_base_id, data_source_id, data_source_type, data_source_shared",
            {":deleting": _DELETING},
            condition="#status = :deleting",
        )
        if not cleared:
            raise RecordChanged(catalog_id)

    def recount(self, seen: Catalog, counts: Counts) -> None:
        # Each document that comes changes when it was written; so does one that comes as one goes.
        values: dict[str, Any] = {":at": record_timestamp(seen.updated_at)}
        for name, right, was in zip(COUNTERS, counts.each, counts_in(seen).each, strict=True):
            values |= {f":{name}": right, f":{name}_seen": was}
        expression = f"SET {', '.join(f'{name} = :{name}' for name in COUNTERS)}"
        unchanged = (f"{name} = :{name}_seen" for name in COUNTERS)
        condition = " AND ".join(("updated_at = :at", *unchanged))
        if not self._change(seen.catalog_id, expression, values, condition=condition):
            raise RecordChanged(seen.catalog_id)

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        values = {":deleting": _DELETING, ":at": record_timestamp(at)}
        since = "deleting_since = if_not_exists(deleting_since, :at)"
        expression = f"SET #status = :deleting, updated_at = :at, {since}"
        if not self._change(catalog_id, expression, values):
            raise RecordChanged(catalog_id)

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        values = {
            ":deleting": _DELETING,
            ":status": str(CatalogStatus.READY),
            ":at": record_timestamp(at),
        }
        is_unmarked = self._change(
            catalog_id,
            "SET #status = :status, updated_at = :at REMOVE deleting_since",
            values,
            condition="#status = :deleting",
        )
        if not is_unmarked and self.get(catalog_id) is None:
            raise RecordChanged(catalog_id)

    def _change(
        self, catalog_id: str, expression: str, values: dict[str, Any], *, condition: str = ""
    ) -> bool:
        """Update the catalog; return False if it doesn't exist or doesn't meet the condition."""
        there = " AND ".join(filter(None, ("attribute_exists(catalog_id)", condition)))
        return self._update(key_of(catalog_id), expression, values, condition=there) is not None


def key_of(catalog_id: str) -> Item:
    return to_item({"catalog_id": catalog_id, "sk": METADATA})


def to_catalog(values: dict[str, Any]) -> Catalog:
    """
    Return the catalog. Its item says if it is being deleted; otherwise its status follows from its
    counts.
    """
    kept = Catalog.model_validate({name: each for name, each in values.items() if name != "sk"})
    if kept.status is CatalogStatus.DELETING:
        return kept
    return kept.model_copy(update={"status": status_of(counts_in(kept))})


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogRegister(DynamoCatalogs):
    control_table: str

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        """
        Return the user's catalogs, including ones that were opened a moment ago and may be missing
        in the index. This takes two round trips: the index and the register at once, then the
        catalogs of either.
        """
        with ThreadPoolExecutor(1) as executor:
            registered = executor.submit(self._registered, user_id)
            ids = dict.fromkeys(self.ids_of(user_id))
        keys = map(key_of, ids | dict.fromkeys(registered.result()))
        return map(to_catalog, get_all(self.client, self.table, keys, consistent=True))

    def open(self, catalog: Catalog) -> Catalog:
        put = {
            "TableName": self.table,
            "Item": to_item(
                {
                    # DynamoDB has no empty set, and no document has come yet.
                    **catalog.model_dump(mode="json", exclude={"attribute_types"}),
                    "sk": METADATA,
                }
            ),
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
                raise LimitReached("Catalog", MAX_CATALOGS) from error
            raise
        return catalog

    def close(self, catalog: Catalog) -> None:
        """
        Remove the catalog and its count. Safe to repeat: one that is gone was counted down already.
        One that was opened anew under the same id is another catalog by its `created_at`.
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
