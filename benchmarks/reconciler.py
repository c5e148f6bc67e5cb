"""
Measures the reconciler's full round over a shared data source of up to five million documents.

    make bench-reconciler              10,000 and 200,000 documents
    make bench-reconciler ARGS=--full  10,000, 1,000,000 and 5,000,000

The product's code runs, in invocations of fifteen minutes, over inventories that are generated as
they are read. Simulated time consists of assumed times of calls, pauses of the pace, and real
computation. Each size runs in a process of its own, to measure its peak of memory. The dry run has
to find exactly the planted discrepancies.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from typing import Any

from benchmarks.reconciling.ports import (
    Bookmarks,
    Clock,
    MadeUp,
    MadeUpBucket,
    MadeUpCatalogs,
    MadeUpDocuments,
    MadeUpTexts,
    MemoryIdParts,
    Meter,
    NeverAsked,
    in_turn,
)
from benchmarks.reconciling.shelves import SHARED, Planted, Shelves
from benchmarks.serving import verdict
from simulated_time.memory import MemoryLeases, MemoryReceipts, MemorySlots, MemoryWorklists
from simulated_time.stores import AdmissionBook
from stackroom.model.records import PoolMember
from stackroom.reconciler.audit_rounds import Reconciliation, Rounds
from stackroom.reconciler.audited import Audited
from stackroom.reconciler.bedrock_requests import RequestPace
from stackroom.reconciler.discrepancies import Kind
from stackroom.reconciler.mending import Mending
from stackroom.text.kept_texts import TextKeeping
from stackroom.uploads.reconcile import Uploads

SIZES, FULL = (10_000, 200_000), (10_000, 1_000_000, 5_000_000)
_INVOCATION, _ENOUGH = 900, 60  # seconds, as in functions/reconciler
_BOOKMARK = 400_000  # bytes of an item [DynamoDB developer guide: Constraints]
# Memory of a 512 MB function in addition to Python and its imports.
_AIM_MEBIBYTES = 200


def reconciliation(
    shelves: Shelves,
    meter: Meter,
    bookmark: Bookmarks,
    kept_round: Bookmarks,
    ids: MemoryIdParts,
) -> Reconciliation:
    """Return the product's reconciler over shelves; all other stores are empty."""
    # Each has the methods that a dry run calls, not all of its port.
    never: Any = NeverAsked()
    made_up: Any = MadeUp(shelves=shelves, meter=meter)
    catalogs: Any = MadeUpCatalogs(shelves=shelves, meter=meter)
    documents: Any = MadeUpDocuments(shelves=shelves, meter=meter)
    bucket: Any = MadeUpBucket(shelves=shelves, meter=meter)
    texts: Any = MadeUpTexts(shelves=shelves, documents=documents)
    leases, receipts, slots = MemoryLeases(), MemoryReceipts(), MemorySlots()
    pool = (
        PoolMember(
            knowledge_base_id=SHARED.knowledge_base_id, data_source_id=SHARED.data_source_id
        ),
    )
    uploads = Uploads(
        catalogs=catalogs,
        documents=documents,
        bucket=bucket,
        receipts=receipts,
        inspections=made_up,
        now=meter.clock,
    )
    audited = Audited(
        inventory=made_up,
        catalogs=catalogs,
        documents=documents,
        bucket=bucket,
        leases=leases,
        executions=never,
        receipts=receipts,
        requests=never,
        caps=never,
        keeping=TextKeeping(texts=texts, documents=documents, bucket=bucket),
        worklists=MemoryWorklists(),
        restart=never,
        mending=Mending(
            uploads=uploads,
            documents=documents,
            requests=never,
            inspections=never,
            dry_run=True,
            run_parallel=in_turn,
            now=meter.clock,
        ),
        book=AdmissionBook(),
        slots=slots,
        data_sources=never,
        direct=made_up,
        knowledge_base=lambda _: made_up,
        pool=pool,
        ids=ids,
    )
    return Reconciliation.over(
        audited,
        bookmark=bookmark,
        rounds=Rounds(kept=kept_round),
        pace=RequestPace(sleep=meter.clock.pass_by, now=meter.clock.since_1970),
    )


def measured(size: int) -> dict[str, Any]:
    """Run a whole round, in a process of its own."""
    planted = Planted.among(size)
    shelves = Shelves(size=size, planted=planted)
    assert shelves.catalogs, "made before memory is looked at"
    before = _peak()
    meter = Meter(Clock())
    bookmark, kept_round = Bookmarks(meter=meter), Bookmarks(meter=meter)
    ids = MemoryIdParts(meter=meter)
    began, computed = meter.clock(), time.process_time()
    found: Counter[Kind] = Counter()
    invocations, busy = 0, 0.0
    while True:
        invoked = meter.clock()
        reconciling = reconciliation(shelves, meter, bookmark, kept_round, ids)

        def has_time(since: datetime = invoked) -> bool:
            return (meter.clock() - since).total_seconds() < _INVOCATION - _ENOUGH

        found.update(each.kind for each in reconciling.resume(has_time=has_time))
        invocations += 1
        took = (meter.clock() - invoked).total_seconds()
        busy += took
        if reconciling.is_over:
            break
        meter.clock.pass_by(max(0.0, _INVOCATION - took))  # until the schedule's next invocation
    return {
        "size": size,
        "found": dict(found),
        "expected": _expected(planted),
        "simulated": (meter.clock() - began).total_seconds(),
        "busy": busy,
        "computed": time.process_time() - computed,
        "invocations": invocations,
        "requests": dict(meter.requests),
        "reads": meter.reads,
        "writes": meter.writes,
        "bookmark": meter.largest_bookmark,
        "before": before,
        "peak": _peak(),
    }


def _expected(planted: Planted) -> dict[str, int]:
    return {
        Kind.OBJECT_WITHOUT_RECORD: len(planted.unrecorded),
        Kind.RECORD_WITHOUT_OBJECT: len(planted.gone),
        Kind.WRONG_COUNTS: len(planted.miscounted),
        Kind.TEXT_WITHOUT_DOCUMENT: len(planted.read_twice),
        Kind.MISSING_FROM_INDEX: len(planted.unlisted),
        Kind.INDEXED_WITHOUT_RECORD: len(planted.orphans),
    }


def _peak() -> float:
    """Return mebibytes; Linux reports kibibytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(data: dict[str, Any]) -> bool:
    """Print the aims, and return True if all are met."""
    size, requests = data["size"], Counter(data["requests"])
    listings = requests["ListKnowledgeBaseDocuments"] + requests["GetKnowledgeBaseDocuments"]
    is_found: bool = data["found"] == data["expected"]
    is_kept: bool = data["bookmark"] < _BOOKMARK
    grown: float = data["peak"] - data["before"]
    print(f"\n{size:,} documents")
    print(f"  planted, and found           {sum(data['expected'].values())}, {data['found']}")
    print(f"                               {verdict(is_found)}: all of them, and nothing else")
    print(f"  a round takes                {data['simulated'] / 60:12,.1f} min, simulated")
    print(f"  of these at work             {data['busy'] / 60:12,.1f} min")
    print(f"  invocations                  {data['invocations']:12,}")
    print(f"  documents a minute           {size / data['simulated'] * 60:12,.0f}, simulated")
    print(f"  documents a minute, computed {size / data['computed'] * 60:12,.0f}, on one core here")
    print(f"  requests for documents       {listings:12,}, at most one a second")
    for operation, times in sorted(requests.items(), key=lambda each: -each[1]):
        print(f"    {operation:<27}{times:12,}")
    print(f"  read units, write units      {data['reads']:12,.0f} {data['writes']:12,.0f}")
    print(f"  largest bookmark             {data['bookmark']:12,} bytes, ", end="")
    print(f"{verdict(is_kept)}: below {_BOOKMARK:,}")
    print(
        f"  peak of memory               {data['peak']:12,.0f} MiB, {grown:,.0f} of it the round's"
    )
    print(
        f"                               {verdict(grown < _AIM_MEBIBYTES)}: below {_AIM_MEBIBYTES}"
    )
    return is_found and grown < _AIM_MEBIBYTES and is_kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.reconciler")
    parser.add_argument("--full", action="store_true", help="up to five million documents")
    parser.add_argument("--size", type=int, help="that many alone, printed as JSON")
    given = parser.parse_args()
    if given.size:
        print(json.dumps(measured(given.size)))
        return
    met = []
    for size in FULL if given.full else SIZES:
        command = [sys.executable, "-m", "benchmarks.reconciler", "--size", str(size)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        met.append(report(json.loads(answer.stdout)))
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
