"""What `stackroom ask` prints of the passages that it found."""

from io import StringIO

import pytest
from rich.console import Console

from stackroom_local.cli.asking import print_passages


def printed(*results: dict[str, object], **metadata: object) -> list[str]:
    out = Console(file=StringIO(), width=200)
    print_passages(out, {"success": True, "results": results, "metadata": metadata})
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()


def a_source(**place: object) -> dict[str, object]:
    return {"filename": "a[1].docx", "page": None, "section": None, **place}


def where(**place: object) -> str:
    """The line that names the place of a passage."""
    found = {"content": "48 euros", "source": a_source(**place), "score": 0.5}
    return printed(found)[0].removesuffix("  score 0.50")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, ""),
        ({"page": 2, "section": "Travel"}, ", page 2, section Travel"),
        ({"section": "Travel\x1b[2J"}, ", section Travel\\x1b[2J"),
    ],
)
def test_a_passage_is_printed_with_its_page_and_section(
    place: dict[str, object], told: str
) -> None:
    assert where(**place) == f"[1] a[1].docx{told}"


def test_what_another_file_says_too_is_printed_once_with_both() -> None:
    found = {"content": "48 euros", "source": a_source(), "score": 0.5}

    lines = printed({**found, "other_sources": [a_source(filename="b.pdf", page=3)]})

    assert lines[1:] == ["    the same in b.pdf, page 3", "    48 euros"]


def test_a_question_without_an_answer_is_told_apart_from_nothing_there() -> None:
    assert printed() == ["nothing found in this user's documents"]
    assert printed(best_score_below=0.314) == [
        "nothing in this user's documents speaks to this; the nearest passage scores 0.31"
    ]
    assert printed(best_score_below=0.314, nearest=a_source(page=2)) == [
        "nothing certain; nearest: a[1].docx, page 2",
        "--nearest shows it",
    ]
