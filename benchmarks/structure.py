"""
How large the house is, and how its rooms are: what somebody new has to hold in their head.

    make structure     lines and files, small modules with one importer, homonyms, the longest file
"""

import ast
from collections import defaultdict
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
SHIPPED = (*sorted(ROOT.glob("src/*/")), ROOT / "functions", *ROOT.glob("simulator/src/*/"))
MEASURED = (*SHIPPED, ROOT / "infra", ROOT / "tests")
SMALL = 60  # lines, below which a module that one other imports may as well be a part of it
_EXEMPT = {"__init__", "__main__", "handler"}


def files_of(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def homonyms() -> dict[str, list[Path]]:
    """Modules, and public classes, that are called as another one is: where each of them stands."""
    places: dict[str, list[Path]] = defaultdict(list)
    for path in (each for package in SHIPPED for each in files_of(package)):
        if path.stem not in _EXEMPT:
            places[path.name].append(path)
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[f"class {node.name}"].append(path)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def small_modules() -> dict[str, str]:
    """Modules of less than `SMALL` lines that a single one imports, and which that is."""
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
    top = sorted({each.stem for each in (ROOT / "src/stackroom").iterdir()} - _EXEMPT - {"py"})
    print(f"\n{len(top)} names on the top floor of src/stackroom: {' '.join(top)}")
    small = small_modules()
    print(f"\n{len(small)} modules of less than {SMALL} lines with one importer:")
    for module, importer in small.items():
        print(f"  {module} <- {importer}")
    found = homonyms()
    print(f"\n{len(found)} homonyms:")
    for name, where in found.items():
        print(f"  {name}: {', '.join(str(each.relative_to(ROOT)) for each in where)}")
    longest = max((each for package in MEASURED for each in files_of(package)), key=lines_of)
    print(f"\nlongest file: {longest.relative_to(ROOT)}, {lines_of(longest)} lines")


if __name__ == "__main__":
    main()
