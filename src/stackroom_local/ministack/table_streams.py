"""
Tables' streams that outlive a stop of ministack, with the records that no function has read.

ministack 1.5.33 stores how far a stream was read, and none of its records. So a function missed the
unread ones, and received nothing more until as many new ones had been written as in all the time
before.

It also reads streams between its polls of queues, and waits until the function has answered.
Meanwhile no queue's message was delivered; here streams have a thread of their own.
"""

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

from ministack.core.responses import AccountRegionScopedDict
from ministack.services import dynamodb, lambda_svc

logger = logging.getLogger(__name__)

_UNREAD = "unread_of_streams"  # beside what ministack writes
_PAUSE = 0.05  # seconds, between looks where there was nothing


def install() -> None:
    state_of, restore = dynamodb.get_state, dynamodb.load_persisted_state
    restore_functions = lambda_svc.load_persisted_state

    def state() -> dict[str, Any]:
        return {**state_of(), _UNREAD: _unread()}

    def load(state: dict[str, Any]) -> None:
        restore(state)
        dynamodb._stream_records.update(state.get(_UNREAD, {}))

    def load_functions(state: dict[str, Any]) -> None:
        restore_functions(state)
        # Of an earlier state, too, which has nothing of what was unread.
        for scope, position in _positions():
            dynamodb._stream_trimmed.set_scoped(*scope, position)

    dynamodb.get_state = state
    dynamodb.load_persisted_state = load
    lambda_svc.load_persisted_state = load_functions


def read_beside_queues() -> None:
    """
    Follow streams in a thread that starts with ministack's queues, when stored records are loaded.
    """
    read, poll = lambda_svc._poll_dynamodb_streams, lambda_svc._poll_loop
    lambda_svc._poll_dynamodb_streams = lambda: False

    def follow() -> None:
        while True:
            try:
                has_read = read()
            except Exception:
                logger.exception("streams were not read")
                has_read = False
            if not has_read:
                time.sleep(_PAUSE)

    def poll_beside() -> None:
        threading.Thread(target=follow, name="table-streams", daemon=True).start()
        poll()

    lambda_svc._poll_loop = poll_beside


def _unread() -> AccountRegionScopedDict:
    found = AccountRegionScopedDict()
    for (account, region, table), position in _positions():
        there = {"account_id": account, "region": region}
        end = dynamodb.stream_end_position(table, **there)
        records = dynamodb.stream_records_since(table, position, max(0, end - position), **there)
        found.set_scoped(account, region, table, records)
    return found


def _positions() -> Iterator[tuple[tuple[str, str, str], int]]:
    """
    Yield how far each table's stream was read, by account, region and table; each has one reader.
    """
    for (
        account,
        region,
        mapping_id,
    ), position in lambda_svc._dynamodb_stream_positions.all_items():
        mapping = lambda_svc._esms.get_scoped(account, region, mapping_id)
        if mapping is not None:
            table = mapping["EventSourceArn"].split("/stream/")[0].rpartition("/")[2]
            yield (account, region, table), position
