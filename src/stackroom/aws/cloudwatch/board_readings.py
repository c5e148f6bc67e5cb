"""What the lines of a dashboard's widgets stand at, asked of CloudWatch by GetMetricData."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stackroom.aws.cloudwatch.widgets import Line, Widget
from stackroom.ports.boards import Reading

# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
_QUERIES = 500
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
_ALARMS = 100


@dataclass(frozen=True)
class Readings:
    cloudwatch: Any
    start: datetime
    end: datetime

    def of(self, widget: Widget) -> list[Reading]:
        """In the order of the widget; a search gives as many as it finds."""
        asked = self._asked([each.query() for each in widget.lines])
        return [
            reading
            for line in widget.lines
            if line.visible
            for reading in _readings(line, asked.get(line.id, []))
        ]

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


def _readings(line: Line, answers: list[dict[str, Any]]) -> list[Reading]:
    """A search has an answer for each metric that it found, under a label of its own."""
    return [_reading(line, each) for each in answers] or [Reading(line.label, {})]


def _reading(line: Line, answer: Mapping[str, Any]) -> Reading:
    label = answer.get("Label") or line.label
    if answer.get("StatusCode") == "InternalError":
        messages = (each["Value"] for each in answer.get("Messages", ()))
        return Reading(label, {}, "; ".join(messages) or "CloudWatch couldn't work it out")
    pairs = zip(answer["Timestamps"], answer["Values"], strict=True)
    return Reading(label, dict(sorted(pairs)))
