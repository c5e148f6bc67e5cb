"""`status --watch` shows the most important documents first and never outgrows its window."""

from collections.abc import Iterable
from io import StringIO

import pytest
from rich.cells import cell_len

from stackroom.model.records import Document, DocumentStatus
from stackroom_cli.live_status import window
from stackroom_cli.output import TerminalConsole
from stackroom_cli.sites.site_records import CatalogListing
from tests.local.watched_documents import a_document, some

SIZES = [(80, 24), (200, 50)]


def lines_of(listing: CatalogListing, *, width: int = 80, height: int = 24) -> list[str]:
    out = TerminalConsole(file=StringIO(), width=width)
    out.print(window([listing], width=width, height=height, speed=1))
    assert isinstance(out.file, StringIO), "given above"
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


def shown(documents: Iterable[Document], *, width: int = 80, height: int = 24) -> list[str]:
    listing = CatalogListing("ada", "home", tuple(documents))
    return lines_of(listing, width=width, height=height)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_window_is_never_outgrown_and_always_ends_with_the_totals(
    width: int, height: int
) -> None:
    documents = [
        *some(DocumentStatus.INDEXED, 3800),
        *some(DocumentStatus.FAILED, 20, reason="the file is empty " * 30),
        *some(DocumentStatus.PENDING, 30),
        a_document("長い名前" * 60 + ".txt", DocumentStatus.INDEXING),
    ]

    lines = shown(documents, width=width, height=height)

    assert len(lines) == height
    assert all(cell_len(line) <= width for line in lines)
    assert lines[-1] == "3,851 documents: 20 failed, 1 indexing, 30 pending, 3800 indexed"


def test_window_shows_failed_then_moving_then_indexed_documents() -> None:
    documents = [
        *some(DocumentStatus.INDEXED, 500),
        *some(DocumentStatus.PENDING, 2),
        *some(DocumentStatus.FAILED, 1, reason="the file is empty"),
        *some(DocumentStatus.INDEXING, 2),
    ]

    rows = shown(documents)[1:-1]

    assert [row.split()[0] for row in rows[:5]] == [
        *("failed", "indexing", "indexing", "pending", "pending")
    ]
    assert "the file is empty" in rows[0]
    assert "indexed-0000.txt" in rows[5]
    assert {row.split()[0] for row in rows[5:]} == {"indexed"}


def test_a_name_cannot_turn_its_line_or_begin_another() -> None:
    hostile = a_document("invoice\u202etxt.exe\n\x1b[2J", DocumentStatus.FAILED, reason="a\u2066b")

    lines = shown([hostile], width=200)

    assert "invoice\\u202etxt.exe\\n\\x1b[2J" in lines[1]
    assert "a\\u2066b" in lines[1]
    assert len(lines) == 3
