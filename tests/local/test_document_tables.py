"""Stages and receipts in the tables of the command line."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from stackroom.model.records import Document, DocumentStatus, Receipt
from stackroom.runs.estimates import (
    CatalogEstimate,
    DocumentEstimate,
    DocumentStage,
    QueuePosition,
)
from stackroom_cli.deletion import receipts_text
from stackroom_cli.document_tables import overview
from stackroom_cli.json_output import DocumentTold
from stackroom_cli.own_documents import table_of
from stackroom_cli.sites.site_records import CatalogListing, listed
from tests.support.records import a_catalog

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAITING = Document(
    catalog_id="cat-1",
    document_id="doc-1",
    filename="a.txt",
    s3_key="ada/home/a.txt",
    status=DocumentStatus.PENDING,
    uploaded_at=NOON,
    updated_at=NOON,
)
ASKED = Receipt(
    receipt_id="rcpt-1",
    user_id="ada",
    catalog_id="cat-1",
    document_id="doc-1",
    filename="a.txt",
    asked_at=NOON,
)


def printed(what: RenderableType) -> str:
    out = Console(file=StringIO(), width=200)
    out.print(what)
    assert isinstance(out.file, StringIO), "given above"
    return out.file.getvalue()


def listing(estimate: DocumentEstimate, position: QueuePosition | None = None) -> CatalogListing:
    return CatalogListing(
        "ada", "home", (WAITING,), estimates={"doc-1": estimate}, queue_position=position
    )


def test_waiting_document_shows_queue_position_attempt_and_time_left() -> None:
    estimate = DocumentEstimate(
        document=WAITING, stage=DocumentStage.WAITING, attempt=2, eta_seconds=1200, so_far_seconds=0
    )

    shown = printed(overview([listing(estimate, QueuePosition(position=3, length=8))], speed=10))

    stage = "waiting for its turn, number 3 of 8 in the queue, attempt 2, about 2m to go"
    assert stage in shown


def test_an_indexed_document_is_shown_with_its_gaps() -> None:
    gap = "1 of 2 pages looks garbled: 2"
    indexed = WAITING.moved(DocumentStatus.INDEXED, at=NOON).model_copy(update={"gaps": (gap,)})
    own = DocumentTold.of(indexed, "home", stage=None, eta_seconds=None)

    shown = printed(overview([CatalogListing("ada", "home", (indexed,))], speed=1))
    shown_to_its_owner = printed(table_of([own]))

    assert f"with gaps: {gap}" in shown
    assert f"with gaps: {gap}" in shown_to_its_owner
    assert own.gaps == (gap,)


def test_documents_that_are_not_listed_are_counted_by_status() -> None:
    one = DocumentEstimate(document=WAITING, stage=DocumentStage.WAITING, so_far_seconds=0)
    catalog = a_catalog(document_count=1_204, waiting_count=104, failed_count=70, over_count=30)
    seen = CatalogEstimate(
        catalog=catalog, queue_position=None, eta_seconds=None, documents=(one,), is_whole=False
    )

    _, _, others, total = printed(overview([listed(seen)], speed=1)).splitlines()

    assert others.split("\t")[4] == "… and 1,203 more: 133 pending, 1,000 indexed, 70 failed"
    assert total == "134 pending, 1,000 indexed, 70 failed"


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "being removed"),
        (
            {"unsearchable_since": NOON + timedelta(seconds=7)},
            "unsearchable since 2026-03-01 12:00:07Z",
        ),
        ({"found_again_at": NOON}, "being removed, found again 2026-03-01 12:00:00Z"),
    ],
)
def test_receipt_closes_only_when_no_search_finds_the_document(
    changes: dict[str, datetime], end: str
) -> None:
    line, times = printed(receipts_text([ASKED.model_copy(update=changes)])).rstrip().splitlines()

    assert line == "rcpt-1  a.txt"
    assert times.split("requested 2026-03-01 12:00:00Z  ")[1] == end


def test_pipe_gets_tab_separated_cells_and_narrow_terminal_whole_reasons() -> None:
    reason = "it has no catalog folder; drop it under ada/{catalog}/ and it is taken up at once"
    failed = WAITING.moved(DocumentStatus.FAILED, at=NOON, reason=reason)
    shown = overview([CatalogListing("ada", "home", (failed,))], speed=1)
    narrow = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)

    narrow.print(shown)

    head, row, _ = printed(shown).splitlines()
    assert head.split("\t") == ["Status", "Age", "Document", "Size", "Stage or reason"]
    assert [row.split("\t")[at] for at in (0, 2, 3, 4)] == [
        *("failed", "ada/home/a.txt", "0 B", reason)
    ]
    assert isinstance(narrow.file, StringIO), "given above"
    lines = narrow.file.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert set(reason.split()) <= set(" ".join(lines).split())
