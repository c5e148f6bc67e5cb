"""The documents in examples/: as their sources make them, and as the demo's questions expect."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stackroom.text.extraction import read_pages

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS: list[dict[str, Any]] = json.loads((EXAMPLES / "questions.json").read_text())["questions"]
DOCUMENTS = sorted(path for user in ("alice", "bob") for path in (EXAMPLES / user).rglob("*.*"))


@cache
def pages() -> list[tuple[str, int | None, str]]:
    """Return file, number and text of every page of every example."""
    return [
        (path.relative_to(EXAMPLES).as_posix(), page.number, " ".join(page.text.split()))
        for path in DOCUMENTS
        for page in read_pages(path.read_bytes(), path.name)
    ]


def pages_with(phrase: str) -> list[tuple[str, int | None]]:
    """File and page of every page of every example on which the phrase stands."""
    return [(file, number) for file, number, text in pages() if phrase in text]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each["question"])
def test_answer_is_in_exactly_the_expected_place(
    question: dict[str, Any],
) -> None:
    assert question["file"].startswith(f"{question['user']}/")
    assert pages_with(question["phrase"]) == [(question["file"], question["page"])]
