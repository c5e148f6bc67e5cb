"""
What one drop costs by what lies in its catalog already: DynamoDB's units, and memory.

First the whole pipeline in simulated time, billed by benchmarks/metering.py. The catalogs are
filled in memory: every record is the same indexed document under an id of its own, and the counters
say how many there are. Whoever read them all would be billed for each, and hold a list of them.
Memory is the peak of what Python allocates from the drop until it is settled.

Then the store's part of the same drop on a DynamoDB of this machine, by the adapter that AWS gets:
the units are those that it says it has consumed. There a catalog is filled by BatchWriteItem, which
is why it stays small.
"""

import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
from rich.console import Console
from rich.table import Table

from benchmarks.stage import Stage
from benchmarks.traffic import Upload
from simulator.tests.running import ministack
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_items import Books, DocumentWrite
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.documents.keys import Location, locate
from stackroom.documents.model import Document, DocumentStatus
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE, create_tables
from tests.support.records import a_catalog, a_document

SIZES = (10, 1_000, 100_000, 1_000_000)
ON_THE_WIRE = (10, 1_000, 10_000)
# Of the largest catalog to the smallest: what the aim calls flat.
FLAT = 1.1

_FIRST, _DROPPED = "alice/research/first.txt", "alice/research/dropped.txt"
_AT_MOST = 3600.0  # simulated seconds
_BATCH = 25  # of BatchWriteItem [DynamoDB API reference]
_NOW = datetime(2026, 11, 23, tzinfo=UTC)
_CREDENTIALS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}


@dataclass(frozen=True, kw_only=True)
class DropCost:
    documents: int
    reads: float
    writes: float
    kilobytes: float | None = None


def simulated(documents: int) -> DropCost:
    stage = Stage(seed=1)
    _drop(stage, _FIRST)
    _fill(stage, documents)
    before = Counter(stage.account.bill.amounts)
    tracemalloc.start()
    _drop(stage, _DROPPED)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    after = stage.account.bill.amounts
    return DropCost(
        documents=documents,
        reads=after["dynamodb reads"] - before["dynamodb reads"],
        writes=after["dynamodb writes"] - before["dynamodb writes"],
        kilobytes=peak / 1000,
    )


def _drop(stage: Stage, key: str) -> None:
    """One file, until it is indexed and the pipeline is still."""
    stage.upload(Upload(key=key, size=20_000, etag=key, at=0.0))
    stage.run(at_most=_AT_MOST, until=stage.is_quiet)
    assert stage.is_quiet(), f"{key} was not settled in {_AT_MOST:.0f} simulated seconds"


def _fill(stage: Stage, documents: int) -> None:
    place = locate(_FIRST)
    assert isinstance(place, Location), "it has its place"
    there = stage.stores.documents
    first = there.kept[(place.catalog_id, place.document_id)]
    assert first.status is DocumentStatus.INDEXED, "the first drop was settled"
    ids = [f"doc-{number:024}" for number in range(documents - 1)]
    there.shelves[place.catalog_id] |= dict.fromkeys(ids, first)
    there.kept |= {(place.catalog_id, each): first for each in ids}
    catalogs = stage.stores.catalogs.kept
    counts = {"document_count": documents, "total_bytes": documents * first.size}
    catalogs[place.catalog_id] = catalogs[place.catalog_id].model_copy(update=counts)


class Wire:
    """A DynamoDB of this machine, and what was consumed there."""

    def __init__(self, endpoint: str) -> None:
        self.client = boto3.client("dynamodb", endpoint_url=endpoint, **_CREDENTIALS)
        self.consumed: Counter[str] = Counter()
        events = self.client.meta.events
        events.register("provide-client-params.dynamodb", self._ask)
        events.register("after-call.dynamodb", self._count)
        create_tables(self.client)
        self.documents = DynamoDocuments(client=self.client, table=CATALOG_TABLE)
        self.catalogs = DynamoCatalogRegister(
            client=self.client, table=CATALOG_TABLE, control_table=CONTROL_TABLE
        )

    def fill(self, catalog_id: str, documents: int) -> None:
        for start in range(0, documents, _BATCH):
            numbers = range(start, min(start + _BATCH, documents))
            puts: list[Any] = [
                {"PutRequest": {"Item": _item(catalog_id, each)}} for each in numbers
            ]
            self.client.batch_write_item(RequestItems={CATALOG_TABLE: puts})

    def drop(self, number: int, catalog_id: str) -> DropCost:
        """What uploads, a run and its settlement ask of the store for one file."""
        self.consumed.clear()
        self.documents.get(catalog_id, f"doc-{number:04}")
        self.catalogs.get(catalog_id)
        new = a_document(number, catalog_id=catalog_id, updated_at=_NOW, size=20_000)
        self.documents.save(new)
        [taken] = self.documents.open_in(catalog_id)
        [bound] = self.documents.save_all([taken.moved(DocumentStatus.INDEXING, at=_NOW)])
        self.documents.save_all([_indexed(bound)])
        self.catalogs.settle_status(catalog_id, at=_NOW)
        assert not list(self.documents.open_in(catalog_id)), "it is settled"
        return DropCost(
            documents=number, reads=self.consumed["reads"], writes=self.consumed["writes"]
        )

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _count(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        kind = "reads" if model.name in ("GetItem", "BatchGetItem", "Query") else "writes"
        for each in consumed if isinstance(consumed, list) else [consumed]:
            # Units may be halves, which Counter's type doesn't know.
            self.consumed[kind] += each["CapacityUnits"]


def _indexed(document: Document) -> Document:
    return document.moved(DocumentStatus.INDEXED, at=_NOW).model_copy(update={"indexed_at": _NOW})


def _item(catalog_id: str, number: int) -> dict[str, Any]:
    document = _indexed(a_document(number, catalog_id=catalog_id, version=1))
    return DocumentWrite(books=Books(document=document), kept=document).item


@contextmanager
def wire() -> Iterator[Wire]:
    with ministack() as endpoint:
        yield Wire(endpoint)


def on_the_wire() -> list[DropCost]:
    costs = []
    with wire() as there:
        for number, documents in enumerate(ON_THE_WIRE):
            catalog = there.catalogs.open(a_catalog(number))
            there.fill(catalog.catalog_id, documents)
            costs.append(there.drop(documents, catalog.catalog_id))
    return costs


def _table(title: str, costs: list[DropCost]) -> Table:
    table = Table(title=title, box=None, title_justify="left", header_style="bold")
    for name in ("documents there", "read units", "write units", "peak kB"):
        table.add_column(name, justify="right")
    for each in costs:
        memory = "" if each.kilobytes is None else f"{each.kilobytes:,.0f}"
        table.add_row(f"{each.documents:,}", f"{each.reads:.1f}", f"{each.writes:.1f}", memory)
    return table


def _grows(costs: list[DropCost]) -> bool:
    first, last = costs[0], costs[-1]
    pairs = [(first.reads, last.reads), (first.writes, last.writes)]
    if first.kilobytes is not None and last.kilobytes is not None:
        pairs.append((first.kilobytes, last.kilobytes))
    return any(much > FLAT * little for little, much in pairs)


def main() -> int:
    out = Console()
    in_all = [simulated(documents) for documents in SIZES]
    out.print(_table("One drop, all of the pipeline, in simulated time", in_all))
    of_the_store = on_the_wire()
    out.print()
    out.print(_table("The store's part of it, by the adapter, on this machine", of_the_store))
    grows = _grows(in_all) or _grows(of_the_store)
    out.print(f"\naim: the same whatever lies there, within {FLAT - 1:.0%}: ", end="")
    out.print("missed" if grows else "held")
    return int(grows)


if __name__ == "__main__":
    sys.exit(main())
