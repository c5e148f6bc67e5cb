"""What every reader returns."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.headings import Found, Heading, headings


@dataclass(frozen=True)
class Page:
    """
    Text of one page: counted from 1 in a PDF, `number` None in formats without pages.

    `headings` are in the order of the text; a PDF has none.
    """

    number: int | None
    text: str
    headings: tuple[Heading, ...] = ()


def unpaged(text: str, found: Iterable[Found] = ()) -> tuple[Page, ...]:
    """
    The one page of a format that has none, with what was found to be headings in it.

    Raises `Unreadable` when there is nothing on it.
    """
    if not text.strip():
        raise Unreadable("no text was found in the file")
    return (Page(number=None, text=text, headings=headings(text, found)),)
