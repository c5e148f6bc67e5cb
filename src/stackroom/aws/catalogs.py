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

from botocore.exceptions import ClientError

from stackroom.aws.items import from_item, query, to_item
from stackroom.aws.translation import store_errors
from stackroom.errors import CatalogLimitReached, RecordChanged, StoreUnavailable
from stackroom.model import Catalog, CatalogStatus

MAX_CATALOGS = 100  # of one user (contract)
METADATA = "METADATA"
_USER_INDEX = "user_id-index"
# Cancellation reasons [DynamoDB API reference: TransactWriteItems]
_THROTTLED = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})


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
        return _to_catalog(from_item(answer["Item"])) if "Item" in answer else None

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

    def place(self, catalog_id: str, *, knowledge_base_id: str, data_source_id: str) -> None:
        values = {":kb": knowledge_base_id, ":source": data_source_id}
        try:
            self._update(
                catalog_id,
                "SET knowledge_base_id = :kb, data_source_id = :source",
                values,
                condition="attribute_not_exists(data_source_id) OR data_source_id = :source",
            )
        except self.client.exceptions.ConditionalCheckFailedException as error:
            raise AssertionError("only the catalog's one live run gives it a place") from error

    def summarise(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        self._update(
            catalog_id,
            "SET #status = :status, document_count = :count, total_bytes = :size, updated_at = :at",
            {":status": str(status), ":count": count, ":size": size, ":at": at.isoformat()},
            condition="attribute_exists(catalog_id)",
            names={"#status": "status"},
        )

    def _update(
        self,
        catalog_id: str,
        expression: str,
        values: dict[str, Any],
        *,
        condition: str,
        names: dict[str, str] | None = None,
    ) -> None:
        with store_errors():
            self.client.update_item(
                TableName=self.table,
                Key=_key(catalog_id),
                UpdateExpression=expression,
                ConditionExpression=condition,
                ExpressionAttributeValues=to_item(values),
                **({"ExpressionAttributeNames": names} if names else {}),
            )

    def _batch(self, keys: list[dict[str, Any]]) -> Iterator[Catalog]:
        wanted = {self.table: {"Keys": keys}}
        while wanted:
            with store_errors():
                answer = self.client.batch_get_item(RequestItems=wanted)
            for item in answer["Responses"].get(self.table, []):
                yield _to_catalog(from_item(item))
            wanted = answer.get("UnprocessedKeys", {})


@dataclass(frozen=True, kw_only=True)
class DynamoCatalogRegister(DynamoCatalogs):
    """Opens catalogs, counting each user's in the control table."""

    control_table: str

    def open(self, catalog: Catalog) -> Catalog:
        count = {
            "TableName": self.control_table,
            "Key": to_item({"pk": f"USER#{catalog.user_id}", "sk": "CATALOGS"}),
            "UpdateExpression": "ADD catalogs :one",
            "ConditionExpression": "attribute_not_exists(catalogs) OR catalogs < :limit",
            "ExpressionAttributeValues": to_item({":one": 1, ":limit": MAX_CATALOGS}),
        }
        put = {
            "TableName": self.table,
            "Item": _to_item(catalog),
            "ConditionExpression": "attribute_not_exists(catalog_id)",
        }
        try:
            with store_errors():
                self.client.transact_write_items(TransactItems=[{"Put": put}, {"Update": count}])
        except self.client.exceptions.TransactionCanceledException as error:
            return self._opened_otherwise(catalog, error)
        return catalog

    def _opened_otherwise(self, catalog: Catalog, error: ClientError) -> Catalog:
        there = self.get(catalog.catalog_id)
        if there is not None:
            return there  # opened by another upload at the same moment
        reasons = [each.get("Code") for each in error.response.get("CancellationReasons", [])]
        if reasons[-1:] == ["ConditionalCheckFailed"]:
            raise CatalogLimitReached(MAX_CATALOGS) from error
        if "TransactionConflict" in reasons:
            # another catalog of the same user is being opened, and counted, at this moment
            raise RecordChanged(catalog.catalog_id) from error
        if not _THROTTLED.isdisjoint(reasons):
            raise StoreUnavailable("TransactWriteItems", "ThrottlingError") from error
        raise error


def _key(catalog_id: str) -> dict[str, Any]:
    return to_item({"catalog_id": catalog_id, "sk": METADATA})


def _to_item(catalog: Catalog) -> dict[str, Any]:
    return to_item({**catalog.model_dump(mode="json"), "sk": METADATA})


def _to_catalog(values: dict[str, Any]) -> Catalog:
    return Catalog.model_validate({name: each for name, each in values.items() if name != "sk"})
