"""
Values of form fields, notes and comments, which a PDF keeps beside a page's text; and what is drawn
there alone, such as stamps and the captions of buttons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import c_uint, c_ushort
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pypdfium2
from pypdfium2 import raw

from stackroom.text.extraction.pdf_visibility import ReadPage, Span, is_white_on_white
from stackroom.text.extraction.pdfium_calls import Box

_MOST = 2_000  # annotations of a page that are looked at
_LONGEST = 100_000  # bytes of a value
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW | raw.FPDF_ANNOT_FLAG_INVISIBLE
_COMMENTED = frozenset(
    {
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_STRIKEOUT,
        raw.FPDF_ANNOT_SQUIGGLY,
        raw.FPDF_ANNOT_STAMP,
        raw.FPDF_ANNOT_CARET,
        raw.FPDF_ANNOT_SQUARE,
        raw.FPDF_ANNOT_CIRCLE,
        raw.FPDF_ANNOT_LINE,
        raw.FPDF_ANNOT_POLYGON,
        raw.FPDF_ANNOT_POLYLINE,
        raw.FPDF_ANNOT_INK,
        raw.FPDF_ANNOT_FILEATTACHMENT,
    }
)
# What is written on these only their drawings tell.
_DRAWN = frozenset({raw.FPDF_ANNOT_STAMP, raw.FPDF_ANNOT_WATERMARK, raw.FPDF_ANNOT_FREETEXT})
_DRAWN_FIELDS = frozenset({raw.FPDF_FORMFIELD_PUSHBUTTON, raw.FPDF_FORMFIELD_SIGNATURE})
_TICKED = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})
_CHOICES = frozenset({raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX})
_LEAST_SIDE = 1.0  # points of a note or field that people see
_NEAR, _NEAR_TICK = 250.0, 40.0  # points from a field to its label
_ON_LINE = 4.0  # points by which a field may stand above or below its label


@dataclass(frozen=True, kw_only=True)
class Additions:
    """
    Texts to add to a page. `inside` are texts with the places in the page's text where they belong.
    """

    inside: tuple[tuple[int, str], ...] = ()
    below: tuple[str, ...] = ()
    comments: int = 0
    is_some_unseen: bool = False  # of the texts, which is left out
    drawn: frozenset[int] = frozenset()  # numbers of annotations
    buttons: tuple[Box, ...] = ()  # whose edges are no writing


def draw_into(page: pypdfium2.PdfPage, drawn: frozenset[int]) -> bool:
    """
    Make these annotations, and no others, parts of the page's content, which has to be loaded anew.
    Return False if nothing was drawn.
    """
    for number, annotation in enumerate(_annotations(page)):
        if number not in drawn:
            raw.FPDFAnnot_SetFlags(annotation, raw.FPDF_ANNOT_FLAG_HIDDEN)
    return bool(raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS)


def _is_drawn(document: pypdfium2.PdfDocument, annotation: Any) -> bool:
    is_seen = not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN
    if not is_seen or not raw.FPDFAnnot_HasKey(annotation, b"AP"):
        return False
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_WIDGET and document.formenv:
        form = document.formenv.raw
        field = raw.FPDFAnnot_GetFormFieldType(form, annotation)
        if field != raw.FPDF_FORMFIELD_TEXTFIELD or _is_password(form, annotation):
            return field in _DRAWN_FIELDS
        # Its value may stand in a stream, which PDFium doesn't read.
        return _field(form, annotation) is None
    return kind in _DRAWN


def additions_to(read: ReadPage) -> Additions:
    if not raw.FPDFPage_GetAnnotCount(read.page):
        return Additions()
    drawn = frozenset(
        number
        for number, annotation in enumerate(_annotations(read.page))
        if _is_drawn(read.document, annotation)
    )
    gathered = _Gathered(read)
    for number, annotation in enumerate(_annotations(read.page)):
        if not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
            gathered.add(annotation, is_drawn=number in drawn)
    return Additions(
        inside=tuple(gathered.inside),
        below=tuple(gathered.below),
        comments=gathered.comments,
        is_some_unseen=gathered.is_some_unseen,
        drawn=drawn,
        buttons=tuple(gathered.buttons),
    )


class _Gathered:
    """The texts that the annotations of a page add."""

    def __init__(self, read: ReadPage) -> None:
        self.inside, self.below = list[tuple[int, str]](), list[str]()
        self.buttons = list[Box]()
        self.comments, self.is_some_unseen = 0, False
        self._read = read

    def add(self, annotation: Any, *, is_drawn: bool) -> None:
        kind, form = raw.FPDFAnnot_GetSubtype(annotation), self._read.document.formenv
        if kind == raw.FPDF_ANNOT_WIDGET and form:
            if (field := _field(form.raw, annotation)) is not None:
                self._add_field(annotation, *field)
            elif is_drawn:
                self.buttons.append(_box(annotation))
        elif kind in _COMMENTED:
            self.comments += bool(_contents(annotation))
        elif kind == raw.FPDF_ANNOT_FREETEXT and not is_drawn:
            contents = _contents(annotation)
            if contents and _is_out_of_sight(self._read, annotation):
                self.is_some_unseen = True
            elif contents:
                self.below.append(contents)

    def _add_field(self, annotation: Any, value: str, name: str, is_ticked: bool) -> None:
        if _is_out_of_sight(self._read, annotation):
            self.is_some_unseen |= not is_ticked
            return
        at = _label(self._words, _box(annotation), before=not is_ticked)
        if at is None:
            self.below.append(f"{name}: {value}" if name else value)
        else:
            self.inside.append((at, f"{value} " if is_ticked else f" {value}"))

    @cached_property
    def _words(self) -> list[tuple[Span, Box]]:
        return [(each, self._read.box(each)) for each in self._read.words]


def _is_out_of_sight(read: ReadPage, annotation: Any) -> bool:
    """Return True for what is off the page, has no room, or is white on it."""
    box = _box(annotation)
    left, bottom, right, top = read.page.get_bbox()
    if min(box[2] - box[0], box[3] - box[1]) < _LEAST_SIDE:
        return True
    if box[2] <= left or box[0] >= right or box[3] <= bottom or box[1] >= top:
        return True
    form = read.document.formenv
    parts = c_uint(), c_uint(), c_uint()
    if not form or raw.FPDFAnnot_HasKey(annotation, b"MK"):  # which says what it stands on
        return False
    has_colour = raw.FPDFAnnot_GetFontColor(form.raw, annotation, *parts)
    colour = parts[0].value, parts[1].value, parts[2].value, 255
    return bool(has_colour) and is_white_on_white(read, colour, read.picture.place(box))


def _field(form: Any, annotation: Any) -> tuple[str, str, bool] | None:
    """Return what a person sees in a field, its name, and whether it is a box to be ticked."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    name = _read(lambda *out: raw.FPDFAnnot_GetFormFieldAlternateName(form, annotation, *out))
    name = name or _read(lambda *out: raw.FPDFAnnot_GetFormFieldName(form, annotation, *out))
    if kind in _TICKED:
        return "[x]" if raw.FPDFAnnot_IsChecked(form, annotation) else "[ ]", name, True
    if kind in _CHOICES:
        value = ", ".join(_chosen(form, annotation))
    elif kind == raw.FPDF_FORMFIELD_TEXTFIELD:
        if _is_password(form, annotation):
            return None
        value = ""
    else:
        return None
    value = value or _read(lambda *out: raw.FPDFAnnot_GetFormFieldValue(form, annotation, *out))
    return (value, name, False) if value else None


def _is_password(form: Any, annotation: Any) -> bool:
    flags: int = raw.FPDFAnnot_GetFormFieldFlags(form, annotation)
    return bool(flags & raw.FPDF_FORMFLAG_TEXT_PASSWORD)


def _chosen(form: Any, annotation: Any) -> Iterator[str]:
    for index in range(min(raw.FPDFAnnot_GetOptionCount(form, annotation), _MOST)):
        if raw.FPDFAnnot_IsOptionSelected(form, annotation, index):
            yield _option(form, annotation, index)


def _option(form: Any, annotation: Any, index: int) -> str:
    return _read(lambda *out: raw.FPDFAnnot_GetOptionLabel(form, annotation, index, *out))


def _read(call: Callable[..., int]) -> str:
    size = min(call(None, 0), _LONGEST)
    if size <= 2:  # the end of an empty text, in UTF-16
        return ""
    buffer = (c_ushort * (size // 2))()
    call(buffer, size)
    text = bytes(buffer).decode("utf-16-le", errors="ignore").rstrip("\0")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _contents(annotation: Any) -> str:
    return _read(lambda *out: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *out))


def _box(annotation: Any) -> Box:
    rectangle = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, rectangle)
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _label(words: list[tuple[Span, Box]], field: Box, *, before: bool) -> int | None:
    """Return where in the text the word ends that is left of a field, or begins that is right."""
    left, bottom, right, top = field
    found = []
    for span, box in words:
        middle = (box[1] + box[3]) / 2
        if not bottom - _ON_LINE <= middle <= top + _ON_LINE:
            continue
        distance = left - box[2] if before else box[0] - right
        if -_ON_LINE <= distance <= (_NEAR if before else _NEAR_TICK):
            found.append((distance, span[1] if before else span[0]))
    return min(found)[1] if found else None


def _annotations(page: pypdfium2.PdfPage) -> Iterator[Any]:
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            yield annotation
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
