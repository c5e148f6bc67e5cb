"""
A CloudWatch dashboard as it is written: widgets, and the lines of each.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
        """For GetMetricData."""
        told: dict[str, Any] = {"Id": self.id, **({"Label": self.label} if self.label else {})}
        if self.expression:
            return {**told, "Expression": self.expression, "Period": self.period}
        dimensions = [{"Name": name, "Value": value} for name, value in self.dimensions.items()]
        metric = {
            "Namespace": self.namespace,
            "MetricName": self.name,
            "Dimensions": dimensions,
        }
        stat = {"Metric": metric, "Period": self.period, "Stat": self.statistic}
        return {**told, "MetricStat": stat}


@dataclass(frozen=True, kw_only=True)
class Widget:
    title: str
    lines: tuple[Line, ...] = ()
    alarms: tuple[str, ...] = ()  # names


@dataclass(frozen=True)
class Board:
    hours: int  # that it shows
    widgets: tuple[Widget, ...]


def board(body: str) -> Board:
    """Widgets of text, and others without figures, are left out."""
    told = json.loads(body)
    hours = _HOURS.fullmatch(told.get("start", ""))
    found = (_widget(each["type"], each.get("properties", {})) for each in told["widgets"])
    return Board(
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
    """`.` is the word of the line before at this place, `...` all of them that are left out."""
    if "..." in words:
        at = words.index("...")
        missing = len(before) - (len(words) - 1)
        words = [*words[:at], *before[at : at + missing], *words[at + 1 :]]
    return [before[at] if word == "." else word for at, word in enumerate(words)]
