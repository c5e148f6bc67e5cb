"""What an operator sees of everybody's catalogs, and what it costs when a part can't be had."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest

from stackroom.access.access_log import Access
from stackroom.aws import session
from stackroom_console.rendering import NAVIGATION
from tests.console.browser import Browser
from tests.console.conftest import NewBrowser
from tests.console.things import dropped, new_catalog
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


def test_what_waits_what_failed_and_what_is_being_deleted_is_everybodys(
    olga: Browser, alice: Browser, pipeline: Pipeline, board: Any
) -> None:
    research = new_catalog(alice, "Research")
    dropped(pipeline, "alice", research, "a.txt", "Waits.")
    dropped(pipeline, "alice", research, "b.exe", "Fails.")

    text = olga.get("/operations").text

    waiting, member, failure = rows(text)[:3]
    assert waiting.startswith(f"alice/Research {research} 1 ")
    assert "0 of 4 taken" in member
    assert re.match(r".*b\.exe.*|.*\.exe.* 1 doc-[0-9a-f]{24}", failure)
    assert "Waits." not in text
    assert "Fails." not in text


def test_nothing_to_tell_is_told_and_so_is_a_part_that_can_not_be_had(
    olga: Browser, accesses: list[Access]
) -> None:
    """No dashboard is deployed here."""
    text = unescape(olga.get("/operations").text)

    [access] = accesses
    assert (access.tool, access.user_id) == ("operations", "olga")
    for told in (
        "Nothing waits.",
        "No document has failed.",
        "None: every deletion that was asked for is proven.",
        "Missing here: the dashboard's figures.",
    ):
        assert told in text
    # Nor is there a place that no page has told.
    for after in ("{", "[]", '{"user_id": 1}', "x" * 5000, "null"):
        assert olga.client.get("/operations", params={"after": after}).status_code == 404


def test_the_figures_are_those_of_the_dashboard(olga: Browser, board: Any) -> None:
    board.put_metric_data(
        Namespace="Stackroom",
        MetricData=[
            {
                "MetricName": "DocumentsSettled",
                "Dimensions": [{"Name": "service", "Value": "ingest"}],
                "Timestamp": datetime.now(UTC) - timedelta(minutes=30),
                "Value": value,
            }
            for value in (3, 4)
        ],
    )

    text = olga.get("/operations").text

    [line] = [each for each in rows(text) if "DocumentsSettled" in each]
    assert line.endswith(" 7 7 7")
    assert "None was found since" in text
    assert "Missing here" not in text
