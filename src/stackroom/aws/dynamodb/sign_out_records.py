"""
Times of users' sign-outs from everywhere, in the control table.

    item        pk                       sk
    sign-out    SIGNED_OUT#<user_id>     SIGNED_OUT    at
"""

from datetime import datetime

from stackroom.aws.dynamodb.items import Item, instant, to_item
from stackroom.aws.dynamodb.table import DynamoTable

_KIND = "SIGNED_OUT"


class DynamoSignOuts(DynamoTable):
    def get(self, user_id: str) -> datetime | None:
        # Consistent, because signing out everywhere must take effect at once.
        kept = self._get(_key(user_id))
        return None if kept is None else datetime.fromisoformat(kept["at"])

    def keep(self, user_id: str, at: datetime) -> None:
        self._put(
            _key(user_id) | to_item({"at": instant(at)}),
            condition="attribute_not_exists(pk) OR #at < :at",
            values={":at": instant(at)},
        )


def _key(user_id: str) -> Item:
    return to_item({"pk": f"{_KIND}#{user_id}", "sk": _KIND})
