"""A dashboard's body and what its lines stand at, as CloudWatch knows it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from stackroom.aws.cloudwatch.cloudwatch_boards import (
    CloudWatchBoards,
    Readings,
    Widget,
    dashboard,
    read_board,
)
from stackroom.catalogs.overview import Reading
from stackroom.errors import FiguresNotRead

T = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(4)]


def a_widget(*metrics: list[Any]) -> Widget:
    widget = {"type": "metric", "properties": {"title": "A graph", "metrics": list(metrics)}}
    [made] = dashboard(json.dumps({"start": "-PT12H", "widgets": [widget]})).widgets
    return made


def test_a_body_has_alarms_and_graphs_and_says_how_far_back() -> None:
    alarm = {"type": "alarm", "properties": {"title": "A", "alarms": ["arn:aws:x:alarm:Late"]}}
    told = dashboard(json.dumps({"start": "-PT12H", "widgets": [alarm, {"type": "text"}]}))

    assert told.hours == 12
    assert told.widgets == (Widget(title="A", alarms=("Late",)),)


class CloudWatch:
    """Answers in pages what it was made with, by the id of the query."""

    def __init__(self, *pages: dict[str, list[dict[str, Any]]]) -> None:
        self._pages = pages
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
                    {"Id": each["Id"], "StatusCode": "Complete", **told}
                    for each in MetricDataQueries
                    for told in page.get(each["Id"], [])
                ]
            }


def a_series(label: str, *points: tuple[datetime, float]) -> dict[str, Any]:
    return {
        "Label": label,
        "Timestamps": [time for time, _ in points],
        "Values": [value for _, value in points],
    }


RATE = a_widget(
    [{"id": "rate", "expression": "100 * hits / all", "label": "%"}],
    [{"id": "all", "expression": "SUM([hits, misses])", "visible": False}],
    ["S", "Hits", "service", "ask", {"id": "hits", "visible": False}],
    ["S", "Misses", "service", "ask", {"id": "misses", "visible": False}],
)


def test_readings_request_every_line_and_merge_visible_ones_across_pages() -> None:
    first = {"rate": [a_series("%", (T[1], 2.0))], "hits": [a_series("h", (T[0], 1.0))]}
    aws = CloudWatch(first, {"rate": [a_series("%", (T[0], 1.0))]})

    assert Readings(aws, T[0], T[3]).of(RATE) == [Reading("%", {T[0]: 1.0, T[1]: 2.0})]
    assert {each["Id"] for each in aws.asked} == {"rate", "all", "hits", "misses"}


def test_abbreviations_of_cloudwatchs_own_editor_are_spelled_out() -> None:
    board = a_widget(
        ["S", "Hits", "service", "ask", {"label": "a"}],
        [".", "Misses", ".", "list"],
        ["...", "chat", {"label": "c"}],
    )

    assert [(each.namespace, each.name, each.dimensions) for each in board.lines] == [
        ("S", "Hits", {"service": "ask"}),
        ("S", "Misses", {"service": "list"}),
        ("S", "Misses", {"service": "chat"}),
    ]


def test_graph_that_cloudwatch_cannot_work_out_says_why() -> None:
    failed = {"StatusCode": "InternalError", "Messages": [{"Code": "E", "Value": "too many"}]}
    aws = CloudWatch({"rate": [{**a_series("%"), **failed}]})

    assert Readings(aws, T[0], T[3]).of(RATE) == [Reading("%", {}, "too many")]


def test_board_is_read_without_its_alarms_if_those_are_refused(credentials: None) -> None:
    client = boto3.client("cloudwatch")
    widget = {"type": "alarm", "properties": {"title": "A", "alarms": ["arn:aws:x:alarm:Late"]}}
    body = json.dumps({"start": "-PT12H", "widgets": [widget]})

    with Stubber(client) as stub:
        stub.add_response("get_dashboard", {"DashboardBody": body})
        stub.add_client_error("describe_alarms", "AccessDenied", "", 403)
        board = read_board(client, "stackroom", end=T[3])

        assert (board.alarms, board.graphs) == ({}, ())
        assert "DescribeAlarms answered AccessDenied" in board.alarms_trouble
        stub.add_response("get_dashboard", {})
        with pytest.raises(FiguresNotRead, match="AnswerNotUnderstood"):
            CloudWatchBoards(client=client, name="stackroom").read(end=T[3])
