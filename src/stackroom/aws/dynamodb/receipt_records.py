"""
Receipts of deletions, in the control table.

    item       pk                    sk
    receipt    RECEIPTS#<user_id>    <receipt_id>    expires_at (TTL); ids sort by time
               while it is open: live "RECEIPT", and asked_at as `until`
               once a search has closed it, until the reconciler has looked once more: live
               "PROVEN", and unsearchable_since as `until`

    get one               GetItem
    list a user's         Query, newest first
    list what is open     Query live-index: PK live, SK until
    list what is proven   the same, the latest first
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from stackroom.aws.dynamodb.items import Item, cursor_in, from_item, instant, start_at, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.errors import RecordChanged
from stackroom.model.records import Receipt
from stackroom.model.repositories import ListingPage

RECEIPTS = "RECEIPTS#"  # a user's id follows
# Long enough to prove a deletion in a yearly audit.
_KEPT = timedelta(days=400)
_OPEN = "RECEIPT"
_PROVEN = "PROVEN"
# Receipts of a page; five are one question of a knowledge base, and so many questions are asked at
# a time.
_PAGE = 25
_LIVE_INDEX = "live-index"
_STILL_OPEN = "attribute_not_exists(unsearchable_since) AND attribute_not_exists(superseded_at)"


class DynamoReceipts(DynamoTable):
    def get(self, user_id: str, receipt_id: str) -> Receipt | None:
        kept = self._get(_key(user_id, receipt_id))
        return None if kept is None else to_receipt(kept)

    def keep(self, receipt: Receipt) -> None:
        # Also true of one that isn't there; one that is closed stays as it was closed.
        self._put(_item(receipt), condition=_STILL_OPEN)

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        return map(to_receipt, self._partition(RECEIPTS + user_id, ScanIndexForward=False))

    def open_ones(self, *, limit: int) -> list[Receipt]:
        return list(self._live(_OPEN, Limit=limit).items)

    def proven(self, cursor: str | None) -> ListingPage[Receipt]:
        return self._live(_PROVEN, ScanIndexForward=False, Limit=_PAGE, **start_at(cursor))

    def end_checks(self, receipt: Receipt) -> None:
        self._update(
            _key(receipt.user_id, receipt.receipt_id),
            "REMOVE live, #until",
            {":proven": _PROVEN},
            condition="live = :proven",
        )

    def reopen(self, receipt: Receipt, *, at: datetime) -> None:
        changes = {"found_again_at": at, "not_found_at": None, "unsearchable_since": None}
        is_kept = self._put(
            _item(receipt.model_copy(update=changes)),
            condition="unsearchable_since = :closed",
            values={":closed": receipt.model_dump(mode="json")["unsearchable_since"]},
        )
        if not is_kept:
            raise RecordChanged(receipt.receipt_id)

    def _live(self, live: str, **page: Any) -> ListingPage[Receipt]:
        with store_errors():
            answer = self.client.query(
                TableName=self.table,
                IndexName=_LIVE_INDEX,
                KeyConditionExpression="live = :live",
                ExpressionAttributeValues=to_item({":live": live}),
                **page,
            )
        return ListingPage(
            items=[to_receipt(from_item(each)) for each in answer["Items"]], next=cursor_in(answer)
        )


def _key(user_id: str, receipt_id: str) -> Item:
    return to_item({"pk": RECEIPTS + user_id, "sk": receipt_id})


def _item(receipt: Receipt) -> Item:
    values = {
        **receipt.model_dump(mode="json", exclude_defaults=True),
        "expires_at": int((receipt.asked_at + _KEPT).timestamp()),
    }
    if receipt.is_open:
        values |= {"live": _OPEN, "until": instant(receipt.asked_at)}
    elif receipt.not_found_at is not None and receipt.unsearchable_since is not None:
        values |= {"live": _PROVEN, "until": instant(receipt.unsearchable_since)}
    return _key(receipt.user_id, receipt.receipt_id) | to_item(values)


def to_receipt(values: dict[str, Any]) -> Receipt:
    ours = {"pk", "sk", "expires_at", "live", "until"}
    return Receipt.model_validate({name: each for name, each in values.items() if name not in ours})
