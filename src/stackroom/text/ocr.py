"""
OCR of the pages of a PDF whose text is missing or garbled, in whole or in part, and of no others.

Each such page is drawn and read by itself, and lines that its text lacks are added to it. Where
that fails, the page keeps its gap, or says that OCR failed: a document never fails because of it.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from stackroom.concurrency import RunParallel, chunks, run_in_threads
from stackroom.errors import Illegible, ServiceRefused, StoreUnavailable
from stackroom.text.extraction.page import Page, PageGap
from stackroom.text.text_lines import TextLine, text_in_order

OcrEngine = Literal["none", "textract"]

MOST_PAGES = 200  # of a file: what one upload may cost is bounded by it
_READ = frozenset({PageGap.NO_TEXT, PageGap.UNREAD_PART, PageGap.GARBLED})
_MOST_KNOWN = 0.5  # of a line's words, that the page's text has: OCR misreads some of the others
_AT_ONCE = 4  # some regions begin with one call a second, which the client then repeats
# What drawing pages and calling for them takes at most in all but an outage.
_BATCH_SECONDS = 60.0
_LEAST_CONFIDENCE = 80.0  # percent, on average
_NOTHING_READ = (
    "no text was found in the PDF, and OCR could read none on its pages; if it shows text, scan it"
    " again with a higher resolution"
)

logger = logging.getLogger(__name__)


class TextRecognition(Protocol):
    def lines(self, picture: bytes) -> Sequence[TextLine]:
        """
        Return the lines of a page, none of a picture that can't be read.

        Raises StoreUnavailable, or ServiceRefused without the right to ask.
        """


@dataclass(frozen=True, kw_only=True)
class PageOcr:
    """
    Reads files as `extract` does, and then their pages without text; both within `seconds`, but
    for what is under way then. `pictures` is `extraction.page_pictures.pictures_of`; `count` hears
    how many pages were read, and of how many that failed.
    """

    extract: Callable[[bytes, str], tuple[Page, ...] | None]
    pictures: Callable[..., Sequence[bytes]]
    recognition: TextRecognition
    seconds: float
    count: Callable[[int, int], None] = lambda _read, _failed: None
    run_parallel: RunParallel = run_in_threads
    elapsed: Callable[[], float] = time.monotonic

    def __call__(self, body: bytes, filename: str) -> tuple[Page, ...] | None:
        """
        Return None where `extract` had to give up. Raises Illegible for a file of which nothing
        can be read, and what `extract` raises; where OCR failed, pages without text are returned.
        """
        end = self.elapsed() + self.seconds
        pages = self.extract(body, filename)
        if pages is None:
            return None
        read = self._read(body, [each for each in pages if each.gap in _READ], end)
        pages = tuple(read.get(each.number, each) for each in pages)
        is_final = not any(each.gap in (PageGap.OCR_FAILED, PageGap.OCR_LIMIT) for each in pages)
        if is_final and not any(each.text.strip() for each in pages):
            raise Illegible(_NOTHING_READ)
        return pages

    def _read(self, body: bytes, pages: Sequence[Page], end: float) -> Mapping[int | None, Page]:
        read = list[Page]()
        for batch in chunks(pages[:MOST_PAGES], of=_AT_ONCE):
            if end - self.elapsed() < _BATCH_SECONDS or _has_failed(read):
                break
            read += self._batch(body, batch)
        rest = PageGap.OCR_FAILED if _has_failed(read) else PageGap.OCR_LIMIT
        found = [*read, *(replace(each, gap=rest) for each in pages[len(read) :])]
        if found:
            failed = [each.gap is PageGap.OCR_FAILED for each in found]
            self.count(failed[: len(read)].count(False), sum(failed))
        return {each.number: each for each in found}

    def _batch(self, body: bytes, pages: Sequence[Page]) -> Iterator[Page]:
        pictures = [*self._drawn(body, pages)]
        actions = [
            partial(self._of_picture, page, picture)
            for page, picture in zip(pages, pictures, strict=True)
        ]
        yield from self.run_parallel(actions)

    def _drawn(self, body: bytes, pages: Sequence[Page]) -> Iterator[bytes | None]:
        """Yield None of a page that can't be drawn; those after it are drawn anew."""
        while pages:
            numbers = [each.number for each in pages]
            made = self.pictures(body, numbers, seconds=_BATCH_SECONDS)
            yield from made
            if len(made) < len(pages):
                yield None
            pages = pages[len(made) + 1 :]

    def _of_picture(self, page: Page, picture: bytes | None) -> Page:
        if picture is None:
            return page
        try:
            lines = self.recognition.lines(picture)
        except (StoreUnavailable, ServiceRefused):
            logger.warning("OCR failed", exc_info=True)
            return replace(page, gap=PageGap.OCR_FAILED)
        kept = "" if page.gap is PageGap.NO_TEXT else page.text  # hardly any, in no order
        known = {each.lower() for each in kept.split()}
        lines = [each for each in lines if not _is_known(each, known)]
        if not (read := text_in_order(lines)).strip():
            return page
        text = "\n".join(filter(None, [kept, read]))
        confidence = sum(each.confidence for each in lines) / len(lines)
        is_sure = confidence >= _LEAST_CONFIDENCE
        return replace(page, text=text, gap=None if is_sure else PageGap.LOW_CONFIDENCE)


def _is_known(line: TextLine, known: set[str]) -> bool:
    words = line.text.lower().split()
    return sum(each in known for each in words) > _MOST_KNOWN * len(words)


def _has_failed(read: Sequence[Page]) -> bool:
    """Return True if OCR failed on the last pages, so that it would fail on others, too."""
    last = read[-_AT_ONCE:]
    return bool(last) and all(each.gap is PageGap.OCR_FAILED for each in last)
