"""The deployed CloudWatch dashboard, with its figures; its definition stays the only one."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.error_mapping import code_of
from stackroom.catalogs.overview import Board, Graph, Reading
from stackroom.concurrency import chunks
from stackroom.errors import FiguresNotRead

# The members of a line of a widget:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
_PERIOD = 300  # seconds, where a line says nothing; AWS's choice for graphs of some hours
_STATISTIC = "Average"
_HOURS = re.compile(r"-PT(\d+)H")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A metric, or an expression over others' ids; `id` is unique in its widget."""

    id: str
    label: str
    visible: bool
    period: int  # seconds
    expression: str = ""
    namespace: str = ""
    name: str = ""
    dimensions: Mapping[str, str]
    statistic: str = _STATISTIC

    def query(self) -> dict[str, Any]:
        """Return the line as a query of GetMetricData."""
        common: dict[str, Any] = {"Id": self.id} | ({"Label": self.label} if self.label else {})
        if self.expression:
            return {**common, "Expression": self.expression, "Period": self.period}
        dimensions = [{"Name": name, "Value": value} for name, value in self.dimensions.items()]
        metric = {"Namespace": self.namespace, "MetricName": self.name, "Dimensions": dimensions}
        stat = {"Metric": metric, "Period": self.period, "Stat": self.statistic}
        return {**common, "MetricStat": stat}


@dataclass(frozen=True, kw_only=True)
class Widget:
    title: str
    lines: tuple[Line, ...] = ()
    alarms: tuple[str, ...] = ()  # names


@dataclass(frozen=True)
class Dashboard:
    """A dashboard as it is defined."""

    hours: int  # that it shows
    widgets: tuple[Widget, ...]


def dashboard(body: str) -> Dashboard:
    """Parse a dashboard; widgets of text, and others without figures, are left out."""
    parsed = json.loads(body)
    hours = _HOURS.fullmatch(parsed.get("start", ""))
    found = (_widget(each["type"], each.get("properties", {})) for each in parsed["widgets"])
    return Dashboard(
        hours=int(hours[1]) if hours else 3,  # AWS's default
        widgets=tuple(each for each in found if each.lines or each.alarms),
    )


def _widget(kind: str, properties: Mapping[str, Any]) -> Widget:
    alarms = [arn.partition(":alarm:")[2] for arn in properties.get("alarms", [])]
    metrics = properties.get("metrics", []) if kind == "metric" else []
    return Widget(
        title=properties.get("title", ""), lines=tuple(_lines(metrics)), alarms=tuple(alarms)
    )


def _lines(metrics: Sequence[Sequence[Any]]) -> Iterator[Line]:
    before: list[str] = []
    for number, metric in enumerate(metrics):
        options = metric[-1] if metric and isinstance(metric[-1], dict) else {}
        words = _spelled_out([each for each in metric if isinstance(each, str)], before)
        before = words or before
        names, values = words[2::2], words[3::2]
        yield Line(
            id=options.get("id") or f"line_{number}",
            label=options.get("label", ""),
            visible=options.get("visible", True),
            period=options.get("period", _PERIOD),
            expression=options.get("expression", ""),
            namespace=words[0] if words else "",
            name=words[1] if words else "",
            dimensions=dict(zip(names, values, strict=True)),
            statistic=options.get("stat", _STATISTIC),
        )


def _spelled_out(words: list[str], before: Sequence[str]) -> list[str]:
    """
    Expand CloudWatch's abbreviations: `.` repeats the previous line's word at this place, `...` all
    that are left out.
    """
    if "..." in words:
        at = words.index("...")
        missing = len(before) - (len(words) - 1)
        words = [*words[:at], *before[at : at + missing], *words[at + 1 :]]
    return [before[at] if word == "." else word for at, word in enumerate(words)]


# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
_QUERIES = 500
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
_ALARMS = 100


@dataclass(frozen=True)
class Readings:
    """The figures of widgets' lines."""

    cloudwatch: Any
    start: datetime
    end: datetime

    def of(self, widget: Widget) -> list[Reading]:
        """Return the widget's readings in its order; a search gives as many as it finds."""
        asked = self._asked([each.query() for each in widget.lines])
        return [
            reading
            for line in widget.lines
            if line.visible
            # A search has an answer for each metric that it found, under a label of its own.
            for reading in [_reading(line, each) for each in asked.get(line.id, ())]
            or [Reading(line.label, {})]
        ]

    def states(self, alarms: Iterable[str]) -> dict[str, str]:
        """Return the alarms' states by name, for those that exist."""
        found: dict[str, str] = {}
        for names in chunks(alarms, of=_ALARMS):
            answer = self.cloudwatch.describe_alarms(AlarmNames=names, MaxRecords=_ALARMS)
            for each in (*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())):
                found[each["AlarmName"]] = each["StateValue"]
        return found

    def _asked(self, queries: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Return the results by query id; a series that takes several pages is joined."""
        answers: dict[str, list[dict[str, Any]]] = {}
        pages = self.cloudwatch.get_paginator("get_metric_data")
        for some in chunks(queries, of=_QUERIES):
            for page in pages.paginate(
                MetricDataQueries=some,
                StartTime=self.start,
                EndTime=self.end,
                ScanBy="TimestampAscending",
            ):
                _join(answers, page["MetricDataResults"])
        return answers


def _join(answers: dict[str, list[dict[str, Any]]], page: Iterable[dict[str, Any]]) -> None:
    """Join a later page's series to those of an earlier one with the same label."""
    begun = {query: list(series) for query, series in answers.items()}
    for each in page:
        open_ = begun.get(each["Id"], [])
        before = next((one for one in open_ if one.get("Label") == each.get("Label")), None)
        if before is None:
            answers.setdefault(each["Id"], []).append(each)
            continue
        open_.remove(before)
        before["Timestamps"] = [*before["Timestamps"], *each["Timestamps"]]
        before["Values"] = [*before["Values"], *each["Values"]]


def _reading(line: Line, answer: Mapping[str, Any]) -> Reading:
    label = answer.get("Label") or line.label
    if answer.get("StatusCode") == "InternalError":
        messages = (each["Value"] for each in answer.get("Messages", ()))
        return Reading(label, {}, "; ".join(messages) or "CloudWatch couldn't work it out")
    pairs = zip(answer["Timestamps"], answer["Values"], strict=True)
    return Reading(label, dict(sorted(pairs)))


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
        except _UNREAD as error:
            raise _not_read(error) from error


# All members of CloudWatch's answers are optional [API model cloudwatch].
_UNREAD = (BotoCoreError, ClientError, KeyError, TypeError, ValueError)


def _not_read(error: Exception) -> FiguresNotRead:
    if isinstance(error, ClientError):
        return FiguresNotRead(error.operation_name, code_of(error))
    if isinstance(error, BotoCoreError):
        return FiguresNotRead("CloudWatch", type(error).__name__)
    return FiguresNotRead("CloudWatch", "AnswerNotUnderstood")


def read_board(
    client: Any,
    name: str,
    *,
    end: datetime,
    start: datetime | None = None,
    titles: Collection[str] = (),
) -> Board:
    """
    Make one GetMetricData for each graph, several at a time; CloudWatch bills each metric that is
    asked for, some 200 on the whole board.

    Raises botocore's ClientError and BotoCoreError, unless only the alarms can't be read.
    """
    found = dashboard(client.get_dashboard(DashboardName=name)["DashboardBody"])
    since = end - timedelta(hours=found.hours) if start is None else start
    readings = Readings(client, since, end)
    wanted = [each for each in found.widgets if not titles or each.title in titles]
    alarms = [name for each in wanted for name in each.alarms]
    states, trouble = dict[str, str](), ""
    try:
        states = readings.states(alarms)
    except _UNREAD as error:
        alarms, trouble = [], str(_not_read(error))

    def graph(widget: Widget) -> Graph:
        return Graph(title=widget.title, lines=tuple(readings.of(widget)))

    with ThreadPoolExecutor(_READERS) as readers:
        graphs = tuple(readers.map(graph, (each for each in wanted if each.lines)))
    return Board(
        name=name,
        region=client.meta.region_name,
        start=since,
        end=end,
        alarms={each: states.get(each) for each in alarms},
        alarms_trouble=trouble,
        graphs=graphs,
    )
