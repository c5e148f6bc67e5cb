"""
Sentences for a file's owner about content that cannot be found.

Each says what is missing and where. A file whose whole text is searchable has none.
"""

from collections.abc import Sequence

from stackroom.text.extraction import Page, PageGap
from stackroom.text.extraction.page import page_ranges

# Of a file that crashes our reader, or takes it too long, and that Bedrock reads all the same.
UNREAD = "read by Bedrock's parser; pages unknown"
_TOO_LITTLE = "no text, or hardly any, beside an image"
_PART = "writing in an image, or drawn as shapes, that was not read"
_XFA = "a form (XFA) that can't be read; print it to PDF and upload that"
_UNSURE = "read by OCR with low confidence"
_FAILED = "no readable text, since OCR failed"
_BEYOND = "no readable text, and OCR reads no more pages of one file"
_LACKS = {
    PageGap.NO_TEXT: (f"has {_TOO_LITTLE}", f"have {_TOO_LITTLE}"),
    PageGap.UNREAD_PART: (f"has {_PART}", f"have {_PART}"),
    PageGap.GARBLED: ("looks garbled", "look garbled"),
    PageGap.FORM: (f"shows {_XFA}", f"show {_XFA}"),
    PageGap.LOW_CONFIDENCE: (f"was {_UNSURE}", f"were {_UNSURE}"),
    PageGap.OCR_FAILED: (f"has {_FAILED}", f"have {_FAILED}"),
    PageGap.OCR_LIMIT: (f"has {_BEYOND}", f"have {_BEYOND}"),
}


def gaps_of(pages: Sequence[Page]) -> tuple[str, ...]:
    """Return a sentence for each kind of gap that a file's pages have."""
    found = [_of_pages(gap, pages) for gap in PageGap]
    return (*filter(None, found), *(sentence for page in pages for sentence in page.missing))


def _of_pages(gap: PageGap, pages: Sequence[Page]) -> str | None:
    numbers = [page.number for page in pages if page.gap is gap and page.number is not None]
    if not numbers:
        return None
    one, many = _LACKS[gap]
    if len(pages) == 1:
        return f"the page {one}"
    lack = one if len(numbers) == 1 else many
    return f"{len(numbers)} of {len(pages)} pages {lack}: {page_ranges(numbers)}"
