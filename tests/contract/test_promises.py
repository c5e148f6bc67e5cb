"""Each promise of docs/promises.md has its tests, and the lower one runs with every change."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.tiers import is_run, path_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "promises.md"
MISSING = "missing"
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| promise ")
]


@cache
def functions_of(file: Path) -> set[str]:
    module = ast.parse(file.read_text("utf-8"))
    return {node.name for node in module.body if isinstance(node, ast.FunctionDef)}


def named(cell: str) -> tuple[Path, str]:
    """Return the file and the name of the test that the cell links to."""
    link = re.fullmatch(r"\[(test_\w+)\]\((\S+/test_\w+\.py)\)", cell)
    assert link is not None, f"{cell!r} is no link to a test"
    return (PAGE.parent / link[2]).resolve(), link[1]


@pytest.mark.parametrize(("promise", "lowest", "end_to_end"), ROWS, ids=[row[0] for row in ROWS])
def test_a_promise_has_its_tests(promise: str, lowest: str, end_to_end: str) -> None:
    for cell in (lowest,) if end_to_end == MISSING else (lowest, end_to_end):
        file, name = named(cell)
        assert name in functions_of(file), f"{promise} {file} has no {name}"

    file, _ = named(lowest)
    assert is_run(path_of(file, ROOT), "test"), f"{promise} `make test` doesn't run {file}"


def test_no_promise_is_made_twice() -> None:
    promises = [row[0] for row in ROWS]

    assert len(promises) == len(set(promises)) >= 20
