"""What the lines of a dashboard's widgets stand at, asked of CloudWatch by GetMetricData."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stackroom_local.metric_math import NotUnderstood, Search, Series, evaluated, search
from stackroom_local.widgets import Line, Widget

# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
_QUERIES = 500
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
_ALARMS = 100
_PROPERTY = re.compile(r"\$\{PROP\('Dim\.(\w+)'\)\}")


@dataclass(frozen=True)
class Reading:
    """A line as it is drawn, oldest first; or why it can't be."""

    label: str
    series: Series
    trouble: str = ""


@dataclass(frozen=True)
class Readings:
    cloudwatch: Any
    start: datetime
    end: datetime

    def of(self, widget: Widget) -> list[Reading]:
        """In the order of the widget; a search gives as many as it finds."""
        asked = self._asked([each.query() for each in widget.lines])
        known: dict[str, list[Reading]] = {}
        # What refers to others comes to its own once these are known.
        for line in widget.lines:
            self._settle(line, widget, asked, known)
        return [each for line in widget.lines if line.visible for each in known[line.id]]

    def states(self, alarms: Iterable[str]) -> dict[str, str]:
        """By name, of the alarms that there are."""
        names = list(alarms)
        found: dict[str, str] = {}
        for at in range(0, len(names), _ALARMS):
            answer = self.cloudwatch.describe_alarms(
                AlarmNames=names[at : at + _ALARMS], MaxRecords=_ALARMS
            )
            for each in (*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())):
                found[each["AlarmName"]] = each["StateValue"]
        return found

    def _settle(
        self,
        line: Line,
        widget: Widget,
        asked: Mapping[str, list[dict[str, Any]]],
        known: dict[str, list[Reading]],
    ) -> None:
        if line.id in known:
            return
        answers = asked.get(line.id, [])
        if not line.expression or not any(map(_is_refused, answers)):
            known[line.id] = [_reading(line, each) for each in answers] or [Reading(line.label, {})]
            return
        known[line.id] = []  # an expression that refers to itself refers to nothing
        try:
            known[line.id] = list(self._worked_out(line, widget, asked, known))
        except NotUnderstood as error:
            known[line.id] = [Reading(line.label or line.expression, {}, str(error))]

    def _worked_out(
        self,
        line: Line,
        widget: Widget,
        asked: Mapping[str, list[dict[str, Any]]],
        known: dict[str, list[Reading]],
    ) -> Iterator[Reading]:
        if (wanted := search(line.expression)) is not None:
            yield from self._found(line, wanted)
            return
        words = set(re.findall(r"\w+", line.expression))
        named: dict[str, Series] = {}
        for each in widget.lines:
            if each.id in words and each.id != line.id:
                self._settle(each, widget, asked, known)
                named[each.id] = known[each.id][0].series if known[each.id] else {}
        yield Reading(line.label, evaluated(line.expression, named))

    def _found(self, line: Line, wanted: Search) -> Iterator[Reading]:
        metrics = [
            each
            for each in self._metrics(wanted.namespace)
            if wanted.finds(each["MetricName"], _dimensions(each))
        ]
        lines = [
            Line(
                id=f"found_{number}",
                label=_label(line, _dimensions(each), alone=len(metrics) == 1),
                visible=True,
                period=wanted.period or line.period,
                namespace=wanted.namespace,
                name=each["MetricName"],
                dimensions=_dimensions(each),
                statistic=wanted.statistic,
            )
            for number, each in enumerate(metrics)
        ]
        asked = self._asked([each.query() for each in lines])
        for each in sorted(lines, key=lambda each: each.label):
            yield from (_reading(each, answer) for answer in asked.get(each.id, []))

    def _metrics(self, namespace: str) -> Iterator[dict[str, Any]]:
        for page in self.cloudwatch.get_paginator("list_metrics").paginate(Namespace=namespace):
            yield from page["Metrics"]

    def _asked(self, queries: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """By the id of the query; of a series that takes several pages, all of them together."""
        answers: dict[str, list[dict[str, Any]]] = {}
        pages = self.cloudwatch.get_paginator("get_metric_data")
        for at in range(0, len(queries), _QUERIES):
            for page in pages.paginate(
                MetricDataQueries=queries[at : at + _QUERIES],
                StartTime=self.start,
                EndTime=self.end,
                ScanBy="TimestampAscending",
            ):
                for told in _by_query(page["MetricDataResults"]).items():
                    _join(answers, *told)
        return answers


def _by_query(results: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    answers: dict[str, list[dict[str, Any]]] = {}
    for each in results:
        answers.setdefault(each["Id"], []).append(each)
    return answers


def _join(answers: dict[str, list[dict[str, Any]]], query: str, more: list[dict[str, Any]]) -> None:
    """A later page goes on with series of an earlier one, which have the same label."""
    there = answers.setdefault(query, [])
    open_ = list(there)
    for each in more:
        before = next((one for one in open_ if one.get("Label") == each.get("Label")), None)
        if before is None:
            there.append(each)
            continue
        open_.remove(before)
        before["Timestamps"] = [*before["Timestamps"], *each["Timestamps"]]
        before["Values"] = [*before["Values"], *each["Values"]]


def _is_refused(answer: Mapping[str, Any]) -> bool:
    return answer.get("StatusCode") == "InternalError"


def _reading(line: Line, answer: Mapping[str, Any]) -> Reading:
    pairs = zip(answer["Timestamps"], answer["Values"], strict=True)
    return Reading(line.label or answer.get("Label", ""), dict(sorted(pairs)))


def _dimensions(metric: Mapping[str, Any]) -> dict[str, str]:
    return {each["Name"]: each["Value"] for each in metric["Dimensions"]}


def _label(line: Line, dimensions: Mapping[str, str], *, alone: bool) -> str:
    """What a line of a search is called: by its label, and by what tells it from the others."""
    told = _PROPERTY.sub(lambda told: dimensions.get(told[1], ""), line.label)
    if told != line.label or (told and alone):
        return told
    apart = {name: value for name, value in dimensions.items() if name != "service"} or dimensions
    return " ".join(filter(None, [told, *apart.values()]))
