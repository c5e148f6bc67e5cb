"""A text's blocks on a page: running text, and rows of cells between tabs as a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby

from stackroom.search.question_words import MarkedPiece

Pieces = list[MarkedPiece]
_WRAPPED = 40  # characters: a shorter line ends where its author wanted
_ENDS = ".:;!?-\N{SOFT HYPHEN}"
_NEW_LINE = "\n"


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """Either running text, or rows of cells."""

    pieces: Pieces
    rows: list[list[Pieces]]

    @property
    def has_mark(self) -> bool:
        cells = (piece for row in self.rows for cell in row for piece in cell)
        return any(each.is_marked for each in chain(self.pieces, cells))


def blocks_of(pieces: Iterable[MarkedPiece]) -> Iterator[TextBlock]:
    """Yield all of the text in its order."""
    for has_cells, lines in groupby(_lines(pieces), key=_has_cells):
        if has_cells:
            yield TextBlock(pieces=[], rows=[_cells(line) for line in lines])
        else:
            yield TextBlock(pieces=[each for line in lines for each in line], rows=[])


def unwrapped(lines: Iterable[str]) -> str:
    """Return the text of a PDF with the lines joined that its pages broke within a sentence."""
    text, above = "", ""
    for line in lines:
        is_broken = len(above) >= _WRAPPED and above[-1:] not in _ENDS and line[:1].islower()
        text += f"{' ' if is_broken else _NEW_LINE}{line}" if text else line
        above = line
    return text


def plain_blocks(text: str) -> list[TextBlock]:
    """Return the blocks of a text without marks."""
    return list(blocks_of([MarkedPiece(text=text, is_marked=False)]))


def _lines(pieces: Iterable[MarkedPiece]) -> Iterator[Pieces]:
    """Yield each line with its end."""
    line: Pieces = []
    for piece in pieces:
        for part in piece.text.splitlines(keepends=True):
            line.append(MarkedPiece(text=part, is_marked=piece.is_marked))
            if part.endswith("\n"):
                yield line
                line = []
    if line:
        yield line


def _has_cells(line: Pieces) -> bool:
    """Return True for a tab that does more than indent the line."""
    return "\t" in "".join(piece.text for piece in line).strip()


def _cells(line: Pieces) -> list[Pieces]:
    cells: list[Pieces] = [[]]
    for piece in line:
        first, *others = piece.text.rstrip("\n").split("\t")
        cells[-1].append(MarkedPiece(text=first, is_marked=piece.is_marked))
        cells += [[MarkedPiece(text=each, is_marked=piece.is_marked)] for each in others]
    return cells
