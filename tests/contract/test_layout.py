"""A file of the product is short enough to be read at a sitting, or says why it is not."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("src", "functions", "infra", "statemachines")
LINES = 200
REASON = "Over 200 lines:"


def test_a_file_has_at_most_200_lines_or_says_why_in_its_first() -> None:
    found = {str(path.relative_to(ROOT)): _complaint(path.read_text("utf-8")) for path in _files()}

    assert {name: complaint for name, complaint in found.items() if complaint} == {}


@pytest.mark.parametrize(
    ("docstring", "lines", "complaint"),
    [
        ("What it is for.", 200, None),
        ("What it is for.", 201, "has 201 lines and gives no reason"),
        ("What it is for.\n\nOver 200 lines: one table, which nobody reads in parts.", 201, None),
        ("What it is for.\n\nOver 200 lines:", 201, "has 201 lines and gives no reason"),
        ("For what is over 200 lines: sentences.", 201, "has 201 lines and gives no reason"),
        ("What it is for.\n\nOver 200 lines: so it was.", 200, "gives a reason and needs none"),
    ],
)
def test_a_reason_is_a_line_of_the_docstring_where_one_is_needed(
    docstring: str, lines: int, complaint: str | None
) -> None:
    text = f'"""{docstring}"""\n'

    text += "\n" * (lines - len(text.splitlines()))

    assert _complaint(text) == complaint


def _files() -> list[Path]:
    return [path for root in PRODUCT for path in sorted((ROOT / root).rglob("*.py"))]


def _complaint(text: str) -> str | None:
    lines = len(text.splitlines())
    stated = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    reasons = [line for line in stated if line.startswith(REASON) and line != REASON]
    if lines > LINES and not reasons:
        return f"has {lines} lines and gives no reason"
    if lines <= LINES and reasons:
        return "gives a reason and needs none"
    return None
