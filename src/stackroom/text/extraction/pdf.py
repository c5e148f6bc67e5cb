"""
PDF, by PDFium: of each page the text that people see.

PDFium repairs what it can, so a file cut off in the middle may open with half its pages: the end
mark is looked for first.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_float, cast
from dataclasses import dataclass, field, replace

import pypdfium2
from pypdfium2 import raw

from stackroom.errors import Illegible, Unreadable
from stackroom.text.extraction import pdfium_calls as calls
from stackroom.text.extraction.cipher import without_ciphers
from stackroom.text.extraction.page import Page, PageGap, page_ranges, readable
from stackroom.text.extraction.pdf_forms import Additions, additions_to, draw_into
from stackroom.text.extraction.pdf_images import (
    FEWEST_WORDS,
    images_on,
    may_have_images,
    share_of,
    unread_writing,
)
from stackroom.text.extraction.pdf_visibility import ReadPage, Span, unseen_words
from stackroom.text.extraction.pdfium_calls import Box

# The last words are for the owner's operator: docs/deploy.md says what it costs.
_NO_TEXT = (
    "no text was found in the PDF; it may be a scan, and this deployment reads no images: run OCR"
    " over it and upload it again, or have it deployed with -c ocr=textract"
)
_GARBLED = (
    "the text of the PDF is garbled: its fonts don't say which letters they show; export it again,"
    " or run OCR over it, and upload that"
)
_FORM = "the PDF is a form (XFA) that can't be read; print it to PDF and upload that"
_NO_TITLE = "untitled"  # what ReportLab, Illustrator and others write where nobody gave one
_DAMAGED = "the PDF is damaged or cut off; export it again and upload that"
# Readers accept a header and an end mark within 1,024 bytes of the ends (ISO 32000-1, annex H.3,
# notes 13 and 18); mail and download tools append more than that, hence the margin.
_HEAD_BYTES = 1_024
_TAIL_BYTES = 4_096
_MOST_STRANGE = 0.2  # of a page's characters
_UNREADABLE_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})
_ASCII = re.compile(r"[\x20-\x7e\s]+")
# Fonts of these may not be in the file: of a letter that stands alone then, PDFium gives no text.
_EAST_ASIAN = re.compile(rb"/Ordering\s*\((?:GB1|CNS1|Japan1|Korea1)\)")
_MOST_LOST = 0.1  # of a page's characters
_NO_WIDTH = 0.01  # points
_IDEOGRAPH = 0xB0A1  # a code of two bytes that most of those fonts have
_LEAST_SCAN = 0.1  # of the page, that a scan covers: a logo covers less
_MOST_PLACEHOLDER = 150  # words that a form has which only Adobe's reader shows
_PLACEHOLDER = "if this message is not eventually replaced"
_XFA = frozenset({raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND})


def read(body: bytes, *, scans: bool = False, ocr: bool = False) -> tuple[Page, ...]:
    if b"%PDF-" not in body[:_HEAD_BYTES]:
        raise Unreadable("the file is not a PDF, whatever its name says")
    if b"%%EOF" not in body.rstrip(b"\0\r\n\t ")[-_TAIL_BYTES:]:
        raise Unreadable(_DAMAGED)
    try:
        with pypdfium2.PdfDocument(body) as document:
            document.init_forms()
            reader = _Reader(
                document=document,
                has_images=may_have_images(body),
                may_lose_letters=bool(_EAST_ASIAN.search(body)),
            )
            pages = tuple(reader.read(index) for index in range(len(document)))
            missing = (*reader.missing(), *_attached(document))
    except pypdfium2.PdfiumError as error:
        raise Unreadable(_reason(str(error))) from error
    if not any(page.text.strip() for page in pages):
        gaps = {page.gap for page in pages}
        if reason := _reason_for_no_text(gaps, are_images_read=scans or ocr):
            raise Illegible("; ".join([reason, *missing]))
    if scans:  # whoever ingests the file reads its images, and letters that are not in its text
        pages = tuple(replace(each, gap=None) if each.gap in _SEEN else each for each in pages)
    return (replace(pages[0], missing=missing), *pages[1:])


_SEEN = frozenset({PageGap.NO_TEXT, PageGap.UNREAD_PART, PageGap.GARBLED})


def _reason_for_no_text(gaps: set[PageGap | None], *, are_images_read: bool) -> str | None:
    if PageGap.FORM in gaps:
        return _FORM
    if are_images_read:
        return None
    return _GARBLED if PageGap.GARBLED in gaps else _NO_TEXT


@dataclass(kw_only=True)
class _Reader:
    """Reads one page after the other, and keeps what the file's owner is told of all of them."""

    document: pypdfium2.PdfDocument
    has_images: bool  # beside those that stand in a page's own content
    may_lose_letters: bool
    hidden: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)

    def read(self, index: int) -> Page:
        with self._opened(index) as read:
            additions = additions_to(read)
            text = read.text if additions.drawn else ""
            if not (additions.drawn and draw_into(read.page, additions.drawn)):
                return self._page(read, additions, index + 1)
        with self._opened(index) as read:
            if not read.text.startswith(text.rstrip()):  # where the fields stand is not known
                below = (*additions.below, *(value.strip() for _, value in additions.inside))
                additions = replace(additions, inside=(), below=below)
            return self._page(read, additions, index + 1)

    @contextmanager
    def _opened(self, index: int) -> Iterator[ReadPage]:
        page = self.document[index]
        text_page = page.get_textpage()
        try:
            yield ReadPage(self.document, page, text_page)
        finally:
            text_page.close()
            page.close()

    def _page(self, read: ReadPage, additions: Additions, number: int) -> Page:
        self.comments += [number] * additions.comments
        title = readable(self.document.get_metadata_value("Title")) if number == 1 else ""
        page = Page(number, "", title="" if title.lower() == _NO_TITLE else title)
        if self._is_placeholder(read):
            return replace(page, gap=PageGap.FORM)
        images = self._images(read)
        scans = [each for each in images if share_of([each], read.picture) >= _LEAST_SCAN]
        unseen = unseen_words(read, images, scans)
        hidden = set(unseen.words)
        self.hidden += [number] * bool(hidden or additions.is_some_unseen)
        text = _text(read, hidden, additions)
        if _is_strange(text):
            return replace(page, gap=PageGap.GARBLED)
        sound = without_ciphers(text)
        if sound != text or (self.may_lose_letters and _loses_letters(read)):
            return replace(page, text=sound, gap=PageGap.GARBLED)
        seen = [each for each in read.words if each not in hidden]
        if not unseen.has_recognized:
            page = replace(page, gap=unread_writing(read, images, seen, additions.buttons))
        return replace(page, text=text)

    def _is_placeholder(self, read: ReadPage) -> bool:
        kind = self.document.get_formtype()
        if kind not in _XFA:
            return False
        is_short = len(read.words) <= _MOST_PLACEHOLDER
        return (kind == raw.FORMTYPE_XFA_FULL and is_short) or _PLACEHOLDER in read.text.lower()

    def _images(self, read: ReadPage) -> list[Box]:
        if not self.has_images and len(read.words) >= FEWEST_WORDS:
            return []
        return images_on(calls.address(read.page))

    def missing(self) -> tuple[str, ...]:
        """Return sentences on what was left out of the text."""
        sentences = []
        if self.hidden:
            sentences.append(f"text that nobody can see was left out: {_pages(self.hidden)}")
        if self.comments:
            count = len(self.comments)
            were = "1 comment was" if count == 1 else f"{count} comments were"
            sentences.append(f"{were} not read: {_pages(sorted(set(self.comments)))}")
        return tuple(sentences)


def _pages(numbers: Sequence[int]) -> str:
    return f"page{'s' * (len(numbers) > 1)} {page_ranges(numbers)}"


def _text(read: ReadPage, hidden: set[Span], additions: Additions) -> str:
    """Return what people see, in the order of the page's content, what they filled in included."""
    pieces, at = [], 0
    cuts = [(begin, end, "") for begin, end in hidden]
    for begin, end, added in sorted([*cuts, *((at, at, each) for at, each in additions.inside)]):
        pieces += [read.text[at:begin], added]
        at = max(at, end)
    whole = "".join([*pieces, read.text[at:]])
    # Without its characters' places, PDFium tells lines apart a little better.
    text = whole if pieces else read.text_page.get_text_bounded()
    # PDFium ends lines with \r\n and has U+FFFE for the hyphen of a word broken at a line's end.
    text = text.replace("\ufffe", "").replace("\x02", "").replace("\r\n", "\n")
    if hidden:
        text = re.sub(r"[ \t]*\n\s*\n", "\n", text).strip()
    return "\n".join([*filter(None, [text]), *additions.below])


def _is_strange(text: str) -> bool:
    """Return True for text with many characters that nobody can read, such as U+FFFD."""
    rest = _ASCII.sub("", text)
    strange = sum(
        each == "\ufffd" or unicodedata.category(each) in _UNREADABLE_CATEGORIES for each in rest
    )
    return bool(strange) and strange > _MOST_STRANGE * len("".join(text.split()))


def _loses_letters(read: ReadPage) -> bool:
    page = calls.address(read.page)
    objects = (calls.get_object(page, number) for number in range(calls.count_objects(page)))
    lost = sum(calls.get_type(each) == raw.FPDF_PAGEOBJ_TEXT and _is_lost(each) for each in objects)
    return bool(lost > _MOST_LOST * len(read.text))


def _is_lost(text_object: int) -> bool:
    """Return True for a letter without a width, in a font outside the file with ideographs."""
    left, _, right, _ = calls.bounds(text_object)
    if right - left > _NO_WIDTH:
        return False
    width = c_float()
    font = raw.FPDFTextObj_GetFont(cast(text_object, raw.FPDF_PAGEOBJECT))
    raw.FPDFFont_GetGlyphWidth(font, _IDEOGRAPH, 1.0, width)
    return width.value > 0 and raw.FPDFFont_GetIsEmbedded(font) == 0


def _attached(document: pypdfium2.PdfDocument) -> tuple[str, ...]:
    count = document.count_attachments()
    if not count:
        return ()
    return (
        "1 attached file was not read" if count == 1 else f"{count} attached files were not read",
    )


def _reason(problem: str) -> str:
    # PDFium names its causes only in this text: "Failed to load document (PDFium: Incorrect
    # password error)." and "(PDFium: Unsupported security scheme error)."
    if "password" in problem.lower() or "security" in problem.lower():
        return "the PDF is encrypted; remove its password and upload it again"
    return _DAMAGED
