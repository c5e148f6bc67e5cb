"""
Users' caps, in the control table: one partition, which every round reads.

    item    pk      sk
    caps    CAPS    <user_id>, or * for everybody else    documents, bytes, dollars
"""

from collections.abc import Mapping
from typing import Any

from stackroom.aws.dynamodb.items import Item, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.quota.caps import Caps


class DynamoCaps(DynamoTable):
    def all(self) -> Mapping[str, Caps]:
        return dict(readable(self._partition("CAPS"), _to_caps))

    def keep(self, user_id: str, caps: Caps) -> None:
        self._keep(_key(user_id) | to_item(caps.model_dump()))

    def remove(self, user_id: str) -> None:
        with store_errors():
            self.client.delete_item(TableName=self.table, Key=_key(user_id))


def _key(user_id: str) -> Item:
    return to_item({"pk": "CAPS", "sk": user_id})


def _to_caps(values: Mapping[str, Any]) -> tuple[str, Caps]:
    return values["sk"], Caps.model_validate({each: values.get(each) for each in Caps.model_fields})
