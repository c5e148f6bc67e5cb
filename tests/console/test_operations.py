"""The operations page shows everybody's catalogs, and stays useful when a part fails."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from stackroom.access.access_log import Access
from stackroom.aws import session
from stackroom.model.caps import Caps
from stackroom_console.console import Console
from stackroom_console.pages import operations_page
from stackroom_console.rendering import NAVIGATION
from tests.console.browser import Browser
from tests.console.conftest import NewBrowser
from tests.console.things import dropped, ingested, new_catalog
from tests.functions.pipeline import Pipeline

GRAPH = {
    "type": "metric",
    "properties": {
        "title": "Ingestion",
        "region": "us-east-1",
        "metrics": [
            ["Stackroom", name, "service", "ingest", {"stat": "Sum", "label": label}]
            for name, label in (("DocumentsSettled", "done"), ("BrokenRuns", "failed"))
        ],
    },
}
ALARM = {
    "type": "alarm",
    "properties": {"title": "Alarms", "alarms": ["arn:aws:cloudwatch:x:1:alarm:Late"]},
}
BODY = json.dumps({"widgets": [ALARM, GRAPH]})


def rows(text: str) -> list[str]:
    """Return the rows of all tables, each as a person reads it."""
    return [
        unescape(" ".join(re.sub("<[^>]+>", " ", each).split()))
        for each in re.findall("<tr>(?:(?!<thead).)*?</tr>", text, re.S)
        if "<td" in each
    ]


@pytest.fixture
def olga(new_browser: NewBrowser) -> Browser:
    browser = new_browser()
    browser.sign_in("olga", "operators")
    return browser


@pytest.fixture
def board(pipeline: Pipeline) -> Any:
    """A dashboard as it is deployed, with one graph."""
    cloudwatch = session.client("cloudwatch")
    cloudwatch.put_dashboard(DashboardName="stackroom", DashboardBody=BODY)
    return cloudwatch


def test_operators_alone_are_shown_operations(alice: Browser, olga: Browser, board: Any) -> None:
    [path] = [path for name, path, _ in NAVIGATION if name == "Operations"]

    assert f'href="{path}"' not in alice.get("/catalogs").text
    assert f'href="{path}"' in olga.get("/catalogs").text
    assert [alice.get(each).status_code for each in (path, f"{path}/part")] == [403, 403]
    assert [olga.get(each).status_code for each in (path, f"{path}/part")] == [200, 200]


def read(text: str) -> str:
    """Return the text as a person reads it."""
    return unescape(" ".join(re.sub("<[^>]+>", " ", text).split()))


def test_operations_page_shows_failures_first_then_backlog_and_runs(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any
) -> None:
    research = new_catalog(alice, "Research")
    dropped(pipeline, "alice", research, "plan of alice.txt", "Waits.")
    dropped(pipeline, "alice", research, "secret of alice.exe", "Fails.")

    text = olga.get("/operations").text

    failure, waiting, member, run = rows(text)[:4]
    assert re.fullmatch(
        r"File type '\.exe' not supported\..* 1 alice/Research doc-[0-9a-f]{24}", failure
    )
    assert waiting.startswith(f"alice/Research {research} 1 ")
    assert "0 of 4 taken" in member
    assert re.match(f"alice/Research running .* {research}-[0-9]+$", run)
    shown = read(text)
    assert "1 document failed" not in shown  # for its owner's file is at fault
    assert shown.index("Files that their owners must fix") < shown.index("Queue")
    # Nothing of what its owner alone may read.
    assert "of alice" not in shown
    assert f"/catalogs/{research}" not in text
    assert "Waits." not in text
    assert "Fails." not in text
    assert "stackroom status --user NAME" in shown


def test_run_links_to_its_execution_and_shows_its_state(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any, console: Console
) -> None:
    research = new_catalog(alice, "Research")
    dropped(pipeline, "alice", research, "a.txt", "Waits.")
    [run] = console.services.operations.overview().runs or ()

    here = replace(console, url="http://127.0.0.1:8080")
    on_aws = olga.get("/operations").text

    assert (
        "https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1"
        f"#/v2/executions/details/{run.arn}"
    ) in on_aws
    shown = operations_page.shown_to("olga", here, console.services.operations.overview())
    assert shown.runs[0].link is None


def test_failed_documents_and_discrepancies_need_attention(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any, console: Console
) -> None:
    dropped(pipeline, "alice", new_catalog(alice, "Research"), "plan.txt", "Waits.")
    found = console.services.operations.overview()
    assert found.figures is not None
    assert found.backlog is not None
    overview = replace(
        found,
        figures=replace(found.figures, discrepancies=(("stale_record", 2.0), ("dead_run", 0.0))),
        backlog=replace(found.backlog, failed_documents=2),
    )

    shown = operations_page.shown_to("olga", console, overview)

    assert [(each.message, each.part) for each in shown.wrong] == [
        ("2 documents failed", "failures-title"),
        ("Discrepancy: stale_record, 2 found", "discrepancies-title"),
    ]
    assert (shown.at(), shown.at(after="a b")) == ("/operations", "/operations?after=a+b")


def test_quiet_operations_page_is_one_line_and_names_missing_parts(
    olga: Browser, accesses: list[Access]
) -> None:
    """No dashboard is deployed here."""
    text = unescape(olga.get("/operations").text)

    [access] = accesses
    assert (access.tool, access.user_id) == ("operations", "olga")
    assert "Some figures are missing" in text
    assert "Missing here: the dashboard's figures." in text
    assert "Nothing needs attention" not in text  # as long as nobody can tell
    # Nor is there a place that no page has told.
    for after in ("{", "[]", '{"user_id": 1}', "x" * 5000, "null"):
        assert olga.client.get("/operations", params={"after": after}).status_code == 404
    for after in ("", "$", "a/b", "x" * 200):
        assert olga.client.get("/operations", params={"users_after": after}).status_code == 404


def counted(board: Any, figures: Mapping[int, float], *, metric: str = "DocumentsSettled") -> None:
    """So many, by how many minutes ago."""
    now = datetime.now(UTC)
    for minutes, value in figures.items():
        board.put_metric_data(
            Namespace="Stackroom",
            MetricData=[
                {
                    "MetricName": metric,
                    "Dimensions": [{"Name": "service", "Value": "ingest"}],
                    "Timestamp": now - timedelta(minutes=minutes),
                    "Value": value,
                }
            ],
        )


def test_signals_of_the_last_15_minutes_lead_to_cloudwatch(olga: Browser, board: Any) -> None:
    counted(board, {2: 3.0, 8: 7.0, 40: 90.0})

    text = olga.get("/operations").text

    assert "Ingestion 0% failed of 10" in read(text)
    aws = "https://us-east-1.console.aws.amazon.com/cloudwatch/home?region=us-east-1"
    assert f'href="{aws}#dashboards/dashboard/stackroom"' in text
    assert "Nothing needs attention" in text
    assert "Missing here" not in text
    assert "style=" not in text


def test_faults_need_attention_and_raised_alarms_lead_to_graphs(olga: Browser, board: Any) -> None:
    counted(board, {2: 8.0})
    counted(board, {2: 2.0}, metric="BrokenRuns")
    board.put_metric_alarm(
        AlarmName="Late",
        MetricName="BrokenRuns",
        Namespace="Stackroom",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )
    board.set_alarm_state(AlarmName="Late", StateValue="ALARM", StateReason="tests")

    text = olga.get("/operations").text

    assert "Ingestion: 2 failed in the last 15 minutes" in read(text)
    assert "20% failed of 10" not in read(text)
    assert "25% failed of 8" in read(text)
    assert "home?region=us-east-1#alarmsV2:alarm/Late" in text
    assert re.search(r'logsV2:log-groups[^"]+"[^>]*aria-label="Logs for Late"', text)


@pytest.mark.slow
def test_monthly_usage_of_users_is_shown_next_to_their_caps(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any, console: Console
) -> None:
    ingested(pipeline, "alice", new_catalog(alice), "a.txt", "thirty days " * 1000)
    caps = Caps(documents=1000, dollars=Decimal(5))
    console.services.caps.keep("alice", caps)

    [month] = [each for each in rows(olga.get("/operations").text) if each.startswith("alice 1 ")]
    mine = read(alice.get("/catalogs").text)

    assert re.search(r"Less than \$0\.01 of \$5\.00 1 of 1,000 documents, 11\.7 KB$", month)
    spent = "less than $0.01 of $5.00 this month (estimated)"
    assert f"1 of 1,000 documents, 11.7 KB; {spent}" in mine
    assert "this month" not in olga.get("/catalogs").text  # who has nothing is told of nothing
