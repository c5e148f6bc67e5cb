"""The deployed CloudWatch dashboard, read with its figures: whoever reads it defines none anew."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.cloudwatch.board_readings import Readings
from stackroom.aws.cloudwatch.widgets import Widget, board
from stackroom.aws.error_mapping import code_of
from stackroom.errors import FiguresNotRead
from stackroom.ports.boards import Board, Graph

# boto3's connection pool has ten connections. GetMetricData takes 500 calls a second.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class CloudWatchBoards:
    client: Any
    name: str

    def read(
        self, *, end: datetime, start: datetime | None = None, titles: Collection[str] = ()
    ) -> Board:
        try:
            return read_board(self.client, self.name, end=end, start=start, titles=titles)
        except ClientError as error:
            raise FiguresNotRead(error.operation_name, code_of(error)) from error
        except BotoCoreError as error:
            raise FiguresNotRead("CloudWatch", type(error).__name__) from error


def read_board(
    client: Any,
    name: str,
    *,
    end: datetime,
    start: datetime | None = None,
    titles: Collection[str] = (),
) -> Board:
    """
    One GetMetricData for each graph, several at a time; CloudWatch bills each metric that is asked
    for, some 200 on the whole board. Raises botocore's ClientError and BotoCoreError.
    """
    found = board(client.get_dashboard(DashboardName=name)["DashboardBody"])
    since = end - timedelta(hours=found.hours) if start is None else start
    readings = Readings(client, since, end)
    wanted = [each for each in found.widgets if not titles or each.title in titles]
    alarms = [name for each in wanted for name in each.alarms]
    states = readings.states(alarms)

    def graph(widget: Widget) -> Graph:
        return Graph(title=widget.title, lines=tuple(readings.of(widget)))

    with ThreadPoolExecutor(_READERS) as readers:
        graphs = tuple(readers.map(graph, (each for each in wanted if each.lines)))
    return Board(
        name=name,
        start=since,
        end=end,
        alarms={each: states.get(each) for each in alarms},
        graphs=graphs,
    )
