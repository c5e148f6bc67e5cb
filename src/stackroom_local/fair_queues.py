"""
Standard queues of ministack that let tenants have their turns, as those of SQS do.

A message names its tenant as its group; one without is of a tenant of its own. While a tenant has
more than a tenth of what is in flight, messages of others are delivered before its own. SQS asks
for thirty of its messages in flight, too, or looks at how long its messages take [SQS developer
guide: sqs-fair-queues-detailed]; here never so many are in flight.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from ministack.services import sqs

_SHARE = 0.1  # of what is in flight, beyond which a tenant is busy

_Collect = Callable[[dict[str, Any], int, int], list[dict[str, Any]]]


def install() -> None:
    collect: _Collect = sqs._collect_msgs
    sqs._collect_msgs = lambda queue, most, hidden: collect(in_turn(queue), most, hidden)


def in_turn(queue: dict[str, Any]) -> dict[str, Any]:
    """The queue as it is, but for the order of its messages."""
    if queue["is_fifo"]:
        return queue
    now = time.time()
    messages = list(queue["messages"])
    in_flight = [each for each in messages if each["visible_at"] > now and each["receive_count"]]
    counts = Counter(each["group_id"] for each in in_flight if each.get("group_id"))
    busy = {group for group, count in counts.items() if count > _SHARE * len(in_flight)}
    return {**queue, "messages": sorted(messages, key=lambda each: each.get("group_id") in busy)}
