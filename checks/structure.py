"""
Measures the size and structure of the code, and finds names that are used twice.

    make structure     lines and files, small modules with one importer, homonyms, the longest file
    make check         fails if two things share a name, unless that is accepted below
"""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
SHIPPED = (*sorted(ROOT.glob("src/*/")), ROOT / "functions", *ROOT.glob("simulator/src/*/"))
MEASURED = (*SHIPPED, ROOT / "infra", ROOT / "tests")
SMALL = 60  # lines; a smaller module with one importer could be part of that one
_EXEMPT = {"__init__", "__main__", "handler"}
# Folders whose files may have names that are used outside of them, and why.
APART = {
    r"simulator/src/\w+/rules/": "rules are named for what they are about",
    r"simulator/": "another distribution, and both call AWS's things as AWS does",
    r"src/stackroom_client/": "for programs elsewhere, by the words of the tools' answers",
    r"src/stackroom_constructs/": "they declare for the CDK what the product has under that name",
    r"src/stackroom_stores/\w+/": "each store has the same parts",
    r"src/stackroom_console/(pages|api)/": "pages are named for what they show",
    r"src/stackroom_cli/commands/": "commands are named for what they are about",
    r"functions/\w+/": "a function's own, which no other imports",
}
# Single names such as `texts.py` or `class Page`, and why each use of the word is right.
ACCEPTED: dict[str, str] = {
    "class NotKept": "programs are told it by this name, here and at a deployment",
}


def files_of(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def homonyms() -> dict[str, list[str]]:
    """Return the paths of modules and of public classes that share a name, by that name."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in (each for package in SHIPPED for each in files_of(package)):
        if path.stem not in _EXEMPT:
            places[path.name].append(str(path.relative_to(ROOT)))
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[f"class {node.name}"].append(str(path.relative_to(ROOT)))
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def unaccepted() -> list[str]:
    """Return a line for each homonym that isn't accepted, and for each needless acceptance."""
    found, lines = homonyms(), []
    for name, where in found.items():
        folders: dict[str, list[str]] = defaultdict(list)
        for path in where:
            folder = re.match("|".join(APART), path)
            folders[folder[0] if folder else ""].append(path)
        together = [each for each in folders.values() if len(each) > 1 and name not in ACCEPTED]
        lines += [f"{name}: {', '.join(each)}" for each in together]
    return lines + [f"{name}: no homonym any more" for name in ACCEPTED if name not in found]


def small_modules() -> dict[str, str]:
    """Return the only importer of each module with fewer than `SMALL` lines that has just one."""
    graph = grimp.build_graph(*(each.name for each in SHIPPED), cache_dir=None)
    found = {}
    for path in (each for package in SHIPPED for each in files_of(package)):
        package = next(each for each in SHIPPED if each in path.parents)
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        if path.stem not in _EXEMPT and lines_of(path) < SMALL:
            importers = graph.find_modules_that_directly_import(module)
            if len(importers) == 1:
                [found[module]] = importers
    return found


def main() -> None:
    print(f"{'lines':>7}  {'files':>5}")
    for package in MEASURED:
        files = files_of(package)
        lines = sum(map(lines_of, files))
        print(f"{lines:7,}  {len(files):5}  {package.relative_to(ROOT)}")
    core = ROOT / "src/stackroom"
    top = sorted({path.relative_to(core).parts[0] for path in files_of(core)} - {"__init__.py"})
    print(f"\n{len(top)} names on the top floor of src/stackroom: {' '.join(top)}")
    small = small_modules()
    print(f"\n{len(small)} modules of less than {SMALL} lines with one importer:")
    for module, importer in small.items():
        print(f"  {module} <- {importer}")
    found = homonyms()
    print(f"\n{len(found)} homonyms:")
    for name, where in found.items():
        print(f"  {name}: {', '.join(where)}")
    longest = max((each for package in MEASURED for each in files_of(package)), key=lines_of)
    print(f"\nlongest file: {longest.relative_to(ROOT)}, {lines_of(longest)} lines")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit("\n".join(unaccepted()) or None)
    main()
