"""Imports of tests, and the length of their names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "simulator/tests")


def imported(source: str) -> Iterator[str]:
    """Return each module that the source may import, and each name it takes from one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_no_test_or_helper_imports_a_test() -> None:
    files = [path for each in FOLDERS for path in (ROOT / each).rglob("*.py")]
    sources = {path: path.read_text("utf-8") for path in files}

    of_tests = [
        f"{path.relative_to(ROOT)} imports {name}: move what both need into a helper of the suite"
        for path, source in sources.items()
        if re.search(r"import .*\btest_|[.]test_", source)
        for name in imported(source)
        if name.startswith(("tests.", "simulator.tests.")) and ".test_" in name
    ]

    assert of_tests == []


def test_names_of_tests_have_at_most_70_letters() -> None:
    files = [path for each in FOLDERS for path in (ROOT / each).rglob("test_*.py")]
    named = re.compile(r"^ *(?:async )?def (test_\w{66,})\(", re.MULTILINE)

    found = [name for path in files for name in named.findall(path.read_text("utf-8"))]

    assert found == []
