"""Imports in tests, imports of tests, and the length of their names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("benchmarks", "checks", "docs", "examples", "functions", "infra", "simulated_time"),
    *("simulator", "src", "statemachines", "tests"),
)
OF_TESTS = ("tests/", "simulator/tests/", "conftest.py")


def imported(source: str) -> Iterator[str]:
    """Return each module that the source may import, and each name it takes from one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def imports_of_tests() -> Iterator[tuple[str, str]]:
    """Yield each file by its path, with what it imports from a package of tests."""
    files = [
        *ROOT.glob("*.py"),
        *(path for each in FOLDERS for path in (ROOT / each).rglob("*.py")),
    ]
    for path in files:
        if "tests" not in (source := path.read_text("utf-8")):
            continue
        for name in imported(source):
            if name.startswith(("tests.", "simulator.tests.")):
                yield path.relative_to(ROOT).as_posix(), name


IMPORTS = sorted(set(imports_of_tests()))


def test_no_test_or_helper_imports_a_test() -> None:
    of_tests = [
        f"{path} imports {name}: move what both need into a helper of the suite or tests/support"
        for path, name in IMPORTS
        if any(each.startswith("test_") for each in name.split("."))
    ]

    assert of_tests == []


def test_nothing_but_tests_imports_tests() -> None:
    others = [f"{path} imports {name}" for path, name in IMPORTS if not path.startswith(OF_TESTS)]

    assert others == []


@pytest.mark.parametrize(
    "source",
    ["import tests.a.test_b", "from tests.a import test_b", "from tests.a.test_b import c"],
)
def test_each_form_of_an_import_is_seen(source: str) -> None:
    assert any("tests.a.test_b" in name for name in imported(f"def f():\n    {source}"))


def test_names_of_tests_have_at_most_70_letters() -> None:
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "simulator/tests").rglob("test_*.py")]
    named = re.compile(r"^ *(?:async )?def (test_\w{66,})\(", re.MULTILINE)

    found = [name for path in files for name in named.findall(path.read_text("utf-8"))]

    assert found == []
