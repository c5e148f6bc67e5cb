"""
Catalogs that users have selected, their feedback on answers, and their sign-outs from everywhere,
in the control table.

    item         pk                      sk
    selection    SELECTION#<user_id>     <session_id>     catalog_id, expires_at (TTL)
    feedback     FEEDBACK#<user_id>      <feedback_id>    feedback (JSON), expires_at (TTL)
    sign-out     SIGNED_OUT#<user_id>    SIGNED_OUT       at

A user's feedback has 300 items at most, of some 400 bytes (10 KB at most): saving one reads them
all, 30 read units, $0.000004 at $0.125 for a million.
https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

from collections.abc import Iterator
from datetime import datetime

from stackroom.aws.dynamodb.items import Item, instant, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.catalogs.feedback import KEPT, Feedback


class DynamoSelections(DynamoTable):
    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        kept = self._get(_selection_key(user_id, session_id))
        if kept is None:
            return None
        # DynamoDB removes what has expired within days, and answers it until then.
        return str(kept["catalog_id"]) if kept["expires_at"] > at.timestamp() else None

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None:
        values = {"catalog_id": catalog_id, "expires_at": int(until.timestamp())}
        self._keep(_selection_key(user_id, session_id) | to_item(values))

    def forget(self, user_id: str, session_id: str) -> None:
        self._remove(_selection_key(user_id, session_id))


def _selection_key(user_id: str, session_id: str) -> Item:
    return to_item({"pk": f"SELECTION#{user_id}", "sk": session_id})


class DynamoFeedback(DynamoTable):
    def of_user(self, user_id: str) -> Iterator[Feedback]:
        found = self._partition(f"FEEDBACK#{user_id}")
        return readable(found, lambda each: Feedback.model_validate_json(each["feedback"]))

    def keep(self, feedback: Feedback) -> None:
        until = int((feedback.at + KEPT).timestamp())
        values = {"feedback": feedback.model_dump_json(), "expires_at": until}
        self._keep(_feedback_key(feedback) | to_item(values))

    def forget(self, feedback: Feedback) -> None:
        self._remove(_feedback_key(feedback))


def _feedback_key(feedback: Feedback) -> Item:
    return to_item({"pk": f"FEEDBACK#{feedback.user_id}", "sk": feedback.id})


_KIND = "SIGNED_OUT"


class DynamoSignOuts(DynamoTable):
    def get(self, user_id: str) -> datetime | None:
        # Consistent, because signing out everywhere must take effect at once.
        kept = self._get(_sign_out_key(user_id))
        return None if kept is None else datetime.fromisoformat(kept["at"])

    def keep(self, user_id: str, at: datetime) -> None:
        self._put(
            _sign_out_key(user_id) | to_item({"at": instant(at)}),
            condition="attribute_not_exists(pk) OR #at < :at",
            values={":at": instant(at)},
        )


def _sign_out_key(user_id: str) -> Item:
    return to_item({"pk": f"{_KIND}#{user_id}", "sk": _KIND})
