"""
Images of a PDF's page, and writing on it that is no text: scans, whole pages or parts of them, also
in strips, inside forms and in the page's own content; letters drawn as shapes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat

from pypdfium2 import raw

from stackroom.text.extraction import pdfium_calls as calls
from stackroom.text.extraction.page import PageGap
from stackroom.text.extraction.pdf_picture import Picture
from stackroom.text.extraction.pdf_visibility import ReadPage, Span, is_inkless
from stackroom.text.extraction.pdfium_calls import Box

_MOST_OBJECTS = 50_000  # of a page that are looked at
_DEEPEST = 8  # forms within forms
_IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_GRID = 48  # cells along each side of the page, by which it is measured what images cover
_PICTURED = 0.5  # of a page, from which on it is taken for a picture of one
_PART = 0.1  # of a page, from which on an image may be a scan
FEWEST_WORDS = 20  # of a page that is text: a footer has some
_LEAST_LINES = 2
# Letters that are shapes: segments of a path that is none of a rule, a bar or a box, and of one
# letter; points that they are high, and the share of that which they are wide; letters of a line,
# and points above where it stands, between which next to nothing else stands; lines of a page that
# is writing.
_CURVED, _SEGMENTS = 7, 15
_LOWEST, _HIGHEST, _NARROWEST = 2.0, 40.0, 0.4
_LETTERS, _BETWEEN, _LEAST_SHAPES = 20, (3, 4, 5), 3

_IMAGE = re.compile(rb"/Subtype\s*/Image(?![A-Za-z])")
_SIZE = re.compile(rb"/(?:Width|Height)\s+(\d{1,9})(?!\s+\d+\s+R)")
_AROUND = 500  # bytes before and after, in which an image's size is looked for
_FEWEST_PIXELS = 40_000  # of all images together, on which writing can be read


def may_have_images(body: bytes) -> bool:
    """Return False for a PDF that has no images but for icons and the like."""
    pixels = 0
    found = [each.start() for each in _IMAGE.finditer(body)]
    if len(found) < body.count(b"/Image"):
        return True  # in a page's own content, perhaps
    for at in found:
        sizes = list(map(int, _SIZE.findall(body, max(at - _AROUND, 0), at + _AROUND)))
        pixels += max(sizes) ** 2 if len(sizes) > 1 else _FEWEST_PIXELS
    return pixels >= _FEWEST_PIXELS


def images_on(page: int) -> list[Box]:
    """Return where images stand on the page, strips of one that was cut each for itself."""
    return [
        _transformed(calls.bounds(each), matrix)
        for each, kind, matrix in _objects_on(page)
        if kind == raw.FPDF_PAGEOBJ_IMAGE
    ]


def has_lines_of_shapes(page: int) -> bool:
    """Return True for a page with lines of letters that are drawn as shapes, filled and small."""
    letters = Counter[int]()  # by the height of what they stand on
    for each, kind, matrix in _objects_on(page):
        if kind == raw.FPDF_PAGEOBJ_PATH and (count := calls.count_segments(each)) >= _CURVED:
            left, bottom, right, top = _transformed(calls.bounds(each), matrix)
            if _LOWEST < top - bottom < _HIGHEST and calls.is_filled(each):
                room = int((right - left) / (_NARROWEST * (top - bottom)))
                letters[int(bottom)] += max(1, min(count // _SEGMENTS, room))  # of a word, perhaps
    lines = sum(
        number >= _LETTERS and number >= 4 * sum(letters[low + above] for above in _BETWEEN)
        for low, number in list(letters.items())
    )
    return lines >= _LEAST_SHAPES


def _objects_on(page: int) -> Iterator[tuple[int, int, Sequence[float]]]:
    """Yield each object with its kind, and the matrix of the forms that it stands in."""
    count = calls.count_objects(page)
    objects = list(map(calls.get_object, repeat(page), range(min(count, _MOST_OBJECTS))))
    return _objects_in(objects, _IDENTITY, 0)


def _objects_in(
    objects: Sequence[int], matrix: Sequence[float], depth: int
) -> Iterator[tuple[int, int, Sequence[float]]]:
    kinds = map(calls.get_type, objects)
    for each, kind in zip(objects, kinds, strict=True):
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            count = min(calls.count_objects_of_form(each), _MOST_OBJECTS)
            inside = list(map(calls.get_object_of_form, repeat(each), range(count)))
            yield from _objects_in(inside, _product(calls.matrix(each), matrix), depth + 1)
        else:
            yield each, kind, matrix


def _product(first: Sequence[float], then: Sequence[float]) -> tuple[float, ...]:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    )


def _transformed(box: Box, matrix: Sequence[float]) -> Box:
    if matrix == _IDENTITY:
        return box
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = [a * x + c * y + e for x, y in corners], [b * x + d * y + f for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def share_of(boxes: Sequence[Box], picture: Picture) -> float:
    """Return the share of the page that the boxes cover together."""
    cells = set[tuple[int, int]]()
    for box in boxes:
        left, top, right, bottom = picture.place(box)
        across = _cells(left, right, picture.width)
        cells.update((x, y) for y in _cells(top, bottom, picture.height) for x in across)
    return len(cells) / _GRID**2


def _cells(low: int, high: int, size: int) -> range:
    """Return the cells of the grid, along one side, whose middles lie between two pixels."""
    begin, end = (round(max(0, min(each, size)) * _GRID / size) for each in (low, high))
    return range(begin, end)


def unread_writing(
    read: ReadPage, images: Sequence[Box], words: Sequence[Span], buttons: Sequence[Box]
) -> PageGap | None:
    """Return what people see on the page that its words, those of OCR too, do not say."""
    picture = read.picture
    share = share_of(images, picture)
    is_bare = len(words) < FEWEST_WORDS
    if any(is_inkless(read, word) for word in words):
        return None
    if share < _PART and not is_bare:
        return PageGap.UNREAD_PART if has_lines_of_shapes(calls.address(read.page)) else None
    whole = 0, 0, picture.width, picture.height
    if share >= _PICTURED and is_bare:
        return None if picture.is_blank(whole) else PageGap.NO_TEXT
    if share >= _PART:
        areas = [picture.place(each) for each in images]
        around = (
            min(each[0] for each in areas),
            min(each[1] for each in areas),
            max(each[2] for each in areas),
            max(each[3] for each in areas),
        )
    else:
        around = whole
    others = [*map(read.area, words), *map(picture.place, buttons)]
    if picture.lines_beside(around, others) < _LEAST_LINES:
        return None
    return PageGap.NO_TEXT if is_bare else PageGap.UNREAD_PART
