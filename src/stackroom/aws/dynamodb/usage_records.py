"""
What users have used, in the control table: an item for each month, user and catalog.

    item     pk                 sk
    usage    USAGE#<YYYY-MM>    <user_id>#<catalog_id>    documents, bytes, embedded_tokens

An accepted call adds to the items of its documents' catalogs, a write unit each: at ten documents a
call that is 100 units, or $0.00006, for 1,000 documents of one catalog.
https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from stackroom.aws.dynamodb.items import readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.quota.usage import Used, UsedBy, month_of

_USAGE = "USAGE#"  # the month follows


class DynamoUsage(DynamoTable):
    def add(self, user_id: str, catalog_id: str, used: Used, *, at: datetime) -> None:
        key = to_item({"pk": _USAGE + month_of(at), "sk": f"{user_id}#{catalog_id}"})
        counters = {name: by for name, by in used.model_dump().items() if by}
        if counters:
            added = ", ".join(f"#{name} :{name}" for name in counters)
            self._update(key, f"ADD {added}", {f":{name}": by for name, by in counters.items()})

    def of_month(self, month: str, *, user_id: str | None = None) -> Iterable[UsedBy]:
        found = (
            self._partition(_USAGE + month)
            if user_id is None
            else self._query(
                "pk = :pk AND begins_with(sk, :user)",
                {":pk": _USAGE + month, ":user": f"{user_id}#"},
            )
        )
        return readable(found, _to_used)


def _to_used(values: Mapping[str, Any]) -> UsedBy:
    user_id, _, catalog_id = values["sk"].partition("#")
    known = {name: values[name] for name in Used.model_fields if name in values}
    return UsedBy(user_id=user_id, catalog_id=catalog_id, used=Used.model_validate(known))
