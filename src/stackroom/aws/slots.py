"""
Slots for catalogs' own data sources, counted in the control table: one item per knowledge base.

    pk SLOTS#<knowledge_base_id>, sk SLOTS
    catalogs    string set of the catalogs that hold one; also of what stands for a lost slot
    taken       how many
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.items import from_item, to_item, update
from stackroom.aws.translation import store_errors

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_LOST = "!lost-"  # no catalog's id begins so


@dataclass(frozen=True, kw_only=True)
class DynamoSlots:
    client: "DynamoDBClient"
    table: str

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool:
        if catalog_id in self._holders(knowledge_base_id):
            return True
        taken = self._update(
            knowledge_base_id,
            "ADD catalogs :catalog, taken :one",
            {":catalog": {catalog_id}, ":id": catalog_id, ":one": 1, ":limit": limit},
            "(attribute_not_exists(taken) OR taken < :limit) AND NOT contains(catalogs, :id)",
        )
        return taken or catalog_id in self._holders(knowledge_base_id)

    def taken(self, knowledge_base_id: str) -> int:
        return len(self._holders(knowledge_base_id))

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None:
        return next(
            (each for each in knowledge_base_ids if catalog_id in self._holders(each)), None
        )

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        held = self._holders(knowledge_base_id)
        return frozenset(each for each in held if not each.startswith(_LOST))

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        """Also where it holds none (any more)."""
        self._update(
            knowledge_base_id,
            "DELETE catalogs :catalog ADD taken :minus_one",
            {":catalog": {catalog_id}, ":id": catalog_id, ":minus_one": -1},
            "contains(catalogs, :id)",
        )

    def exhaust(self, knowledge_base_id: str, catalog_id: str) -> None:
        held = self._update(
            knowledge_base_id,
            "DELETE catalogs :catalog",
            {":catalog": {catalog_id}, ":id": catalog_id},
            "contains(catalogs, :id)",
        )
        assert held, "a slot is found to be lost by the catalog that has just taken it"
        # `taken` still counts the slot; a name of its own keeps set and count equal.
        self._update(
            knowledge_base_id,
            "ADD catalogs :lost",
            {":lost": {f"{_LOST}{secrets.token_hex(4)}"}},
            "attribute_exists(pk)",
        )

    def _holders(self, knowledge_base_id: str) -> set[str]:
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(knowledge_base_id), ConsistentRead=True
            )
        return set(from_item(answer.get("Item", {})).get("catalogs", set()))

    def _update(
        self, knowledge_base_id: str, expression: str, values: dict[str, Any], condition: str
    ) -> bool:
        """False if the item doesn't meet the condition."""
        key = _key(knowledge_base_id)
        changed = update(self.client, self.table, key, expression, values, condition=condition)
        return changed is not None


def _key(knowledge_base_id: str) -> dict[str, Any]:
    return to_item({"pk": f"SLOTS#{knowledge_base_id}", "sk": "SLOTS"})
