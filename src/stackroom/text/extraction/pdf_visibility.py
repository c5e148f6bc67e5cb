"""
Words of a PDF's page that nobody sees: drawn in no ink, in the colour of the paper, tiny, off the
page, clipped away, on a layer that is off, or under what was drawn over them.

The page is drawn once, and in the middle of each word, something must be seen. Where that is in
doubt, it is drawn twice more, with and without the words in doubt: what makes no difference is not
seen. Invisible text over an image, or under it, is what OCR read of a scan.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_float, cast, string_at
from dataclasses import dataclass
from functools import cached_property, partial

import pypdfium2
from pypdfium2 import raw

from stackroom.text.extraction import pdfium_calls as calls
from stackroom.text.extraction.pdf_picture import Area, Picture, draw
from stackroom.text.extraction.pdfium_calls import Box

# U+FFFE stands for the hyphen of a word broken at a line's end, of which each part is looked at.
_WORD = re.compile(r"[^\s\ufffe]+")
_LINE = re.compile(r"[^\r\n\ufffe]+")
_LETTER = re.compile(r"[^\W_]")
_TINY = 1.1  # points from the lowest to the highest of a font: it is of a point or less
_SMALLEST = 0.002  # of the longer side: small pages are enlarged
_FEW_LETTERS = 3  # of a word that is wider than high
_LEAST_ROOM = 0.2  # of a line's height, for a letter
_NARROW = 0.2  # points that a letter is wide
_FAINT = 26  # of 255: letters as opaque as that can hardly be seen
_WHITE = 245  # and more, of 255, of red, green and blue
_DARK = 200  # the paper that white letters can be read on
_OVERLAP = 0.6  # of a line, or a word, that stands where others do
_SIDES = 0.15  # of a word's width
_CELL = 4  # pixels
_FINE = 2.0  # pixels a point, where words are in doubt
_LEAST_PIXELS = 2.0  # of a word; on a huge drawing people enlarge smaller ones
_NEAR = 18.0  # points from a word of OCR to what it was read of
_LAST_LATIN = "\u00ff"
_MOST_POINTS = 1_000  # of a clip path that are looked at

Span = tuple[int, int]  # where a word begins and ends in the text of its page


@dataclass(frozen=True)
class ReadPage:
    """A page with its text, as PDFium reads it, and a picture of it."""

    document: pypdfium2.PdfDocument
    page: pypdfium2.PdfPage
    text_page: pypdfium2.PdfTextPage

    @cached_property
    def text(self) -> str:
        text: str = self.text_page.get_text_range()
        return text

    @cached_property
    def picture(self) -> Picture:
        return draw(self.page)

    @cached_property
    def words(self) -> list[Span]:
        found = (each.span() for each in _WORD.finditer(self.text))
        return [span for span in found if _LETTER.search(self.text, *span)]

    def area(self, span: Span) -> Area:
        return self.picture.place(self.box(span))

    def box(self, span: Span) -> Box:
        one, other = self._box(span[0]), self._box(span[1] - 1)
        left, bottom = min(one[0], other[0]), min(one[1], other[1])
        return left, bottom, max(one[2], other[2]), max(one[3], other[3])

    @cached_property
    def middles(self) -> list[Box]:
        """The box of a letter in the middle of each word."""
        text, box = self.text, self._box
        if self._is_same and not self._doubled:
            box = partial(calls.character_box, self._raw)
        middles = ((begin + end) // 2 for begin, end in self.words)
        return [
            box(at if text[at].isalnum() else self.first_letter(span))
            for at, span in zip(middles, self.words, strict=True)
        ]

    def first_letter(self, span: Span) -> int:
        found = _LETTER.search(self.text, *span)
        return found.start() if found else span[0]

    def _box(self, at: int) -> Box:
        return calls.character_box(self._raw, self.character(at))

    def character(self, at: int) -> int:
        """
        Return PDFium's number of a character. It counts two for each outside Unicode's first plane,
        such as the letters of formulas, and some that are not in the text.
        """
        if self._is_same:
            return at + bisect_left(self._doubled, at) if self._doubled else at
        number: int = calls.character_at(self._raw, at + bisect_left(self._doubled, at))
        return number

    @cached_property
    def _doubled(self) -> list[int]:
        if self.text.isascii():
            return []
        return [at for at, letter in enumerate(self.text) if letter > "\uffff"]

    def is_replaced(self, span: Span) -> bool:
        """Return True for a word that stands for what is drawn there [ISO 32000-1, 14.9.4]."""
        at = self.character(span[0])
        return calls.shape_box(self._raw, at) == calls.character_box(self._raw, at)

    def text_object(self, span: Span) -> int:
        return calls.get_text_object(self._raw, self.character(span[0])) or 0

    def colour(self, span: Span) -> calls.Colour:
        return calls.character_colour(self._raw, self.character(span[0]))

    @cached_property
    def _raw(self) -> int:
        return calls.address(self.text_page)

    @cached_property
    def _is_same(self) -> bool:
        count: int = calls.count_characters(self._raw)
        return len(self.text) + len(self._doubled) == count


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """Words that nobody sees of a page, in its order; and whether OCR read others of an image."""

    words: list[Span]
    has_recognized: bool


def unseen_words(read: ReadPage, images: Sequence[Box], scans: Sequence[Box]) -> Unseen:
    """Return what nobody sees of a page with these images, of which some are `scans`."""
    picture = read.picture
    hidden, in_doubt = set[Span](), set[Span]()
    tiny = min(_TINY, _SMALLEST * max(read.page.get_size()))
    for span, box in zip(read.words, read.middles, strict=True):
        area = picture.place(box)
        is_tiny = max(box[2] - box[0], box[3] - box[1]) < tiny
        is_outside = picture.is_outside(area) and picture.is_outside(read.area(span))
        is_flat = min(box[2] - box[0], box[3] - box[1]) < tiny / 2 and _is_flat(read, span, tiny)
        if is_tiny or is_outside or is_flat or _is_stuffed(read, span, box):
            hidden.add(span)
        elif picture.is_plain(area) and picture.is_plain(_inner(read.area(span))):
            in_doubt.add(span)
    in_doubt |= _in_doubt(read)
    in_doubt.update(span for span in read.words if images and _is_on(read.box(span), images))
    doubtful = [span for span in read.words if span in in_doubt and span not in hidden]
    has_recognized = False
    for span in _unseen(read, doubtful):
        is_white = not is_inkless(read, span) and _is_white(read.colour(span))
        if is_white or not _is_recognized(read, span, scans):
            hidden.add(span)
        else:
            has_recognized = True
    words = [span for span in read.words if span in hidden]
    return Unseen(words=words, has_recognized=has_recognized)


def _is_flat(read: ReadPage, span: Span, tiny: float) -> bool:
    """Return True for a word whose letters are pressed flat, or into each other."""
    left, bottom, right, top = read.box(span)
    return span[1] - span[0] >= _FEW_LETTERS and min(right - left, top - bottom) < tiny / 2


def _is_stuffed(read: ReadPage, span: Span, box: Box) -> bool:
    """Return True for text that stands for what is drawn, in less room than its letters need."""
    return box[2] - box[0] < _LEAST_ROOM * (box[3] - box[1]) and read.is_replaced(span)


def _is_on(box: Box, images: Sequence[Box]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in images)


def _inner(area: Area) -> Area:
    """Leave out the sides of a word: what covers it may end a little before its last letter."""
    left, top, right, bottom = area
    aside = int(_SIDES * (right - left))
    return left + aside, top, right - aside, bottom


def _in_doubt(read: ReadPage) -> set[Span]:
    """Return the words that may be unseen although something is seen where they stand."""
    begins = [begin for begin, _ in read.words]
    lines = [each.span() for each in _LINE.finditer(read.text) if _LETTER.search(each[0])]

    def words_of(found: Iterable[Span]) -> list[Span]:
        places = (slice(*(bisect_left(begins, at) for at in line)) for line in found)
        return [each for place in places for each in read.words[place]]

    suspects = words_of(line for line in lines if _is_suspect(read, line))
    return {*suspects, *_overlapping(read, words_of(_overlapping(read, lines)))}


def _is_suspect(read: ReadPage, line: Span) -> bool:
    """Return True if a line may be invisible, whatever else is visible in its place."""
    begin = read.first_letter(line), line[1]
    if is_inkless(read, begin):
        return True
    colour = read.colour(begin)
    if colour[3] < _FAINT:
        return True
    return is_white_on_white(read, colour, read.area(line))


def is_inkless(read: ReadPage, span: Span) -> bool:
    """
    Return True if a word is drawn in no ink, as OCR lays it over the image that it was read from.
    """
    mode: int = calls.get_render_mode(read.text_object(span))
    return mode == int(raw.FPDF_TEXTRENDERMODE_INVISIBLE)


def is_white_on_white(read: ReadPage, colour: calls.Colour, area: Area) -> bool:
    return _is_white(colour) and read.picture.shade(area) >= _DARK


def _is_white(colour: calls.Colour) -> bool:
    return min(colour[:3]) >= _WHITE


def _overlapping(read: ReadPage, spans: Sequence[Span]) -> set[Span]:
    """Return spans of text that stand where others do, as far as the middles of both tell."""
    rows: dict[int, tuple[bytearray, list[tuple[int, int, Span]]]] = {}
    width = read.picture.width // _CELL + 1
    found = set[Span]()
    for span in spans:
        left, top, right, bottom = read.area(span)
        begin, end = max(left, 0) // _CELL, min(right // _CELL, width)
        taken, before = rows.setdefault((top + bottom) // 2 // _CELL, (bytearray(width), []))
        if taken.count(1, begin, end) > _OVERLAP * (end - begin):
            found.add(span)
            found.update(each for low, high, each in before if low < end and begin < high)
        taken[begin:end] = b"\1" * (end - begin)
        before.append((begin, end, span))
    return found


def _is_recognized(read: ReadPage, span: Span, scans: Sequence[Box]) -> bool:
    """Return True if a word that can't be seen is OCR's reading of an image."""
    left, bottom, right, top = box = read.box(span)
    if not _is_on(box, scans):
        return False
    around = left - _NEAR, bottom - _NEAR, right + _NEAR, top + _NEAR
    return not read.picture.is_blank(read.picture.place(around))


def _unseen(read: ReadPage, doubtful: Sequence[Span]) -> Iterator[Span]:
    """Yield the words without which the page looks the same."""
    objects = {span: read.text_object(span) for span in doubtful if not is_inkless(read, span)}
    yield from (span for span in doubtful if span not in objects)
    if not objects:
        return
    before = draw(read.page, scale=_FINE, colour=True)
    for each in objects.values():
        calls.set_active(each, False)
    after = draw(read.page, scale=_FINE, colour=True)
    for each in objects.values():
        calls.set_active(each, True)
    can_be_drawn = {each: _can_be_drawn(read, each) for each in set(objects.values())}
    pixels_a_point = abs(before.to_pixels[0]) + abs(before.to_pixels[1])
    for span, text_object in objects.items():
        box = read.box(span)
        is_clip = calls.get_render_mode(text_object) == raw.FPDF_TEXTRENDERMODE_CLIP
        if is_clip and not read.picture.is_plain(read.area(span)):
            continue  # what is painted in its letters is seen
        is_drawn = (
            is_clip
            or _is_suspect(read, span)
            or (
                can_be_drawn[text_object]
                and _has_shapes(read.text[slice(*span)], text_object)
                and max(box[2] - box[0], box[3] - box[1]) * pixels_a_point >= _LEAST_PIXELS
            )
        )
        is_narrow = max(box[2] - box[0], box[3] - box[1]) < _NARROW * (span[1] - span[0])
        if is_narrow or (is_drawn and not before.differs(after, before.place(box))):
            yield span


def _can_be_drawn(read: ReadPage, text_object: int) -> bool:
    """
    Return True if PDFium has the letters' shapes: those of fonts that are not in the file may be
    missing here, and people see them all the same.
    """
    handle = cast(text_object, raw.FPDF_PAGEOBJECT)
    bitmap = raw.FPDFTextObj_GetRenderedBitmap(read.document, read.page, handle, 1.0)
    if bitmap:
        size = raw.FPDFBitmap_GetStride(bitmap) * raw.FPDFBitmap_GetHeight(bitmap)
        pixels = string_at(raw.FPDFBitmap_GetBuffer(bitmap), size)
        raw.FPDFBitmap_Destroy(bitmap)
        if any(pixels):
            return True
    return _is_clipped(handle, calls.bounds(text_object))


def _has_shapes(word: str, text_object: int) -> bool:
    """
    Return False if PDFium may lack a word's letters: of fonts outside the file it knows the Latin
    letters alone, and the same object may hold such letters too.
    """
    if max(word) <= _LAST_LATIN:
        return True
    handle = cast(text_object, raw.FPDF_PAGEOBJECT)
    return bool(raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(handle)) == 1)


def _is_clipped(handle: object, bounds: Box) -> bool:
    """Return True if an object is outside one of the paths that it is clipped to."""
    clip = raw.FPDFPageObj_GetClipPath(handle)
    left, bottom, right, top = bounds
    for path in range(max(raw.FPDFClipPath_CountPaths(clip), 0)):
        points = list(_points(clip, path))
        xs, ys = [x for x, _ in points], [y for _, y in points]
        if points and not (
            min(xs) < right and left < max(xs) and min(ys) < top and bottom < max(ys)
        ):
            return True
    return False


def _points(clip: object, path: int) -> Iterator[tuple[float, float]]:
    x, y = c_float(), c_float()
    for index in range(min(raw.FPDFClipPath_CountPathSegments(clip, path), _MOST_POINTS)):
        segment = raw.FPDFClipPath_GetPathSegment(clip, path, index)
        if raw.FPDFPathSegment_GetPoint(segment, x, y):
            yield x.value, y.value
