"""
Feedback of users and their agents on answers, in the control table.

    item        pk                     sk
    feedback    FEEDBACK#<user_id>     <feedback_id>    feedback (JSON), expires_at (TTL)

A partition has 300 items at most, of some 400 bytes (10 KB at most): saving one reads them all, 30
read units, $0.000004 at $0.125 for a million. https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

from collections.abc import Iterator

from stackroom.aws.dynamodb.items import Item, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.catalogs.feedback import KEPT, Feedback


class DynamoFeedback(DynamoTable):
    def of_user(self, user_id: str) -> Iterator[Feedback]:
        found = self._partition(f"FEEDBACK#{user_id}")
        return readable(found, lambda each: Feedback.model_validate_json(each["feedback"]))

    def keep(self, feedback: Feedback) -> None:
        until = int((feedback.at + KEPT).timestamp())
        values = {"feedback": feedback.model_dump_json(), "expires_at": until}
        self._keep(_key(feedback) | to_item(values))

    def forget(self, feedback: Feedback) -> None:
        self._remove(_key(feedback))


def _key(feedback: Feedback) -> Item:
    return to_item({"pk": f"FEEDBACK#{feedback.user_id}", "sk": feedback.id})
