"""What an operator sees of everybody's catalogs, and what it costs when a part can't be had."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest

from stackroom.access.access_log import Access
from stackroom.aws import session
from stackroom.catalogs import metering
from stackroom.quota.caps import Caps
from stackroom.quota.usage import NO_CATALOG, Used
from stackroom_console.console import Console
from stackroom_console.pages import operations_page
from stackroom_console.rendering import NAVIGATION
from tests.console.browser import Browser
from tests.console.conftest import NewBrowser
from tests.console.things import dropped, indexed, new_catalog
from tests.functions.pipeline import Pipeline

GRAPH = {
    "type": "metric",
    "properties": {
        "title": "Settled",
        "region": "us-east-1",
        "metrics": [["Stackroom", "DocumentsSettled", "service", "ingest", {"stat": "Sum"}]],
    },
}
BODY = json.dumps({"widgets": [GRAPH]})


def rows(text: str) -> list[str]:
    """Of all tables, each as a person reads it."""
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
    """As a person reads it."""
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
    assert shown.index("1 document failed") < shown.index("Failures by reason")
    assert shown.index("Failures by reason") < shown.index("What waits, and why")
    assert "No alarm is raised, no run has broken, every deletion is proven, no" in shown
    # Nothing of what its owner alone may read.
    assert "of alice" not in shown
    assert f"/catalogs/{research}" not in text
    assert "Waits." not in text
    assert "Fails." not in text
    assert "stackroom status --user alice" in shown


def test_operators_are_led_to_documents_of_their_own(
    new_browser: NewBrowser, pipeline: Pipeline, board: Any
) -> None:
    """An operator who drops what fails used to be shown an id, and no way to the file."""
    browser = new_browser()
    browser.sign_in("olga", "operators")
    mine = new_catalog(browser, "Mine")
    document = dropped(pipeline, "olga", mine, "<b>mine</b>.exe", "Fails.")

    text = browser.get("/operations").text

    link = f'<a href="/catalogs/{mine}/documents/{document}"><bdi>&lt;b&gt;mine&lt;/b&gt;.exe</bdi>'
    assert link in text
    assert "stackroom status" not in text


def test_a_run_leads_to_its_execution_and_says_which_state_it_is_in(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any, console: Console
) -> None:
    research = new_catalog(alice, "Research")
    dropped(pipeline, "alice", research, "a.txt", "Waits.")
    [run] = console.services.operations.look().runs or ()

    here = replace(console, url="http://127.0.0.1:8080")
    on_aws = olga.get("/operations").text

    assert (
        "https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1"
        f"#/v2/executions/details/{run.arn}"
    ) in on_aws
    shown = operations_page.shown_to("olga", here, console.services.operations.look())
    assert shown.runs[0].link is None


def test_quiet_operations_page_is_one_line_and_names_missing_parts(
    olga: Browser, accesses: list[Access]
) -> None:
    """No dashboard is deployed here."""
    text = unescape(olga.get("/operations").text)

    [access] = accesses
    assert (access.tool, access.user_id) == ("operations", "olga")
    assert (
        "Nothing waits, no document has failed, no run has broken, every deletion is proven."
        in text
    )
    assert "Missing here: the dashboard's figures." in text
    assert "Nothing to look after" not in text  # as long as nobody can tell
    # Nor is there a place that no page has told.
    for after in ("{", "[]", '{"user_id": 1}', "x" * 5000, "null"):
        assert olga.client.get("/operations", params={"after": after}).status_code == 404
    for after in ("", "$", "a/b", "x" * 200):
        assert olga.client.get("/operations", params={"users_after": after}).status_code == 404


def settled(board: Any, documents: Mapping[int, float]) -> None:
    """How many, by how many minutes ago."""
    now = datetime.now(UTC)
    for minutes, value in documents.items():
        board.put_metric_data(
            Namespace="Stackroom",
            MetricData=[
                {
                    "MetricName": "DocumentsSettled",
                    "Dimensions": [{"Name": "service", "Value": "ingest"}],
                    "Timestamp": now - timedelta(minutes=minutes),
                    "Value": value,
                }
            ],
        )


def test_the_figures_are_those_of_the_dashboard_and_are_drawn(olga: Browser, board: Any) -> None:
    settled(board, {30: 3.0, 25: 7.0, 20: 0.5})

    text = olga.get("/operations").text

    [line] = [each for each in rows(text) if "DocumentsSettled" in each]
    assert line.endswith(" 0.5 0.5 7")
    [path] = re.findall(r'class="line line-1" d="(M[^"]+L[^"]+)"', text)
    heights = re.findall(r"[ML][0-9.]+ ([0-9.]+)", path)
    assert heights == ["45.7", "0", "74.3"]  # of 80, downwards; the most at the top
    assert ": last 0.5, least 0.5, most 7</desc>" in text
    assert "Nothing to look after" in text
    assert "no discrepancy was found" in text
    assert "Missing here" not in text
    assert "style=" not in text


def test_figures_are_shown_where_alarms_can_not_be_read(olga: Browser, board: Any) -> None:
    settled(board, {30: 3.0})
    widget = {"type": "alarm", "properties": {"alarms": ["arn:aws:cloudwatch:x:1:alarm:Late"]}}
    board.put_dashboard(
        DashboardName="stackroom", DashboardBody=json.dumps({"widgets": [widget, GRAPH]})
    )
    event = "before-call.cloudwatch.DescribeAlarms"
    board.meta.events.register(event, denied)

    text = unescape(olga.get("/operations").text)
    board.meta.events.unregister(event, denied)

    assert [each for each in rows(text) if "DocumentsSettled" in each]
    assert "Missing here: alarms." in text
    assert "DescribeAlarms answered AccessDenied" in text
    assert "the dashboard's figures" not in text
    assert "no alarm is raised" not in text.lower()


def denied(**_: Any) -> tuple[Any, dict[str, Any]]:
    return SimpleNamespace(status_code=403), {
        "Error": {"Code": "AccessDenied", "Message": "no identity-based policy allows it"},
        "ResponseMetadata": {"HTTPStatusCode": 403},
    }


def test_graphs_begin_where_their_figures_do(olga: Browser, board: Any) -> None:
    """Those of the first minutes were a dot at the right edge of twelve hours."""
    settled(board, {50: 1.0, 5: 1.0})

    text = olga.get("/operations").text

    [path] = re.findall(r'class="line line-1" d="(M[^"]+L[^"]+)"', text)
    first, last = re.findall(r"[ML]([0-9.]+) ", path)
    assert float(first) == 0
    assert 250 < float(last) < 320  # of the 320 that it is wide


def test_monthly_usage_of_users_is_shown_next_to_their_caps(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any, console: Console
) -> None:
    indexed(pipeline, "alice", new_catalog(alice), "a.txt", "thirty days " * 1000)
    caps = Caps(documents=1000, dollars=Decimal(5))
    console.services.deployment.caps.keep("alice", caps)

    [month] = [each for each in rows(olga.get("/operations").text) if each.startswith("alice 1 ")]
    mine = read(alice.get("/catalogs").text)

    assert re.search(r"of \$5\.00 1 of 1,000 documents, 11\.7 KB$", month)
    assert re.search(r"1 of 1,000 documents, 11\.7 KB; \$0\.0000\d+ of \$5\.00 this month", mine)
    assert "this month" not in olga.get("/catalogs").text  # who has nothing is told of nothing


def test_users_beyond_the_first_page_are_on_the_next(
    olga: Browser, board: Any, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metering, "USERS", 2)
    used = console.services.metering.usage
    for user in ("ann", "bob+1", "cy", "dora", "eve"):
        used.add(user, NO_CATALOG, Used(questions=1), at=datetime.now(UTC))
    path, pages = "/operations", []

    for _ in range(3):
        text = olga.get(path).text
        users = text.partition('id="month-title"')[2].partition("</table>")[0]
        pages.append([each.split()[0] for each in rows(users)])
        path = next(iter(re.findall('href="([^"#]*)#month-title">Next users', text)), "")

    assert pages == [["ann", "bob+1"], ["cy", "dora"], ["eve"]]
    assert path == ""
    assert '<a href="/operations#month-title">First users</a>' in text
