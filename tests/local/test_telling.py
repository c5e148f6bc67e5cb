"""What the tables of the command line say of stages and receipts."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from stackroom.model import Document, DocumentStatus, Receipt
from stackroom_local.cli.receipting import receipts_told as told
from stackroom_local.cli.telling import overview
from stackroom_local.records import CatalogListing

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


def test_a_settled_document_has_no_stage_and_a_failed_one_its_reason() -> None:
    failed = WAITING.moved(DocumentStatus.FAILED, at=NOON, reason="the file is empty")

    shown = printed(overview([CatalogListing("ada", "home", (failed,))], speed=1))

    assert "the file is empty" in shown
    assert "to go" not in shown


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "being removed"),
        ({"not_found_at": NOON}, "being removed"),
        (
            {"unsearchable_since": NOON + timedelta(seconds=7)},
            "unsearchable since 2026-03-01 12:00:07Z",
        ),
        (
            {"unsearchable_since": NOON, "waited_until": NOON},
            "unsearchable since 2026-03-01 12:00:00Z, no search before 2026-03-01 12:00:00Z"
            " counted",
        ),
        ({"superseded_at": NOON}, "dropped again 2026-03-01 12:00:00Z"),
    ],
)
def test_a_receipt_says_removed_only_when_no_search_finds_the_document(
    changes: dict[str, datetime], end: str
) -> None:
    line, times = printed(told([ASKED.model_copy(update=changes)])).rstrip().splitlines()

    assert line == "rcpt-1  a.txt"
    assert times.split("asked 2026-03-01 12:00:00Z  ")[1] == end


def test_a_receipt_of_a_lost_file_says_that_nobody_asked() -> None:
    shown = printed(told([ASKED.model_copy(update={"lost": True})]))

    assert "lost, missed since 2026-03-01 12:00:00Z" in shown
    assert "asked" not in shown
