"""The pages that every reader returns."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, groupby, pairwise

from stackroom.errors import Illegible
from stackroom.text.extraction.unseen import as_seen

# Of a text whose headings are told: about 700,000 words of English. Whoever looks passages up keeps
# the texts of several documents in memory, whole.
MAX_CHARACTERS = 4_000_000
MAX_HEADINGS = 10_000  # looked at in a file; none is told for what stands below the last
RAW_CHARACTERS = 1_000  # of a heading that are looked at: markup, spaces and text
_MAX_CHARACTERS = 200  # of one that is kept: it names a section in citations
_CUT = " …"
_NO_TEXT = "no text was found in the file"
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Heading:
    """
    The place in a page's text where a section begins: at its heading.

    `text` is the heading as a person reads it, on one line. None ends the section above: the text
    that follows has no heading.
    """

    at: int
    text: str | None


Found = tuple[int, str | None]  # as `Heading`, the text as it stands in the file


def _as_headings(found: Iterable[Found]) -> Iterator[Heading]:
    """Return headings in the order of the text, without blank ones."""
    for count, (at, raw) in enumerate(found):
        if raw is None or count == MAX_HEADINGS:
            yield Heading(at, None)
            return
        if text := readable(raw):
            yield Heading(at, text)


def readable(raw: str) -> str:
    """Return the text on one line, cut at the end of a word if it is too long."""
    line, _ = as_seen(_CONTROLS.sub("", " ".join(raw.lstrip()[:RAW_CHARACTERS].split())))
    if len(line) <= _MAX_CHARACTERS:
        return line.strip()
    room = _MAX_CHARACTERS - len(_CUT)
    whole_words, space, _ = line[: room + 1].rpartition(" ")
    return (whole_words if space else line[:room]) + _CUT


_MOST_RANGES = 20  # that a sentence lists; a record has room for it


def page_ranges(numbers: Iterable[int]) -> str:
    """Return "2-4, 7" of 2, 3, 4 and 7."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0])
    ]
    listed = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    more = [f"and {len(listed) - _MOST_RANGES} more ranges"] if len(listed) > _MOST_RANGES else []
    return ", ".join([*listed[:_MOST_RANGES], *more])


class PageGap(StrEnum):
    """The reasons why people see more on a page than a search can find."""

    NO_TEXT = "no text"  # an image fills it, and has little or no text over it
    UNREAD_PART = "unread part"  # an image on it shows writing, and has little or no text over it
    GARBLED = "garbled"  # some or all of its letters are not what the page shows: left out
    FORM = "form"  # an XFA form, of which the page has a placeholder: left out
    LOW_CONFIDENCE = "low confidence"  # OCR has read it, and may be wrong
    OCR_FAILED = "OCR failed"  # it could not be asked, or gave up
    OCR_LIMIT = "OCR limit"  # more pages, or slower ones, than OCR reads of a file


@dataclass(frozen=True)
class Page:
    """
    Text of one page: counted from 1 in a PDF, `number` None in formats without pages.

    `headings` are in the order of the text; a PDF has none. `title` is on a document's first page:
    what the file calls itself, which PDF and HTML have beside their text. So is `missing`:
    sentences on what else people see in the file.
    """

    number: int | None
    text: str
    headings: tuple[Heading, ...] = ()
    title: str = ""
    gap: PageGap | None = None
    missing: tuple[str, ...] = ()


def hidden_words(count: int) -> Iterator[str]:
    """Yield a sentence about hidden words, if there are any."""
    if count:
        words = "words that nobody can see were" if count > 1 else "word that nobody can see was"
        yield f"{count:,} {words} left out"


def pages_as_seen(pages: Iterable[Page]) -> tuple[Page, ...]:
    """
    Return the pages without characters that nobody sees, and say so if they may hide something.
    """
    seen, hidden = list[Page](), 0
    for page in pages:
        bounds = [0, *(each.at for each in page.headings), len(page.text)]
        parts = [as_seen(page.text[begin:end]) for begin, end in pairwise(bounds)]
        title, of_title = as_seen(page.title)
        text = "".join(part for part, _ in parts)
        hidden += of_title + sum(count for _, count in parts)
        ends = accumulate(len(part) for part, _ in parts)
        headings = tuple(
            Heading(at, each.text) for at, each in zip(ends, page.headings, strict=False)
        )
        seen.append(replace(page, text=text, title=title, headings=headings))
    if hidden:
        characters = (
            "characters that nobody can see were"
            if hidden > 1
            else ("character that nobody can see was")
        )
        sentence = f"{hidden:,} {characters} left out"
        seen[0] = replace(seen[0], missing=(*seen[0].missing, sentence))
    return tuple(seen)


def unpaged(
    text: str, found: Iterable[Found] = (), *, missing: Iterable[str] = ()
) -> tuple[Page, ...]:
    """
    Return the one page of a format that has none, with what was found to be headings in it.

    Raises `Illegible` when there is nothing on it, with what is missing.
    """
    headings = tuple(_as_headings(found)) if len(text) <= MAX_CHARACTERS else ()
    page = Page(number=None, text=text, headings=headings, missing=tuple(missing))
    if not text.strip():
        raise illegible(page)
    return (page,)


def illegible(page: Page) -> Illegible:
    return Illegible("; ".join([_NO_TEXT, *page.missing]))
