"""
Lines over time as the paths of an SVG, which a template puts together: no script, no style of its
own. All of a graph's lines share one scale, from 0 or the least to the most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from stackroom.catalogs.overview import Graph, Reading
from stackroom.tools.texts import figure

WIDTH, HEIGHT = 320, 80  # units of the drawing
_GAP = 2.5  # times the usual distance of two points: nothing was reported between


@dataclass(frozen=True, kw_only=True)
class DrawnLine:
    """
    `path` is the line, and `dots` are points with none beside them; both are empty where nothing
    was reported. `trouble` says why it can't be drawn.
    """

    label: str
    path: str = ""
    dots: str = ""
    last: str = "–"
    least: str = "–"
    most: str = "–"
    trouble: str = ""

    @property
    def is_drawn(self) -> bool:
        return bool(self.path or self.dots)


@dataclass(frozen=True, kw_only=True)
class DrawnGraph:
    """`top` labels the scale; `is_zero` if there is nothing else."""

    title: str
    lines: tuple[DrawnLine, ...]
    top: str
    is_zero: bool

    @property
    def told(self) -> str:
        """For whoever can't see it."""
        return "; ".join(
            f"{each.label}: last {each.last}, least {each.least}, most {each.most}"
            for each in self.lines
            if each.is_drawn
        )


def drawn(graph: Graph, *, start: datetime, end: datetime) -> DrawnGraph | None:
    """None where nothing was reported of it, and nothing troubles it."""
    lines = [each for each in graph.lines if each.series or each.trouble]
    if not lines:
        return None
    values = [value for each in lines for value in each.series.values()]
    least, most = min(0.0, *values, 0.0), max(values, default=0.0)
    scale = _Scale(start=start, end=end, least=least, most=most)
    return DrawnGraph(
        title=graph.title,
        lines=tuple(_line(each, scale) for each in lines),
        top=figure(most),
        is_zero=not any(values) and not any(each.trouble for each in lines),
    )


@dataclass(frozen=True, kw_only=True)
class _Scale:
    start: datetime
    end: datetime
    least: float
    most: float

    def x(self, moment: datetime) -> float:
        whole = max(1.0, (self.end - self.start).total_seconds())
        share = (moment - self.start).total_seconds() / whole
        return round(WIDTH * min(1.0, max(0.0, share)), 1)

    def y(self, value: float) -> float:
        height = self.most - self.least
        return round(HEIGHT * (1 - (value - self.least) / height), 1) if height else HEIGHT


def _line(reading: Reading, scale: _Scale) -> DrawnLine:
    if not reading.series:
        return DrawnLine(label=reading.label, trouble=reading.trouble)
    values = list(reading.series.values())
    pieces = list(_pieces(sorted(reading.series.items()), scale))
    return DrawnLine(
        label=reading.label,
        path=" ".join("M" + "L".join(each) for each in pieces if len(each) > 1),
        # Without length, so that its round ends are all that shows.
        dots=" ".join(f"M{each[0]}h0" for each in pieces if len(each) == 1),
        last=figure(values[-1]),
        least=figure(min(values)),
        most=figure(max(values)),
        trouble=reading.trouble,
    )


def _pieces(points: Sequence[tuple[datetime, float]], scale: _Scale) -> Iterator[list[str]]:
    """The places of points beside each other."""
    moments = [moment.timestamp() for moment, _ in points]
    usual = min((b - a for a, b in pairwise(moments)), default=0.0)
    piece = list[str]()
    for number, (moment, value) in enumerate(points):
        if piece and moments[number] - moments[number - 1] > _GAP * usual:
            yield piece
            piece = []
        piece.append(f"{scale.x(moment):g} {scale.y(value):g}")
    if piece:
        yield piece
