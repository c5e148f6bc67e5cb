"""The operations page at one moment: as much as a page takes, and each part by itself."""

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from stackroom.catalogs import overview
from stackroom.catalogs.metering import MonthPage
from stackroom.catalogs.overview import (
    COST,
    DISCREPANCIES,
    Backlogs,
    Board,
    Graph,
    Operations,
    Pool,
    Reading,
)
from stackroom.errors import FiguresNotRead, StoreUnavailable
from stackroom.model.records import SERVICE_FAILURE, Catalog, Document, DocumentStatus, Receipt
from stackroom.model.repositories import ListingPage
from stackroom.runs.evidence import FAILURES
from stackroom.runs.inventory import Inventory
from stackroom.runs.run_leases import RunExecution
from tests.fakes.admission import FakeAdmissionBook
from tests.fakes.pipeline import FakeSlots
from tests.support.records import NOW, a_catalog, a_document

NOON = NOW.replace(hour=12, minute=0)


@dataclass
class Listed:
    """Catalogs, and what is open or failed in each; `read` counts documents that were asked for."""

    catalogs: Sequence[Catalog] = ()
    failed: dict[str, list[Document]] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    def all_catalogs(self, _cursor: str | None) -> ListingPage[Catalog]:
        return ListingPage(items=self.catalogs, next="later")

    def open_in(
        self, _catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        return iter(())

    def over_in(self, _catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        return iter(())

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        for each in self.failed[catalog_id][:limit]:
            self.read.append(each.document_id)
            yield each


@dataclass
class Boards:
    """The dashboard; its cost is a dollar for each point since `start`."""

    fails: bool = False
    gate: threading.Event | None = None
    asked: list[tuple[datetime | None, Collection[str]]] = field(default_factory=list)

    def read(
        self, *, end: datetime, start: datetime | None = None, titles: Collection[str] = ()
    ) -> Board:
        if self.gate is not None:
            self.gate.wait(60)
        if self.fails:
            raise FiguresNotRead("GetMetricData", "AccessDenied")
        self.asked.append((start, titles))
        points = {end - timedelta(minutes=5 * each): 1.0 for each in range(3)}
        ask = (
            Reading("done ask", points),
            Reading("failed ask", {end: 1.0}),
            Reading("p90 (ms) ask", {end: 250.0, NOON: 500.0}),
        )
        graphs = (
            Graph(title=COST, lines=(Reading("ingest", points), Reading("retrieve", {}))),
            Graph(title=DISCREPANCIES, lines=(Reading("orphan", points),)),
            Graph(title="Ask", lines=ask),
            Graph(title="Chat", lines=(Reading("done", {}), Reading("p90 (s)", {}))),
        )
        told = tuple(each for each in graphs if each.title in titles)
        region = "us-east-1"
        return Board(name="b", region=region, start=start or end, end=end, alarms={}, graphs=told)


class Runs:
    def newest(self, *, limit: int, failed: int) -> list[RunExecution]:
        assert (limit, failed) == (25, 5)
        return [RunExecution(name="cat-1-7", arn="arn:7", status="RUNNING", began_at=NOON)]


class Month:
    def page(self, *, after: str | None) -> MonthPage:
        return MonthPage(month="2026-11", users=(), next=None)


@dataclass
class Receipts:
    kept: Sequence[Receipt] = ()
    fails: bool = False

    def open_ones(self, *, limit: int) -> list[Receipt]:
        if self.fails:
            raise StoreUnavailable("Query", "Throttling")
        return list(self.kept[:limit])


def operations(
    *,
    listed: Listed | None = None,
    boards: Boards | None = None,
    receipts: Receipts | None = None,
    **more: Any,
) -> Operations:
    listed = listed or Listed()
    return Operations(
        backlogs=Backlogs(
            inventory=cast("Inventory", listed), documents=listed, estimates=cast("Any", None)
        ),
        pool=Pool(members=(), slots=FakeSlots(), book=FakeAdmissionBook()),
        receipts=receipts or Receipts(),
        boards=boards or Boards(),
        runs=Runs(),
        metering=cast("Any", Month()),
        now=lambda: NOON,
        **more,
    )


def with_failures(number: int, reasons: Sequence[str]) -> tuple[Catalog, list[Document]]:
    catalog = a_catalog(number, failed_count=len(reasons))
    failed = [
        a_document(
            catalog_id=catalog.catalog_id,
            document_id=f"doc-{number}-{each:03}",
            status=DocumentStatus.FAILED,
            status_reason=reason,
        )
        for each, reason in enumerate(reasons)
    ]
    return catalog, failed


def test_failures_are_counted_by_reason_with_some_ids() -> None:
    first, failed = with_failures(1, ["too large"] * 7 + ["damaged"])
    second, others = with_failures(2, ["damaged"])
    listed = Listed([first, second], {first.catalog_id: failed, second.catalog_id: others})

    seen = operations(listed=listed).overview().backlog

    assert seen is not None
    assert [(each.reason, each.count) for each in seen.failures] == [
        ("too large", 7),
        ("damaged", 2),
    ]
    assert [each.document_id for _, each in seen.failures[0].documents] == [
        f"doc-1-{each:03}" for each in range(5)
    ]
    assert (seen.failed_documents, seen.unexplained, seen.next) == (9, 0, "later")


@pytest.mark.parametrize(
    ("reason", "is_unusable"),
    [
        ("the PDF is damaged or cut off; export it again and upload that", True),
        ("File type '.dwg' not supported", True),
        (SERVICE_FAILURE, False),
        *((each, False) for each in FAILURES.values()),
    ],
)
def test_failures_of_bedrock_are_no_files_that_owners_must_fix(
    reason: str, *, is_unusable: bool
) -> None:
    catalog, failed = with_failures(1, [reason])

    seen = operations(listed=Listed([catalog], {catalog.catalog_id: failed})).overview().backlog

    assert seen is not None
    assert [each.is_unusable for each in seen.failures] == [is_unusable]
    assert seen.unusable_files == is_unusable


def test_operations_read_only_what_the_page_shows_and_count_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overview, "CATALOGS_READ", 2)
    monkeypatch.setattr(overview, "DOCUMENTS", 3)
    made = [with_failures(number, ["damaged"] * number) for number in (1, 5, 4)]
    listed = Listed(
        [catalog for catalog, _ in made], {each.catalog_id: failed for each, failed in made}
    )

    seen = operations(listed=listed).overview().backlog

    assert seen is not None
    assert len(listed.read) == 6  # of the two that have most
    assert (seen.failed_documents, seen.unexplained) == (10, 4)


def test_metrics_are_read_once_a_minute_however_often_the_page_is_open() -> None:
    boards = Boards()
    looking = operations(boards=boards)

    for _ in range(3):
        looking.overview()

    assert len(boards.asked) == 3  # signals, discrepancies, and the cost since midnight


def test_failing_part_of_operations_is_named_and_the_rest_is_shown() -> None:
    seen = operations(boards=Boards(fails=True), receipts=Receipts(fails=True)).overview()

    assert dict(seen.missing) == {
        "receipts": "Query answered Throttling",
        "the dashboard's figures": "GetMetricData answered AccessDenied",
    }
    assert (seen.figures, seen.deletions) == (None, None)
    assert seen.backlog is not None
    assert seen.pool == ()


def test_operations_page_gives_up_slow_parts_in_time() -> None:
    gate = threading.Event()

    seen = operations(boards=Boards(gate=gate), seconds=1.0).overview()

    gate.set()
    assert set(seen.missing) == {"the dashboard's figures"}
    assert seen.backlog is not None
