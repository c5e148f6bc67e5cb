"""
PDF, by PDFium.

PDFium repairs what it can, so a file cut off in the middle may open with half its pages: the end
mark is looked for first.
"""

import unicodedata
from collections.abc import Iterator
from itertools import islice

import pypdfium2
from pypdfium2.raw import (
    FORMTYPE_XFA_FULL,
    FPDF_ANNOT_WIDGET,
    FPDF_PAGEOBJ_IMAGE,
    FPDF_PAGEOBJ_TEXT,
    FPDF_TEXTRENDERMODE_INVISIBLE,
    FPDFAnnot_GetStringValue,
    FPDFAnnot_GetSubtype,
    FPDFPage_CloseAnnot,
    FPDFPage_GetAnnot,
    FPDFPage_GetAnnotCount,
    FPDFTextObj_GetTextRenderMode,
)

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.cipher import is_cipher
from stackroom.inspection.extraction.page import Page, PageGap, readable

# The last words are for the owner's operator: docs/deploy.md says what it costs.
_NO_TEXT = (
    "no text was found in the PDF; it may be a scan, and this deployment reads no images: run OCR"
    " over it and upload it again, or have it deployed with -c parsing=foundation_model"
)
_NO_TITLE = "untitled"  # what ReportLab, Illustrator and others write where nobody gave one
_DAMAGED = "the PDF is damaged or cut off; export it again and upload that"
# Readers accept a header and an end mark within 1,024 bytes of the ends (ISO 32000-1, annex H.3,
# notes 13 and 18); mail and download tools append more than that, hence the margin.
# A page is taken for a picture of one from this share of it that images cover, and with fewer
# words than this: a footer has some.
_PICTURED, _FEWEST_WORDS = 0.5, 20
_MAX_OBJECTS = 2_000  # of a page that are looked at; a scan has one, or one for each strip of it
_MOST_STRANGE = 0.2  # of a page's characters
_UNREADABLE_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})
_HEAD_BYTES = 1_024
_TAIL_BYTES = 4_096


def read(body: bytes, *, scans: bool = False) -> tuple[Page, ...]:
    if b"%PDF-" not in body[:_HEAD_BYTES]:
        raise Unreadable("the file is not a PDF, whatever its name says")
    if b"%%EOF" not in body.rstrip(b"\0\r\n\t ")[-_TAIL_BYTES:]:
        raise Unreadable(_DAMAGED)
    pages = tuple(_pages(body, scans=scans))
    if not scans and not any(page.text.strip() for page in pages):
        raise Unreadable(_NO_TEXT)
    return pages


def _pages(body: bytes, *, scans: bool) -> Iterator[Page]:
    try:
        with pypdfium2.PdfDocument(body) as document:
            is_placeholder = document.get_formtype() == FORMTYPE_XFA_FULL
            title = readable(document.get_metadata_value("Title"))
            if title.lower() == _NO_TITLE:
                title = ""
            for index in range(len(document)):
                page = document[index]
                raw = page.get_textpage().get_text_bounded()
                # PDFium ends lines with \r\n and writes U+0002 for the hyphen of a word broken at a
                # line's end.
                text = raw.replace("\x02", "").replace("\r\n", "\n")
                yield Page(
                    number=index + 1,
                    text=text,
                    title=title if index == 0 else "",
                    gap=PageGap.FORM if is_placeholder else _gap(page, text, scans=scans),
                )
                page.close()
    except pypdfium2.PdfiumError as error:
        raise Unreadable(_reason(str(error))) from error


def _gap(page: pypdfium2.PdfPage, text: str, *, scans: bool) -> PageGap | None:
    """What people see on the page and its text lacks; a blank page lacks nothing."""
    characters = [each for each in text if not each.isspace()]
    strange = sum(
        each == "\ufffd" or unicodedata.category(each) in _UNREADABLE_CATEGORIES
        for each in characters
    )
    is_garbled = strange > _MOST_STRANGE * len(characters) or is_cipher(text)
    if is_garbled and not scans:
        return PageGap.GARBLED
    is_picture = len(text.split()) < _FEWEST_WORDS and _pictured(page) >= _PICTURED
    if is_picture and not scans and not _is_recognized(page):
        return PageGap.NO_TEXT
    return PageGap.FORM_VALUES if _has_values(page) else None


def _has_values(page: pypdfium2.PdfPage) -> bool:
    """Whether somebody has filled in a field of a form on the page."""
    for index in range(min(FPDFPage_GetAnnotCount(page.raw), _MAX_OBJECTS)):
        annotation = FPDFPage_GetAnnot(page.raw, index)
        try:
            # A value of two bytes is the end of an empty text, in UTF-16.
            if (
                FPDFAnnot_GetSubtype(annotation) == FPDF_ANNOT_WIDGET
                and FPDFAnnot_GetStringValue(annotation, b"V", None, 0) > 2
            ):
                return True
        finally:
            FPDFPage_CloseAnnot(annotation)
    return False


def _is_recognized(page: pypdfium2.PdfPage) -> bool:
    """Whether the page has invisible text, as OCR lays it over the image that it was read from."""
    texts = islice(page.get_objects(filter=[FPDF_PAGEOBJ_TEXT]), _MAX_OBJECTS)
    return any(
        FPDFTextObj_GetTextRenderMode(each) == FPDF_TEXTRENDERMODE_INVISIBLE for each in texts
    )


def _pictured(page: pypdfium2.PdfPage) -> float:
    """The share of the page that images cover, at most; where they overlap, each counts."""
    width, height = page.get_size()
    covered = 0.0
    for image in islice(page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE]), _MAX_OBJECTS):
        left, bottom, right, top = image.get_bounds()
        across, along = min(right, width) - max(left, 0), min(top, height) - max(bottom, 0)
        covered += max(0.0, across) * max(0.0, along)
    return covered / ((width * height) or 1.0)


def _reason(problem: str) -> str:
    # PDFium names its causes only in this text: "Failed to load document (PDFium: Incorrect
    # password error)." and "(PDFium: Unsupported security scheme error)."
    if "password" in problem.lower() or "security" in problem.lower():
        return "the PDF is encrypted; remove its password and upload it again"
    return _DAMAGED
