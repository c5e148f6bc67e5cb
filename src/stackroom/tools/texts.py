"""Format names, sizes, scores and times in a tool's text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from stackroom.access.tool import is_plain
from stackroom.model.records import Document

_KB, _MB = 1024, 1024**2

# For a person; a model is told `search.ranking.WEAK_NOTICE`.
WEAK = "These passages may not answer your question."


def quotable(name: str) -> str:
    """
    Return a name so that it can stand in quotes within a line.

    Owners choose their names: none may end its quotes, or begin a line that reads as the tool's
    own.
    """
    # Printable text is plain: it holds no control or format character, and no line break.
    plain = name if name.isprintable() else "".join(c if is_plain(c) else " " for c in name)
    return " ".join(plain.split()).replace("'", "’")


def cell(text: str) -> str:
    """Return a name so that it can stand in a table."""
    return quotable(text).replace("|", "\\|")


def place(filename: str | None, page: int | None, section: str | None) -> str:
    """Return the place of a passage, as far as it is known."""
    file = quotable(filename or "an unnamed file")
    if page is not None:
        return f"{file} (page {page})"
    return f"{file} (section {quotable(section)})" if section else file


def scores(of: Sequence[float]) -> list[str]:
    """
    Return passages' scores in the order in which they are shown: "score 0.21" each. They are empty
    if one is higher than one before it: then words, ranks or dates have made the order, and numbers
    belie it.
    """
    rounded = [round(score, 2) for score in of]
    falls = rounded == sorted(rounded, reverse=True)
    return [f"score {score:.2f}" if falls else "" for score in rounded]


def range_of_scores(of: Sequence[float]) -> str:
    """Return the range of the passages' scores, if these aren't shown beside each."""
    if not of or any(scores(of)):
        return ""
    return f"Scores are {min(of):.2f} to {max(of):.2f}; words, names and dates count, too."


def status_of(document: Document) -> str:
    """Return a document's status, with its reason or its gaps."""
    if document.shown_gaps:
        return f"{document.shown_status}, {document.remark}"
    reason = f": {document.status_reason}" if document.status_reason else ""
    return f"{document.shown_status}{reason}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """Return a size in bytes as text."""
    if number < _KB:
        return f"{number} B"
    return f"{number / _MB:.1f} MB" if number >= _MB else f"{number / _KB:.1f} KB"


def kilobytes(number: int) -> float:
    return round(number / _KB, 1)


def megabytes(number: int) -> float:
    return round(number / _MB, 2)


def day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def iso(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def dollars(value: float | Decimal) -> str:
    """Return dollars with cents, or below one cent with as many of six digits as are needed."""
    digits = f"{value:,.6f}".rstrip("0")
    return f"{value:,.2f}" if value >= Decimal("0.01") or digits.endswith(".") else digits


def figure(value: float) -> str:
    """Return a number as a dashboard shows it."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
