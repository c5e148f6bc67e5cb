"""
PDF, by PDFium.

PDFium repairs what it can, so a file cut off in the middle may open with half its pages: the end
mark is looked for first.
"""

from collections.abc import Iterator

import pypdfium2

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.page import Page, readable

# The last words are for the owner's operator: docs/deploy.md says what it costs.
_NO_TEXT = (
    "no text was found in the PDF; it may be a scan, and this deployment reads no images: run OCR"
    " over it and upload it again, or have it deployed with -c parsing=foundation_model"
)
_NO_TITLE = "untitled"  # what ReportLab, Illustrator and others write where nobody gave one
_DAMAGED = "the PDF is damaged or cut off; export it again and upload that"
# Readers accept a header and an end mark within 1,024 bytes of the ends (ISO 32000-1, annex H.3,
# notes 13 and 18); mail and download tools append more than that, hence the margin.
_HEAD_BYTES = 1_024
_TAIL_BYTES = 4_096


def read(body: bytes, *, scans: bool = False) -> tuple[Page, ...]:
    if b"%PDF-" not in body[:_HEAD_BYTES]:
        raise Unreadable("the file is not a PDF, whatever its name says")
    if b"%%EOF" not in body.rstrip(b"\0\r\n\t ")[-_TAIL_BYTES:]:
        raise Unreadable(_DAMAGED)
    pages = tuple(_pages(body))
    if not scans and not any(page.text.strip() for page in pages):
        raise Unreadable(_NO_TEXT)
    return pages


def _pages(body: bytes) -> Iterator[Page]:
    try:
        with pypdfium2.PdfDocument(body) as document:
            title = readable(document.get_metadata_value("Title"))
            if title.lower() == _NO_TITLE:
                title = ""
            for index in range(len(document)):
                page = document[index]
                raw = page.get_textpage().get_text_bounded()
                # PDFium ends lines with \r\n and writes U+0002 for the hyphen of a word broken at a
                # line's end.
                text = raw.replace("\x02", "").replace("\r\n", "\n")
                yield Page(number=index + 1, text=text, title=title if index == 0 else "")
                page.close()
    except pypdfium2.PdfiumError as error:
        raise Unreadable(_reason(str(error))) from error


def _reason(problem: str) -> str:
    # PDFium names its causes only in this text: "Failed to load document (PDFium: Incorrect
    # password error)." and "(PDFium: Unsupported security scheme error)."
    if "password" in problem.lower() or "security" in problem.lower():
        return "the PDF is encrypted; remove its password and upload it again"
    return _DAMAGED
