"""A page of a PDF as its readers see it, drawn by PDFium to be looked at word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import c_int
from dataclasses import dataclass
from functools import cache

import pypdfium2
from pypdfium2 import raw

from stackroom.text.extraction.pdfium_calls import Box

Area = tuple[int, int, int, int]  # left, top, right, bottom in pixels

_LONGEST = 2_500  # pixels of a side: a poster is drawn smaller
_FINE = 10_000  # steps of a side in which PDFium is asked where a point of the page stands
_FAINTEST = 10  # of 255: two shades that differ by less look the same
_INK = 48  # of 255: what is written, or drawn, differs by as much from its paper
# A line of letters crosses from dark to light so often, in a row of pixels.
_CROSSINGS = 5
_LINE_HEIGHTS = range(2, 36)  # pixels


@dataclass(frozen=True, kw_only=True)
class Picture:
    """
    A picture of a page. `to_pixels` maps a point of the page: x and y from each of a, b, c, d, e,
    f.
    """

    width: int
    height: int
    stride: int
    channels: int
    pixels: bytes
    to_pixels: tuple[float, ...]

    def place(self, box: Box) -> Area:
        """Return where a box of the page is, which may be outside."""
        a, b, c, d, e, f = self.to_pixels
        low_x, low_y, high_x, high_y = box
        if b == 0.0 == c and a > 0 > d:
            left, top = int(a * low_x + e), int(d * high_y + f)
            right, bottom = round(a * high_x + e), round(d * low_y + f)
            return left, top, max(right, left + 1), max(bottom, top + 1)
        corners = [(x, y) for x in (low_x, high_x) for y in (low_y, high_y)]
        xs = sorted(a * x + c * y + e for x, y in corners)[::3]
        ys = sorted(b * x + d * y + f for x, y in corners)[::3]
        return (
            int(xs[0]),
            int(ys[0]),
            max(round(xs[1]), int(xs[0]) + 1),
            max(round(ys[1]), int(ys[0]) + 1),
        )

    def rows(self, area: Area) -> Iterator[bytes]:
        """Yield what is seen in an area, a row of pixels each."""
        left, top, right, bottom = area
        begin, end = max(left, 0) * self.channels, min(right, self.width) * self.channels
        if begin < end:
            for start in range(
                max(top, 0) * self.stride, min(bottom, self.height) * self.stride, self.stride
            ):
                yield self.pixels[start + begin : start + end]

    def is_outside(self, area: Area) -> bool:
        left, top, right, bottom = area
        return right <= 0 or bottom <= 0 or left >= self.width or top >= self.height

    def is_plain(self, area: Area) -> bool:
        """
        Return True if nothing differs in shade in the middle of a letter's area, or beside it.
        """
        left, top, right, bottom = area
        begin, end = max(left - 1, 0), min(right + 1, self.width)
        middle, reach = (top + bottom) // 2, (bottom - top) // 4
        for row in _outwards(middle, reach):  # most letters are seen in the first
            if 0 <= row < self.height:
                start = row * self.stride
                seen = self.pixels[start + begin : start + end]
                if seen and max(seen) - min(seen) >= _FAINTEST:
                    return False
        return True

    def is_blank(self, area: Area) -> bool:
        """Return True if nothing is written or drawn in an area."""
        seen = b"".join(self.rows(area))
        return not seen or max(seen) - min(seen) < _INK

    def shade(self, area: Area) -> int:
        """Return the shade that half of an area is darker than."""
        seen = sorted(b"".join(self.rows(area)))
        return seen[len(seen) // 2] if seen else 255

    def lines_beside(self, area: Area, others: Sequence[Area]) -> int:
        """
        Count the lines of writing in an area, but for rows that have anything of others.

        A row through letters crosses from paper to ink many times, and few rows in a sequence do: a
        photograph has none, or a hundred of them.
        """
        begin, top, end, _ = area
        taken = bytearray(self.height)
        for left, low, right, high in others:
            if left < end and begin < right:
                rows_of = range(max(low, 0), min(high, self.height))
                if rows_of:
                    taken[rows_of.start : rows_of.stop] = b"\1" * len(rows_of)
        rows = list(self.rows(area))
        seen = b"".join(rows)
        if not seen or max(seen) - min(seen) < _INK:
            return 0
        middle = (max(seen) + min(seen)) // 2
        shades = bytes(int(shade > middle) for shade in range(256))
        lines = run = 0
        for number, row in enumerate((*rows, b""), start=max(top, 0)):
            is_taken = number < self.height and taken[number]
            if not is_taken and row.translate(shades).count(b"\0\1") >= _CROSSINGS:
                run += 1
                continue
            lines += run in _LINE_HEIGHTS
            run = 0
        return lines

    def differs(self, other: Picture, area: Area) -> bool:
        """
        Return True if a person would see a difference in an area between two pictures of one page.
        """
        return any(
            mine != its and max(abs(a - b) for a, b in zip(mine, its, strict=True)) >= _FAINTEST
            for mine, its in zip(self.rows(area), other.rows(area), strict=True)
        )


@cache
def _outwards(middle: int, reach: int) -> tuple[int, ...]:
    return (middle, *(middle + side * each for each in range(1, reach + 1) for side in (1, -1)))


def draw(page: pypdfium2.PdfPage, *, scale: float = 1.0, colour: bool = False) -> Picture:
    """Draw the page without its annotations; in shades of grey, a byte a pixel, or in colour."""
    width, height = page.get_size()
    scale = min(scale, _LONGEST / max(width, height, 1.0))
    across, down = max(round(width * scale), 1), max(round(height * scale), 1)
    kind = raw.FPDFBitmap_BGR if colour else raw.FPDFBitmap_Gray
    bitmap = pypdfium2.PdfBitmap.new_native(across, down, kind)
    try:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, across, down)
        flags = 0 if colour else raw.FPDF_GRAYSCALE
        raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, flags)
        return Picture(
            width=across,
            height=down,
            stride=bitmap.stride,
            channels=3 if colour else 1,
            pixels=bytes(bitmap.buffer),
            to_pixels=_to_pixels(page, across, down),
        )
    finally:
        bitmap.close()


def _to_pixels(page: pypdfium2.PdfPage, across: int, down: int) -> tuple[float, ...]:
    def device(x: float, y: float) -> tuple[float, float]:
        found = c_int(), c_int()
        raw.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, x, y, *found)
        return found[0].value * across / _FINE, found[1].value * down / _FINE

    e, f = device(0, 0)
    far = 1_000.0
    (right, right_down), (up, up_down) = device(far, 0), device(0, far)
    return (right - e) / far, (right_down - f) / far, (up - e) / far, (up_down - f) / far, e, f
