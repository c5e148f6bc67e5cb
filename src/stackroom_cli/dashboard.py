"""
The `dashboard` command: the figures of the deployed CloudWatch dashboard, for people and programs.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stackroom.aws.cloudwatch.cloudwatch_boards import read_board
from stackroom.catalogs.overview import Board, Reading
from stackroom.tools.texts import figure
from stackroom_cli.json_output import DashboardAnswer, LineTold, WidgetTold
from stackroom_cli.output import Output
from stackroom_cli.sites.site import Site
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError

_PAUSE = 5.0  # seconds, between looks
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 36  # of a line's course, in cells
_STATES = {"OK": "green", "ALARM": "red", "INSUFFICIENT_DATA": "dim"}
_ABSENT = "not available here"  # alarms on metric math, which the local CloudWatch hasn't


class NoDashboard(LocalModeError):
    def __init__(self, name: str, project: str) -> None:
        super().__init__(
            f"CloudWatch has no dashboard {name!r}; deploy the stack {project}-operations, which "
            "creates it"
        )


def dashboard(site: Site, *, hours: float | None, watch: bool, output: Output) -> None:
    out = output.people
    if not watch:
        board = read(site, hours)
        out.print(render(board))
        output.answer(answer(board))
        return
    with Live(console=out, auto_refresh=False, vertical_overflow="visible") as live:
        while True:
            live.update(render(read(site, hours)), refresh=True)
            time.sleep(_PAUSE)


def read(site: Site, hours: float | None = None) -> Board:
    """Return the deployed dashboard with its figures. Raises `NoDashboard`."""
    cloudwatch = site.client("cloudwatch")
    name = f"{site.project}-{cloudwatch.meta.region_name}"
    end = datetime.now(UTC)
    start = None if hours is None else end - timedelta(hours=hours)
    # AWS answers DashboardNotFoundError, whose code is ResourceNotFound; so does ministack.
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetDashboard.html
    try:
        return read_board(cloudwatch, name, start=start, end=end)
    except cloudwatch.exceptions.ClientError as error:
        if error.response["Error"]["Code"] not in {"ResourceNotFound", "DashboardNotFoundError"}:
            raise
        raise NoDashboard(name, site.project) from None


def answer(board: Board) -> DashboardAnswer:
    return DashboardAnswer(
        dashboard=board.name,
        start=board.start,
        end=board.end,
        alarms=dict(board.alarms),
        alarms_trouble=board.alarms_trouble or None,
        widgets=[
            WidgetTold(title=each.title, lines=[_line_answer(line) for line in each.lines])
            for each in board.graphs
        ],
    )


def render(board: Board) -> RenderableType:
    hours = (board.end - board.start).total_seconds() / 3600
    head = Text(f"{board.name}: the last {hours:g} h, until {board.end:%Y-%m-%d %H:%M} UTC")
    return Group(head, *_alarms(board.alarms, board.alarms_trouble), *_tables(board))


def _alarms(states: Mapping[str, str | None], trouble: str) -> Iterator[RenderableType]:
    if not states and not trouble:
        return
    yield Text("\nAlarms", style="bold")
    if trouble:
        yield Text(f"could not be read: {one_line(trouble)}", style="red")
    for state in dict.fromkeys((*_STATES, *states.values())):
        if names := sorted(name for name, each in states.items() if each == state):
            label = _ABSENT if state is None else state
            yield Text(f"{label}: {', '.join(names)}", style=_STATES.get(label, "dim"))


def _tables(board: Board) -> Iterator[RenderableType]:
    for graph in board.graphs:
        yield Text(f"\n{graph.title}", style="bold")
        lines = [each for each in graph.lines if each.series or each.trouble]
        if not lines:
            yield Text("no data", style="dim")
            continue
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("", overflow="fold", min_width=24)
        for column in ("last", "min", "max"):
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for each in lines:
            table.add_row(*_row(each, board))
        yield table


def _row(reading: Reading, board: Board) -> Iterable[RenderableType]:
    label = Text(one_line(reading.label))
    if reading.trouble:
        return label, "", "", "", Text(one_line(reading.trouble), style="red")
    values = list(reading.series.values())
    course = Text(_course(reading, board), style="cyan")
    return label, figure(values[-1]), figure(min(values)), figure(max(values)), course


def _course(reading: Reading, board: Board) -> str:
    """
    Draw a line's maximum in each part of the period as a row of bars; blank where there is no
    figure.
    """
    most = max(*reading.series.values(), 0.0)
    span = (board.end - board.start) / _WIDTH
    parts: dict[int, float] = {}
    for moment, value in reading.series.items():
        at = min(_WIDTH - 1, max(0, int((moment - board.start) / span)))
        parts[at] = max(value, parts.get(at, value))
    return "".join(_bar(parts[at], most) if at in parts else " " for at in range(_WIDTH))


def _bar(value: float, most: float) -> str:
    if value <= 0 or most <= 0:
        return _BARS[0]
    return _BARS[min(len(_BARS) - 1, int(value / most * (len(_BARS) - 1) + 0.5))]


def _line_answer(reading: Reading) -> LineTold:
    return LineTold(
        label=reading.label,
        points=list(reading.series.items()),
        trouble=reading.trouble or None,
    )
