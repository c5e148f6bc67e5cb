"""
Users' caps, in the control table: one partition, which every round reads.

    item       pk                        sk
    caps       CAPS                      <user_id>, or *             documents, bytes, dollars
    reached    CAPS_REACHED#<user_id>    <month>#<cap>#<percent>    used, limit, at, expires_at

What is noted of a cap that was reached is told by the table's stream, once.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from stackroom.aws.dynamodb.items import Item, instant, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.model.caps import CapReached, Caps

REACHED = "CAPS_REACHED#"  # the user follows
_KEPT = timedelta(days=62)  # its month, and more


class DynamoCaps(DynamoTable):
    def all(self) -> Mapping[str, Caps]:
        return dict(readable(self._partition("CAPS"), _to_caps))

    def keep(self, user_id: str, caps: Caps) -> None:
        self._keep(_key(user_id) | to_item(caps.model_dump()))

    def note(self, reached: CapReached) -> None:
        noted = reached.model_dump(include={"used", "limit"}) | {
            "at": instant(reached.at),
            "expires_at": int((reached.at + _KEPT).timestamp()),
        }
        place = f"{reached.month}#{reached.cap}#{reached.percent}"
        key = to_item({"pk": f"{REACHED}{reached.user_id}", "sk": place})
        self._put(key | to_item(noted), condition="attribute_not_exists(pk)")

    def remove(self, user_id: str) -> None:
        self._remove(_key(user_id))


def _key(user_id: str) -> Item:
    return to_item({"pk": "CAPS", "sk": user_id})


def _to_caps(values: Mapping[str, Any]) -> tuple[str, Caps]:
    return values["sk"], Caps.model_validate({each: values.get(each) for each in Caps.model_fields})


def to_reached(values: Mapping[str, Any]) -> CapReached:
    month, cap, percent = values["sk"].split("#")
    place = {"month": month, "cap": cap, "percent": int(percent)}
    noted = {each: values[each] for each in ("used", "limit", "at")}
    user_id = values["pk"].removeprefix(REACHED)
    return CapReached.model_validate(place | noted | {"user_id": user_id})
