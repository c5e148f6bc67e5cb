"""
Slots for catalogs' own data sources, counted in the control table: one item per knowledge base.

    pk SLOTS#<knowledge_base_id>, sk SLOTS
    catalogs    string set of the catalogs that hold one
    sharing     number of catalogs that joined its shared data source; nobody counts those that left
"""

from collections.abc import Iterable
from typing import Any

from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable


class DynamoSlots(DynamoTable):
    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool:
        if catalog_id in self.holders(knowledge_base_id):
            return True
        if limit < 1:  # where nobody has one yet, the condition doesn't ask for it
            return False
        taken = self._change(
            knowledge_base_id,
            "ADD catalogs :catalog",
            {":catalog": {catalog_id}, ":limit": limit},
            "attribute_not_exists(catalogs) OR size(catalogs) < :limit",
        )
        return taken or catalog_id in self.holders(knowledge_base_id)

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None:
        return next((each for each in knowledge_base_ids if catalog_id in self.holders(each)), None)

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        return frozenset(self._item(knowledge_base_id).get("catalogs", ()))

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        self._change(knowledge_base_id, "DELETE catalogs :catalog", {":catalog": {catalog_id}})

    def sharing(self, knowledge_base_id: str) -> int:
        return int(self._item(knowledge_base_id).get("sharing", 0))

    def count_sharing(self, knowledge_base_id: str) -> None:
        self._change(knowledge_base_id, "ADD sharing :one", {":one": 1})

    def _item(self, knowledge_base_id: str) -> dict[str, Any]:
        return self._get(_key(knowledge_base_id)) or {}

    def _change(
        self, knowledge_base_id: str, expression: str, values: dict[str, Any], condition: str = ""
    ) -> bool:
        """Update the item; return False if it doesn't meet the condition."""
        key = _key(knowledge_base_id)
        return self._update(key, expression, values, condition=condition) is not None


def _key(knowledge_base_id: str) -> Item:
    return to_item({"pk": f"SLOTS#{knowledge_base_id}", "sk": "SLOTS"})
