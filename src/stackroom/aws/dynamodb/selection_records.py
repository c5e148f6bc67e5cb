"""
The catalogs that users have selected, in the control table.

    item         pk                      sk
    selection    SELECTION#<user_id>     <session_id>    catalog_id, expires_at (TTL)
"""

from datetime import datetime

from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable


class DynamoSelections(DynamoTable):
    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        kept = self._get(_key(user_id, session_id))
        if kept is None:
            return None
        # DynamoDB removes what has expired within days, and answers it until then.
        return str(kept["catalog_id"]) if kept["expires_at"] > at.timestamp() else None

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None:
        values = {"catalog_id": catalog_id, "expires_at": int(until.timestamp())}
        self._keep(_key(user_id, session_id) | to_item(values))

    def forget(self, user_id: str, session_id: str) -> None:
        self._remove(_key(user_id, session_id))


def _key(user_id: str, session_id: str) -> Item:
    return to_item({"pk": f"SELECTION#{user_id}", "sk": session_id})
