"""docs/architecture.md against the code: the packages and their arrows, the files that it names."""

import re
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PICTURE = TEXT.split("```mermaid")[1].split("```")[0]
DRAWN = set(re.findall(r"^ +(\w+)(?:\[.*?\])? --> (\w+)", PICTURE, re.MULTILINE))
OUTSIDE = {"functions", "stackroom_agents", "stackroom_console", "stackroom_local"}
SHARED = {path.stem for path in (ROOT / "src" / "stackroom").glob("*.py")} | {"ports"}
PACKAGES = {
    path.name for path in (ROOT / "src" / "stackroom").iterdir() if (path / "__init__.py").exists()
} - SHARED
# Where a file of the tables may lie.
HOMES = ("", "src", "src/stackroom", "src/stackroom_local")


def imports_between_packages() -> set[tuple[str, str]]:
    graph = grimp.build_graph("stackroom")
    found = set()
    for module in graph.modules - {"stackroom"}:
        for imported in graph.find_modules_directly_imported_by(module) - {"stackroom"}:
            pair = (module.split(".")[1], imported.split(".")[1])
            if set(pair) <= PACKAGES and pair[0] != pair[1]:
                found.add(pair)
    return found


def reachable_from(package: str) -> set[str]:
    direct = {below for above, below in DRAWN if above == package}
    return direct.union(*(reachable_from(each) for each in direct))


def test_every_package_is_in_the_picture() -> None:
    assert {name for pair in DRAWN for name in pair} == PACKAGES | OUTSIDE


def test_every_arrow_is_an_import() -> None:
    within = {(above, below) for above, below in DRAWN if above not in OUTSIDE}

    assert within <= imports_between_packages()


def test_every_import_goes_along_the_arrows() -> None:
    found = imports_between_packages()

    assert found
    assert {pair for pair in found if pair[1] not in reachable_from(pair[0])} == set()


def test_every_file_that_it_names_is_there() -> None:
    named = set(re.findall(r"`(\w+/[\w/]*(?:\.\w+)?)`", TEXT)) | set(
        re.findall(r"\b((?:tests|statemachines|functions|infra|docs)/[\w/]+\.\w+)", TEXT)
    )

    lost = {name for name in named if not any((ROOT / home / name).exists() for home in HOMES)}

    assert named
    assert not lost
