"""
Words of a PDF in other letters than its pages show: the font's map to Unicode is wrong.

Letters have shapes, whatever the language: a "g" reaches below the line, and a "d" above an "e".
Fonts whose letters differ from these in most ways have a wrong map. A font whose letters are all
alike, such as that of OCR's unseen text, says nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations

from stackroom.text.extraction import pdfium_calls as calls
from stackroom.text.extraction.pdf_visibility import ReadPage, Span, is_inkless

_LOW, _TALL = frozenset("aceomnrsuvwxz"), frozenset("bdfhkl")
_ON_LINE, _BELOW = frozenset("abcdehiklmnorstuvwx"), frozenset("gpqy")
_CAPITALS = frozenset("ABCDEFGHIKLMNOPRSTUVWXYZ")  # that stand on the line
_ALIKE = 0.08  # of a line's height, by which letters of one height may differ
_UPRIGHT = 0.1  # of a letter's width, by which its line may rise
_LEAST_LETTERS = 8  # different ones, of a font that says anything
_MOST_LETTERS = 300  # of a font that are looked at, on a page
_LEAST_AGREEING = 0.6  # of the pairs that say something
_MOST_SHAPES = 3  # of one letter: of a line, raised, and lowered
_IDEOGRAPHS = ("\u4e00", "\u9fff")
_UNEVEN = 0.15  # of their width, by which ideographs of one font hardly ever differ
_MOST_OTHERS = 0.2  # of them

_Shape = tuple[str, float, float]  # a letter, and how high and how low it reaches, of its line


@dataclass
class _Font:
    words: list[Span]
    shapes: set[_Shape]
    widths: list[float]  # of ideographs
    looked_at: int = 0  # letters


@dataclass(frozen=True, kw_only=True)
class Letters:
    """`wrong` are words that the page doesn't show so; `are_judged` if most words' shapes speak."""

    wrong: frozenset[Span]
    are_judged: bool


def letters_of(read: ReadPage, hidden: Collection[Span]) -> Letters:
    """Compare the letters of a page's words with their shapes."""
    fonts = defaultdict[int, _Font](lambda: _Font([], set(), []))
    seen = [each for each in read.words if each not in hidden and not is_inkless(read, each)]
    for span in seen:
        font = fonts[calls.get_font(read.text_object(span)) or 0]
        font.words.append(span)
        if font.looked_at < _MOST_LETTERS:
            _note(read, span, font)
    verdicts = [(font, _is_right(font)) for font in fonts.values()]
    wrong = [word for font, is_right in verdicts if is_right is False for word in font.words]
    judged = sum(len(font.words) for font, is_right in verdicts if is_right is not None)
    return Letters(wrong=frozenset(wrong), are_judged=2 * judged > len(read.words) - len(hidden))


def _note(read: ReadPage, span: Span, font: _Font) -> None:
    page = calls.address(read.text_page)
    for at in range(*span):
        letter = read.text[at]
        is_ideograph = _IDEOGRAPHS[0] <= letter <= _IDEOGRAPHS[1]
        if not is_ideograph and not (letter.isascii() and letter.isalnum()):
            continue
        font.looked_at += 1
        number = read.character(at)
        right, up, _, down, _, _ = calls.character_matrix(page, number)
        line, shape = calls.character_box(page, number), calls.shape_box(page, number)
        height = line[3] - line[1]
        if down <= 0 or abs(up) > _UPRIGHT * abs(right) or height <= 0 or shape[3] <= shape[1]:
            continue
        if is_ideograph:
            font.widths.append((line[2] - line[0]) / height)
        else:
            high, low = ((each - line[1]) / height for each in (shape[3], shape[1]))
            font.shapes.add((letter, round(high, 2), round(low, 2)))


def _is_right(font: _Font) -> bool | None:
    """Return None where the shapes say nothing."""
    if len(font.widths) >= _LEAST_LETTERS:
        middle = sorted(font.widths)[len(font.widths) // 2]
        uneven = sum(abs(each - middle) > _UNEVEN * middle for each in font.widths)
        return uneven < _MOST_OTHERS * len(font.widths)
    if any(count > _MOST_SHAPES for count in _counts(font.shapes)):
        return False
    small = [each for each in font.shapes if each[0].islower()]
    capitals = [each for each in font.shapes if each[0] in _CAPITALS]
    found = [
        [said for pair in combinations(sorted(shapes), 2) for said in says(*pair)]
        for shapes, says in ((small, _said_of_small), (capitals, _said_of_capitals))
        if len({letter for letter, _, _ in shapes}) >= _LEAST_LETTERS
    ]
    shares = [sum(each) / len(each) for each in found if len(each) >= _LEAST_LETTERS]
    return min(shares) >= _LEAST_AGREEING if shares else None


def _counts(shapes: Collection[_Shape]) -> Iterator[int]:
    """Yield how many shapes each letter has."""
    of = defaultdict[str, list[_Shape]](list)
    for each in sorted(shapes):
        if not any(_are_alike(each, other) for other in of[each[0]]):
            of[each[0]].append(each)
    return map(len, of.values())


def _are_alike(one: _Shape, other: _Shape) -> bool:
    return abs(one[1] - other[1]) <= _ALIKE and abs(one[2] - other[2]) <= _ALIKE


def _said_of_capitals(one: _Shape, other: _Shape) -> Iterator[bool]:
    yield _are_alike(one, other)


def _said_of_small(one: _Shape, other: _Shape) -> Iterator[bool]:
    """Yield whether two letters differ as they should, in height and in depth, where they do."""
    letters = one[0], other[0]
    heights, depths = (one[1], other[1]), (one[2], other[2])
    for lower, higher, (first, second) in ((_LOW, _TALL, heights), (_BELOW, _ON_LINE, depths)):
        if lower.union(higher).issuperset(letters) and abs(first - second) > _ALIKE:
            low = letters[0] if first < second else letters[1]
            yield low in lower and not lower.issuperset(letters)
