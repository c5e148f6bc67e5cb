"""Tables, aligned for a terminal or in Markdown."""

from collections.abc import Sequence

Row = Sequence[str]


def aligned(rows: Sequence[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  "
        + row[0].ljust(widths[0])
        + "".join(
            "   " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        for row in rows
    )


def markdown(rows: Sequence[Row]) -> str:
    heads, *rest = rows
    rule = ["---", *("--:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rest))
