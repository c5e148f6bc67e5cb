"""What `status --watch` shows in a window of some size: what matters first, and never too much."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len

from stackroom.model import Document, DocumentStatus
from stackroom_local.cli.window import composed
from stackroom_local.records import CatalogListing

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SIZES = [(80, 24), (200, 50)]


def a_document(
    name: str, status: DocumentStatus, *, reason: str | None = None, age: float = 0
) -> Document:
    at = NOON - timedelta(seconds=age)
    return Document(
        catalog_id="cat-1",
        document_id=f"doc-{name}",
        filename=name,
        s3_key=f"ada/home/{name}",
        status=status,
        status_reason=reason,
        uploaded_at=at,
        updated_at=at,
    )


def some(status: DocumentStatus, count: int, *, reason: str | None = None) -> list[Document]:
    return [
        a_document(f"{status}-{number:04}.txt", status, reason=reason, age=number)
        for number in range(count)
    ]


def shown(documents: Iterable[Document], *, width: int = 80, height: int = 24) -> list[str]:
    listing = CatalogListing("ada", "home", tuple(documents))
    lines = composed([listing], width=width, height=height, speed=1, now=NOON)
    return [line.plain for line in lines]


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
    assert lines[-1] == "3851 documents: 20 failed, 1 indexing, 30 pending, 3800 indexed"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_what_moves_comes_first_and_what_failed_next_and_what_was_indexed_last_in_what_is_left(
    width: int, height: int
) -> None:
    documents = [
        *some(DocumentStatus.INDEXED, 500),
        *some(DocumentStatus.PENDING, 2),
        *some(DocumentStatus.FAILED, 1, reason="the file is empty"),
        *some(DocumentStatus.INDEXING, 2),
    ]

    rows = shown(documents, width=width, height=height)[1:-2]

    assert [row.split()[0] for row in rows[:5]] == [
        *("indexing", "indexing", "pending", "pending", "failed")
    ]
    assert "the file is empty" in rows[4]
    assert "indexed-0000.txt" in rows[5]
    assert {row.split()[0] for row in rows[5:]} == {"indexed"}


def test_a_name_cannot_turn_its_line_or_begin_another() -> None:
    hostile = a_document("invoice\u202etxt.exe\n\x1b[2J", DocumentStatus.FAILED, reason="a\u2066b")

    lines = shown([hostile], width=200)

    assert "invoice\\u202etxt.exe\\n\\x1b[2J" in lines[1]
    assert "a\\u2066b" in lines[1]
    assert len(lines) == 3
