"""What a place map says of a document, made of the pages that were read from it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stackroom.inspection.extraction.page import Page
from stackroom.inspection.normalised import normalise
from stackroom.inspection.running_lines import running_lines
from stackroom.toc_detection import listed_lines


@dataclass(frozen=True, kw_only=True)
class Part:
    """
    One page, or what is from one heading to the next; neither of both above the first one.

    Its text is normalised. `running` and `listed` are the beginnings and ends, in turn, of what in
    it is no text: running headers and page numbers; lines of a table of contents or an index.
    """

    text: str
    page: int | None = None
    section: str | None = None
    running: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()


def parts_of(pages: Sequence[Page]) -> list[Part]:
    """None where nothing would be told: no page has a number, and none a heading."""
    numbered = [page for page in pages if page.number is not None]
    lines = [page.text.split("\n") for page in numbered]
    parts = [
        _part(each, running, page=page.number)
        for page, each, running in zip(numbered, lines, running_lines(lines), strict=True)
    ]
    for page in pages:
        if page.number is None and any(each.text is not None for each in page.headings):
            parts += _sections(page)
    return parts


def _sections(page: Page) -> Iterator[Part]:
    starts = [0, *(heading.at for heading in page.headings), len(page.text)]
    sections = [None, *(heading.text for heading in page.headings)]
    for (start, end), section in zip(pairwise(starts), sections, strict=True):
        yield _part(page.text[start:end].split("\n"), set(), section=section)


def _part(
    lines: Sequence[str],
    running: Collection[int],
    *,
    page: int | None = None,
    section: str | None = None,
) -> Part:
    rest = [number for number in range(len(lines)) if number not in running]
    listed = listed_lines([lines[number] for number in rest])
    texts = [normalise(line) for line in lines]
    return Part(
        text="".join(texts),
        page=page,
        section=section,
        running=_bounds(texts, running),
        listed=_bounds(texts, {rest[number] for number in listed}),
    )


def _bounds(texts: Sequence[str], chosen: Collection[int]) -> tuple[int, ...]:
    """Where each of the chosen lines begins and ends; those without a letter have no place."""
    bounds: list[int] = []
    position = 0
    for number, text in enumerate(texts):
        if text and number in chosen:
            bounds += [position, position + len(text)]
        position += len(text)
    return tuple(bounds)
