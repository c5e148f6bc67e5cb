"""
Users' use, in the control table: an item for each month, user, catalog, and model that answers.

    item     pk                 sk
    usage    USAGE#<YYYY-MM>    <user_id>#<catalog_id>#<model>    the counters of model/usage.py;
                                                                  round, calls

An accepted call adds to the items of its documents' catalogs, unless its round is there with it: a
write unit each, or two where it isn't the round's first. At ten documents a call that is 200 units,
or $0.00013, for 1,000 documents of one catalog. A question adds to one.
https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from stackroom.aws.dynamodb.items import readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.model.usage import Call, Used, UsedBy, month_of

_USAGE = "USAGE#"  # the month follows
_BEHIND = "$"  # comes after every "#", and before whatever a user id may go on with


class DynamoUsage(DynamoTable):
    def add(
        self,
        user_id: str,
        catalog_id: str,
        used: Used,
        *,
        at: datetime,
        model: str = "",
        call: Call | None = None,
    ) -> None:
        key = to_item({"pk": _USAGE + month_of(at), "sk": f"{user_id}#{catalog_id}#{model}"})
        counters = {name: by for name, by in used.model_dump().items() if by}
        if not counters:
            return
        added = "ADD " + ", ".join(f"#{name} :{name}" for name in counters)
        values: dict[str, Any] = {f":{name}": by for name, by in counters.items()}
        if call is None:
            self._update(key, added, values)
            return
        values |= {":round": call.round_id, ":calls": {call.name}}
        is_first = "attribute_not_exists(#round) OR #round <> :round"
        first = f"SET #round = :round, #calls = :calls {added}"
        if self._update(key, first, values, condition=is_first) is None:
            is_new = "#round = :round AND NOT contains(#calls, :call)"
            values |= {":call": call.name}
            self._update(key, f"{added}, #calls :calls", values, condition=is_new)

    def of_month(
        self, month: str, *, user_id: str | None = None, after: str | None = None
    ) -> Iterable[UsedBy]:
        condition, values = "pk = :pk", {":pk": _USAGE + month}
        if user_id is not None:
            condition, values = (
                f"{condition} AND begins_with(sk, :sk)",
                values | {":sk": f"{user_id}#"},
            )
        elif after is not None:
            condition, values = f"{condition} AND sk > :sk", values | {":sk": f"{after}{_BEHIND}"}
        return readable(self._query(condition, values), _to_used)


def _to_used(values: Mapping[str, Any]) -> UsedBy:
    user_id, catalog_id, model = values["sk"].split("#", 2)
    known = {name: values[name] for name in Used.model_fields if name in values}
    used = Used.model_validate(known)
    return UsedBy(user_id=user_id, catalog_id=catalog_id, model=model, used=used)
