"""What every reader returns."""

from dataclasses import dataclass

from stackroom.errors import Unreadable


@dataclass(frozen=True)
class Page:
    """Text of one page: counted from 1 in a PDF, `number` None in formats without pages."""

    number: int | None
    text: str


def unpaged(text: str) -> tuple[Page, ...]:
    """The one page of a format that has none; raises `Unreadable` when there is nothing on it."""
    if not text.strip():
        raise Unreadable("no text was found in the file")
    return (Page(number=None, text=text),)
