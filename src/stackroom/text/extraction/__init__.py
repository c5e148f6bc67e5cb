"""
The text of a file, page by page: `read_pages(body, filename)`.

Readers load their library on first use, so that importing this costs nothing. None of them keeps
state, but PDFium must not run in two threads of a process at once.
"""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from stackroom.errors import Unreadable
from stackroom.model.formats import extension_of, unsupported
from stackroom.text.extraction.page import Heading, Page, PageGap, illegible, pages_as_seen

__all__ = ["Heading", "Page", "PageGap", "read_pages"]

_Reader = Callable[..., tuple[Page, ...]]

_READERS = {
    "pdf": "pdf",
    "docx": "word",
    "txt": "plain",
    "md": "markdown",
    "csv": "delimited",
    "html": "webpage",
    "xlsx": "workbook",
}


def read_pages(
    body: bytes, filename: str, *, scans: bool = False, ocr: bool = False
) -> tuple[Page, ...]:
    """
    Return every page of a PDF, blank ones too; of any other format one page without a number, and
    in DOCX, MD and HTML its headings.

    At least one page has text, except in a PDF that may be of images alone, because its parser
    reads `scans`, which are no gaps then, or because `ocr` comes next. Raises `Unreadable` with a
    reason that its owner can act on, and `Illegible` if a person would see no text.
    """
    if reason := unsupported(filename):
        raise Unreadable(reason)
    if not body:
        raise Unreadable("the file is empty")
    extension = extension_of(filename)
    read = cast(_Reader, import_module(f"{__name__}.{_READERS[extension]}").read)
    options = {"scans": scans, "ocr": ocr} if extension == "pdf" else {}
    pages = pages_as_seen(read(body, **options))
    if not any(options.values()) and not any(page.text.strip() for page in pages):
        raise illegible(pages[0])
    return pages
