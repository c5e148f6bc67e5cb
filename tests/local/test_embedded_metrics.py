"""Figures that functions embed in their logs: read as CloudWatch Logs reads them."""

from functools import partial
from pathlib import Path

import pytest
from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

from functions import telemetry
from stackroom.access.access_log import Access, AccessWriter
from stackroom_local import console_server
from stackroom_local.ministack.embedded_metrics import (
    Figure,
    Followed,
    NotEmbedded,
    figures,
)


def test_powertools_metrics_are_read_value_by_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = Metrics(namespace="Stackroom", service="retrieve")
    metrics.add_metric(name="Waited", unit=MetricUnit.Seconds, value=1.5)
    metrics.add_metric(name="Waited", unit=MetricUnit.Seconds, value=2)
    metrics.add_dimension(name="tool", value="ask")
    metrics.flush_metrics()

    found = figures(capsys.readouterr().out)

    dimensions = {"tool": "ask", "service": "retrieve"}
    assert found == [
        Figure("Stackroom", "Waited", "Seconds", dimensions, value) for value in (1.5, 2.0)
    ]


def test_console_here_counts_what_its_function_counts(capsys: pytest.CaptureFixture[str]) -> None:
    access = Access(tool="ask", outcome="success", latency_ms=42)

    console_server.report_access(access)
    AccessWriter(telemetry.logger_for("console"), partial(telemetry.count_call, "console"))(access)

    printed = capsys.readouterr()
    [here], lines = figures(printed.err), printed.out.splitlines()
    assert [here] == [each for line in lines for each in figures(line)]


@pytest.mark.parametrize(
    "line",
    [
        'said "CloudWatchMetrics" in passing',
        '{"m":"x", "_aws": {"CloudWatchMetrics": [{"Namespace": "", "Metrics": [{"Name": "m"}]}]}}',
        '{"_aws": [], "CloudWatchMetrics": []}',
    ],
    ids=["no JSON", "no number", "no directives"],
)
def test_line_that_only_resembles_embedded_metrics_is_refused(line: str) -> None:
    with pytest.raises(NotEmbedded):
        figures(line)


def test_a_log_is_followed_from_where_it_ends_line_by_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    assert Followed(log).lines() == []
    log.write_text("of before\n")
    followed = Followed(log)

    with log.open("a") as file:
        file.write("one\ntw")
    assert followed.lines() == ["one"]

    with log.open("a") as file:
        file.write("o\n")
    assert followed.lines() == ["two"]
    assert followed.lines() == []
