"""What came of the comparison: a table to print, and docs/permissions.md."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.permissions.comparison import Comparison, Use
from tests.permissions.roles import Grant

DOCUMENT = Path(__file__).parents[2] / "docs" / "permissions.md"
_HEAD = """\
# Least privilege, seen

Every right of every function, and the part of the product that used it. `make permissions` writes
this page: it has each function do all that it does, in a running local mode and, what is rare, in
simulated time; it records each call of AWS, and holds the calls against the policies of the
synthesised roles and of the bucket. Of {calls} calls, {denied} were not allowed; of {granted}
rights, {unused} were not used.

Not in the tables: what Lambda itself does with a function's role, which is to write its log and its
traces and to read its queue. Calls count for what they need: a look at an object that is not there
needs `s3:ListBucket` too, or S3 answers 403; a transaction needs the rights of its items; a link
the right of whoever signed it.
"""
_ROW = re.compile(r"^\| `(?P<action>[a-z0-9-]+:\w+)` \| `(?P<resource>[^`]+)` \|")


def summary(comparison: Comparison) -> str:
    """A line a function."""
    head = ("function", "calls", "denied", "rights", "unused")
    rows = [head, *(_figures(comparison, name) for name in sorted(comparison.roles))]
    return "\n".join(f"{name:22}" + "".join(f"{each:>8}" for each in row) for name, *row in rows)


def _figures(comparison: Comparison, function: str) -> tuple[str, ...]:
    counts = [
        sum(each.function == function for each in found)
        for found in (comparison.denied, comparison.uses, comparison.unused)
    ]
    return (function, *map(str, [comparison.calls(function), *counts]))


def document(comparison: Comparison) -> str:
    told = _HEAD.format(
        calls=sum(map(comparison.calls, comparison.roles)),
        denied=len(comparison.denied),
        granted=len(comparison.uses),
        unused=len(comparison.unused),
    )
    return "\n".join([told, *(_section(comparison, name) for name in sorted(comparison.roles))])


def documented(text: str) -> Iterator[Grant]:
    """What the page says is granted."""
    function = ""
    for line in text.splitlines():
        if line.startswith("## "):
            function = line.removeprefix("## ")
        elif found := _ROW.match(line):
            yield Grant(function, found["action"], found["resource"])


def _section(comparison: Comparison, function: str) -> str:
    uses = {each: use for each, use in comparison.uses.items() if each.function == function}
    if not uses:
        return f"## {function}\n\nIt calls nothing, and may call nothing.\n"
    rows = (_row(*each) for each in uses.items())
    head = "| action | on | calls | for |\n|---|---|---|---|"
    return "\n".join([f"## {function}\n", head, *rows, ""])


def _row(grant: Grant, use: Use) -> str:
    wanted_by = ", ".join(f"`{each}`" for each in _short(use.wanted_by)) or "nobody"
    return f"| `{grant.action}` | `{grant.resource}` | {use.calls} | {wanted_by} |"


def _short(modules: Iterable[str]) -> list[str]:
    return sorted({each.removeprefix("stackroom.") for each in modules})
