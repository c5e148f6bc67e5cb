"""
The ledger of grants and the queues for knowledge bases, in the control table.

    item      pk                                  sk
    ledger    ADMISSION                           LEDGER                   version; grants and more
    waiter    QUEUE#<knowledge_base_id>#<mode>    <since>#<worklist_id>     epoch, calls, token

    read the ledger           GetItem, consistent
    write it                  PutItem if its version is still the one that was read
    the oldest of a queue     Query, consistent; `since` is UTC of one width, so keys sort by time
    leave the queue           DeleteItem unless another token stands there
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from pydantic import TypeAdapter

from stackroom.aws.dynamodb.items import Item, instant, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.errors import RecordChanged
from stackroom.runs.ledger import Grant, Ledger, Mode, Waiter

_LEDGERS = TypeAdapter(Ledger)
_GRANTS = TypeAdapter(Grant)
_WAITERS = TypeAdapter(Waiter)
_LEDGER_KEY = to_item({"pk": "ADMISSION", "sk": "LEDGER"})


class DynamoAdmissionBook(DynamoTable):
    def read(self) -> Ledger:
        kept = self._get(_LEDGER_KEY)
        if kept is None:
            return Ledger()
        # A grant that is left out here is free, and gone with the next write.
        grants = readable(
            map(_of_ledger, kept.pop("grants", ())),
            lambda each: _GRANTS.validate_python(_bare(each)),
        )
        return replace(_LEDGERS.validate_python(_bare(kept)), grants=tuple(grants))

    def write(self, ledger: Ledger) -> Ledger:
        written = replace(ledger, version=ledger.version + 1)
        values = to_item(_LEDGERS.dump_python(written, mode="json", exclude_defaults=True))
        if not self._put_next(_LEDGER_KEY | values, version=ledger.version):
            raise RecordChanged("the admission ledger")
        return written

    def enqueue(self, waiter: Waiter) -> None:
        self._keep(_place(waiter) | to_item(_WAITERS.dump_python(waiter, mode="json")))

    def dequeue(self, waiter: Waiter) -> bool:
        """Return True if the waiter had left before, too: this is safe to repeat."""
        token = {":token": waiter.token}
        return self._delete(_place(waiter), condition="#token = :token", values=token)

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        found = self._partition(_queue(knowledge_base_id, mode), Limit=limit)
        waiters = readable(found, lambda each: _WAITERS.validate_python(_bare(each)))
        return list(islice(waiters, limit))


def _queue(knowledge_base_id: str, mode: Mode) -> str:
    return f"QUEUE#{knowledge_base_id}#{mode}"


def _place(waiter: Waiter) -> Item:
    queue = _queue(waiter.knowledge_base_id, waiter.mode)
    return to_item({"pk": queue, "sk": f"{instant(waiter.since)}#{waiter.worklist_id}"})


def _of_ledger(grant: Any) -> dict[str, Any]:
    """A grant with the ledger's key, and with whose it is for the rest of its own."""
    if not isinstance(grant, Mapping):
        grant = {}
    return {"pk": "ADMISSION", "sk": f"LEDGER {grant.get('worklist_id')}", **grant}


def _bare(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values without the keys."""
    return {name: each for name, each in values.items() if name not in ("pk", "sk")}
