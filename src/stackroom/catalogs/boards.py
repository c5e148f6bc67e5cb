"""The figures that a deployment's dashboard shows, as they are drawn there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

Series = Mapping[datetime, float]


@dataclass(frozen=True)
class Reading:
    """A line as it is drawn, oldest first; or why it can't be."""

    label: str
    series: Series
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Graph:
    title: str
    lines: tuple[Reading, ...]


@dataclass(frozen=True, kw_only=True)
class Board:
    """Between two moments. `alarms` are states by name; None for one that there is not."""

    name: str
    start: datetime
    end: datetime
    alarms: Mapping[str, str | None]
    graphs: tuple[Graph, ...]


class Boards(Protocol):
    def read(
        self, *, end: datetime, start: datetime | None = None, titles: Collection[str] = ()
    ) -> Board:
        """
        The dashboard as it is deployed, over as much time as it shows unless `start` says more;
        of its graphs those of these titles, or all. Raises FiguresNotRead.
        """
        ...
