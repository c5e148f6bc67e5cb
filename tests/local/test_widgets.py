"""A dashboard's body, read as CloudWatch reads it, and what its lines stand at."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from stackroom_local.board_readings import Reading, Readings
from stackroom_local.widgets import Widget, board

T = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(4)]


def a_widget(*metrics: list[Any]) -> Widget:
    widget = {"type": "metric", "properties": {"title": "A graph", "metrics": list(metrics)}}
    [made] = board(json.dumps({"start": "-PT12H", "widgets": [widget]})).widgets
    return made


def test_a_body_has_alarms_and_graphs_and_says_how_far_back() -> None:
    alarm = {"type": "alarm", "properties": {"title": "A", "alarms": ["arn:aws:x:alarm:Late"]}}
    told = board(json.dumps({"start": "-PT12H", "widgets": [alarm, {"type": "text"}]}))

    assert told.hours == 12
    assert told.widgets == (Widget(title="A", alarms=("Late",)),)


def test_dots_stand_for_what_the_line_before_has_there() -> None:
    widget = a_widget(
        ["AWS/SQS", "Age", "QueueName", "one", {"stat": "Maximum"}],
        [".", "Size", ".", "."],
        ["...", "two", {"period": 60}],
    )

    told = [
        (each.name, dict(each.dimensions), each.statistic, each.period) for each in widget.lines
    ]
    assert told == [
        ("Age", {"QueueName": "one"}, "Maximum", 300),
        ("Size", {"QueueName": "one"}, "Average", 300),
        ("Size", {"QueueName": "two"}, "Average", 60),
    ]


class CloudWatch:
    """Answers in pages what it was made with; expressions only if it is `as_on_aws`."""

    def __init__(self, *pages: dict[str, list[tuple[datetime, float]]], as_on_aws: bool) -> None:
        self._pages = pages
        self._as_on_aws = as_on_aws
        self.asked: list[dict[str, Any]] = []

    def get_paginator(self, name: str) -> "CloudWatch":
        assert name == "get_metric_data", name
        return self

    def paginate(
        self,
        *,
        MetricDataQueries: list[dict[str, Any]],  # noqa: N803 - as AWS has it
        **_: Any,
    ) -> Iterator[dict[str, Any]]:
        self.asked += MetricDataQueries
        for page in self._pages:
            yield {
                "MetricDataResults": [
                    self._result(each, page.get(each["Id"], [])) for each in MetricDataQueries
                ]
            }

    def _result(
        self, query: dict[str, Any], points: list[tuple[datetime, float]]
    ) -> dict[str, Any]:
        refused = "Expression" in query and not self._as_on_aws
        return {
            "Id": query["Id"],
            "Label": query.get("Label", query["Id"]),
            "StatusCode": "InternalError" if refused else "Complete",
            "Timestamps": [time for time, _ in points],
            "Values": [value for _, value in points],
        }


RATE = a_widget(
    [{"id": "rate", "expression": "100 * hits / all", "label": "%"}],
    [{"id": "all", "expression": "SUM([hits, misses])", "visible": False}],
    ["S", "Hits", "service", "ask", {"id": "hits", "visible": False}],
    ["S", "Misses", "service", "ask", {"id": "misses", "visible": False}],
)


def test_expressions_are_worked_out_here_where_cloudwatch_does_not() -> None:
    here = CloudWatch({"hits": [(T[0], 1.0)], "misses": [(T[0], 3.0)]}, as_on_aws=False)

    assert Readings(here, T[0], T[3]).of(RATE) == [Reading("%", {T[0]: 25.0})]


def test_aws_is_believed_where_it_answers() -> None:
    aws = CloudWatch({"rate": [(T[0], 7.0)]}, as_on_aws=True)

    assert Readings(aws, T[0], T[3]).of(RATE) == [Reading("%", {T[0]: 7.0})]
    assert {each["Id"] for each in aws.asked} == {"rate", "all", "hits", "misses"}


def test_a_series_of_several_pages_is_one_line() -> None:
    aws = CloudWatch({"rate": [(T[1], 2.0)]}, {"rate": [(T[0], 1.0)]}, as_on_aws=True)

    assert Readings(aws, T[0], T[3]).of(RATE) == [Reading("%", {T[0]: 1.0, T[1]: 2.0})]


def test_what_only_aws_works_out_says_so_in_its_line_alone() -> None:
    here = CloudWatch({"hits": [(T[0], 1.0)]}, as_on_aws=False)
    widget = a_widget(
        [{"expression": "ANOMALY_DETECTION_BAND(hits)", "label": "band"}],
        ["S", "Hits", "service", "ask", {"id": "hits", "label": "hits"}],
    )

    band, hits = Readings(here, T[0], T[3]).of(widget)

    assert (band.label, dict(band.series)) == ("band", {})
    assert "only AWS works out ANOMALY_DETECTION_BAND" in band.trouble
    assert hits == Reading("hits", {T[0]: 1.0})
