"""
Images of a PDF's page, and writing on it that is no text: scans, whole pages or parts of them, also
in strips, inside forms and in the page's own content; letters drawn as shapes.
"""

from collections.abc import Iterator, Sequence

from pypdfium2 import raw

from stackroom.inspection.extraction import pdfium_calls as calls
from stackroom.inspection.extraction.page import PageGap
from stackroom.inspection.extraction.pdf_picture import Picture
from stackroom.inspection.extraction.pdf_visibility import ReadPage, Span, is_inkless
from stackroom.inspection.extraction.pdfium_calls import Box

_MOST_OBJECTS = 50_000  # of a page that are looked at
_DEEPEST = 8  # forms within forms
_IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_GRID = 48  # cells along each side of the page, by which it is measured what images cover
_PICTURED = 0.5  # of a page, from which on it is taken for a picture of one
_PART = 0.1  # of a page, from which on an image may be a scan
FEWEST_WORDS = 20  # of a page that is text: a footer has some
_LEAST_LINES = 2


def images_on(page: int) -> list[Box]:
    """Return where images stand on the page, strips of one that was cut each for itself."""
    count = calls.count_objects(page)
    objects = (calls.get_object(page, index) for index in range(min(count, _MOST_OBJECTS)))
    return list(_images(objects, _IDENTITY, 0))


def _images(objects: Iterator[int], matrix: Sequence[float], depth: int) -> Iterator[Box]:
    for each in objects:
        kind = calls.get_type(each)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            yield _transformed(calls.bounds(each), matrix)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            count = min(calls.count_objects_of_form(each), _MOST_OBJECTS)
            inside = (calls.get_object_of_form(each, index) for index in range(count))
            yield from _images(inside, _product(calls.matrix(each), matrix), depth + 1)


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


def unread_writing(read: ReadPage, images: Sequence[Box], words: Sequence[Span]) -> PageGap | None:
    """Return what people see on the page that its words, those of OCR too, do not say."""
    if any(is_inkless(read, word) for word in words):
        return None
    picture = read.picture
    share = share_of(images, picture)
    is_bare = len(words) < FEWEST_WORDS
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
    elif is_bare:
        around = whole
    else:
        return None
    if picture.lines_beside(around, [read.area(word) for word in words]) < _LEAST_LINES:
        return None
    return PageGap.NO_TEXT if is_bare else PageGap.UNREAD_PART
