"""The documents of a page as a tree of the folders that their names have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stackroom_console.pages.document_rows import Row

_DEEPEST = 6  # levels that are indented; what lies deeper stands below each other


@dataclass(frozen=True, kw_only=True)
class Folder:
    """The head of the rows of a folder; `within` is the path of the folder that holds it."""

    path: str
    name: str
    within: str
    depth: int


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A document, whose name is `name` within its folder."""

    row: Row
    name: str
    within: str
    depth: int


def tree_of(rows: Sequence[Row]) -> list[Folder | Leaf]:
    """Return the rows in their order, with a head wherever another folder begins."""
    found: list[Folder | Leaf] = []
    last = ""
    for row in rows:
        folder = _folder(row)
        found += _heads(last, folder)
        found.append(_leaf(row, folder))
        last = folder
    return found


def flat(rows: Sequence[Row]) -> list[Folder | Leaf]:
    """Return the rows with their whole names, as orders without regard to folders have them."""
    return [Leaf(row=each, name=each.filename, within="", depth=0) for each in rows]


def _folder(row: Row) -> str:
    return row.filename.rpartition("/")[0]


def _leaf(row: Row, folder: str) -> Leaf:
    name = row.filename.rpartition("/")[2]
    depth = len(folder.split("/")) if folder else 0
    return Leaf(row=row, name=name, within=folder, depth=min(depth, _DEEPEST))


def _heads(last: str, folder: str) -> Iterator[Folder]:
    """Yield those that the row above is not in."""
    parts = folder.split("/") if folder else []
    for depth in range(len(parts)):
        path, within = "/".join(parts[: depth + 1]), "/".join(parts[:depth])
        if not f"{last}/".startswith(f"{path}/"):
            yield Folder(path=path, name=parts[depth], within=within, depth=min(depth, _DEEPEST))
