"""
What events and metering cost for a thousand documents, by AWS's prices, those of
benchmarks/simulated_time/bill.py.

    make bench-events

Of a document that is dropped and indexed three events come, and two of its catalog, if it is
dropped alone: a thousand that come together share batches, and their catalogs' events. Sizes are
those of real events. What reads a stream for a function is free; webhooks are not in it. Usage is
added to for each call and catalog, ten documents at once or one; caps are read by each task of a
run, and there are none.
"""

import json
import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from benchmarks.simulated_time.bill import LOG_LINE, LOGGED, PRICES
from infra.events import BATCH
from stackroom.aws.dynamodb.event_records import PAGE
from stackroom.documents.model import CatalogStatus, DocumentStatus
from stackroom.events.changes import change_of
from tests.support.records import NOW, a_catalog, a_document

# A custom event: https://aws.amazon.com/eventbridge/pricing/ ($1.00 a million in us-east-1,
# November 2026; of up to 64 KB each).
_EVENT = 1.00 / 1_000_000
_THOUSAND = 1_000
_OF_A_DOCUMENT, _OF_A_CATALOG = 3, 2
# Records that reach the function: each write of a document, and each of its catalog's counters.
_RECORDS_OF_A_DOCUMENT = 6
_GB = 0.5
_SECONDS, _SECONDS_AN_EVENT = 0.02, 0.012  # of an invocation, and for each event: two calls of 5 ms
_READ_UNIT, _WRITE_UNIT = 4096, 1024  # bytes [DynamoDB developer guide: capacity-mode]
_LOOKS = 6  # tasks of a run that look for work, each with a query of no more than a read unit
_KEYS = 200  # bytes of an item beside its event: the names, the keys, two ids, the times
AIM = 0.01


@dataclass(frozen=True, kw_only=True)
class Cost:
    what: str
    together: float
    apart: float


def costs() -> list[Cost]:
    """Of a thousand documents in fifty catalogs at once, and each alone, when its log is full."""
    together = _of(catalogs=50, in_batch=BATCH)
    # Of one transaction, a document's record and its catalog's come together.
    apart = _of(catalogs=_THOUSAND, in_batch=2)
    return [Cost(what=what, together=together[what], apart=apart[what]) for what in together]


def _of(*, catalogs: int, in_batch: int) -> dict[str, float]:
    events = _THOUSAND * _OF_A_DOCUMENT + catalogs * _OF_A_CATALOG
    batches = math.ceil(_THOUSAND * _RECORDS_OF_A_DOCUMENT / in_batch)
    lookups = min(events, batches)  # of the newest in a log
    # Of a call's documents, two catalogs', and each not the first call of its round; or alone.
    calls, added = (_THOUSAND // 10, 4) if catalogs < _THOUSAND else (_THOUSAND, 1)
    seconds = batches * _SECONDS + events * _SECONDS_AN_EVENT
    return {
        "EventBridge, events": events * _EVENT,
        "DynamoDB, kept": events * _units(_size(), _WRITE_UNIT) * PRICES["dynamodb writes"],
        "DynamoDB, looked up": lookups
        * (_units(_size() * PAGE, _READ_UNIT) + 2)
        * PRICES["dynamodb reads"],
        "Lambda": batches * PRICES["lambda requests"] + seconds * _GB * PRICES["lambda GB-s"],
        "DynamoDB, usage": calls * added * PRICES["dynamodb writes"],
        "DynamoDB, caps": calls * _LOOKS * PRICES["dynamodb reads"],
        "logs": (batches * LOGGED + events * LOG_LINE) * PRICES["log bytes"],
    }


def _size() -> int:
    """Of an item, in bytes: the longest of the usual events."""
    indexed = a_document(status=DocumentStatus.INDEXED, correlation_id="c" * 36, version=10**15)
    pairs = ((a_document(), indexed), (a_catalog(), a_catalog(status=CatalogStatus.INDEXING)))
    told = [change_of(old, new, event_id="e" * 32, at=NOW) for old, new in pairs]
    return _KEYS + max(len(json.dumps(each.told()).encode()) for each in told if each)


def _units(size: int, of: int) -> int:
    return math.ceil(size / of)


def main() -> None:
    table = Table(
        "a thousand documents", "at once", "each alone", title=f"{_size()} bytes an event"
    )
    found = costs()
    for each in found:
        table.add_row(each.what, f"${each.together:.4f}", f"${each.apart:.4f}")
    together, apart = sum(e.together for e in found), sum(e.apart for e in found)
    table.add_row("altogether", f"${together:.4f}", f"${apart:.4f}")
    Console().print(table)
    Console().print(f"the aim: under ${AIM:.2f}")


if __name__ == "__main__":
    main()
