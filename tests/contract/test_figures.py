"""The figures that functions report are those that the dashboard and the alarms read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom.catalogs.overview import ALARMS, COST, DISCREPANCIES, SIGNALS
from stackroom.errors import KnowledgeBaseThrottled, RetrievalFailed
from stackroom_console.problems import problem_of, too_long
from tests.infra.assembly import Assembly
from tests.support.emitted_metrics import emitted_metrics

ROOT = Path(__file__).parents[2]
NAMESPACE = "Stackroom"
# Reported for whoever looks closer; why no graph and no alarm needs them.
UNSEEN = {
    "AgentRunTokens",  # Bedrock's own figures have them by model; here they are of each run
    "DefectiveFiles",  # their documents show as failed
    "IndexedUnfound",  # its documents count as indexed, on Bedrock's word
    "InspectionsFailed",  # what lasts shows among the dead letters
    "OcrPages",  # the dashboard of a deployment with OCR has these
    "OcrPagesFailed",
    "RunsFollowed",  # what it follows shows as broken
    "UndecidedFiles",  # harm none: Bedrock's word decides
    "UploadEvents",  # the queue's own figures show whether they are kept up with
}


@pytest.fixture(scope="module")
def reported() -> dict[str, set[frozenset[str]]]:
    """Return the sets of dimensions under which functions emit each metric."""
    found: dict[str, set[frozenset[str]]] = {}
    for each in emitted_metrics():
        found.setdefault(each.name, set()).add(frozenset(each.dimensions))
    return found


@pytest.fixture(scope="module")
def read(deployment: Assembly) -> dict[str, set[frozenset[str]]]:
    """Return the sets of dimensions under which dashboard and alarms read each metric."""
    found: dict[str, set[frozenset[str]]] = {}
    for name, dimensions in [*_in_dashboard(deployment), *_in_alarms(deployment)]:
        found.setdefault(name, set()).add(frozenset(dimensions))
    return found


def test_every_metric_read_is_reported_and_only_unseen_ones_are_not_read(
    read: dict[str, set[frozenset[str]]], reported: dict[str, set[frozenset[str]]]
) -> None:
    assert read.keys() - reported.keys() == set()
    assert reported.keys() - read.keys() == UNSEEN


def test_a_figure_is_read_under_the_dimensions_that_it_is_reported_with(
    read: dict[str, set[frozenset[str]]], reported: dict[str, set[frozenset[str]]]
) -> None:
    # CloudWatch takes every set of dimensions for a metric of its own, and shows nothing for a set
    # that nobody reports.
    assert [name for name, sets in read.items() if not sets <= reported[name]] == []


def test_a_figure_is_read_of_services_that_there_are(deployment: Assembly) -> None:
    there = {path.parent.name for path in ROOT.glob("functions/*/handler.py")}

    named = set(re.findall(r'"service", ?"(\w+)"', _dashboard(deployment)))
    named |= {
        dimension["Value"]
        for metric in _alarm_metrics(deployment)
        for dimension in metric["Dimensions"]
        if dimension["Name"] == "service"
    }

    assert named
    assert named <= there


def test_dashboard_shows_each_dimension_that_operators_need(deployment: Assembly) -> None:
    widgets = json.loads(_dashboard(deployment))["widgets"]

    titles = [each["properties"].get("title") for each in widgets]

    assert [titles.count(each) for each in (ALARMS, COST, DISCREPANCIES, *SIGNALS)] == [1] * 7


def test_ask_answer_with_a_5xx_counts_as_failed(deployment: Assembly) -> None:
    widgets = json.loads(_dashboard(deployment))["widgets"]
    [ask] = [each for each in widgets if each["properties"].get("title") == "Ask"]
    errors = (KnowledgeBaseThrottled("Retrieve"), RetrievalFailed("no"), RuntimeError())
    codes = {problem_of(each).code for each in errors} | {too_long(changes=False).code}

    counted = set(re.findall(r'tool=\\"ask\\" outcome=\\"(\w+)\\"', json.dumps(ask)))

    assert codes <= counted


def _dashboard(deployment: Assembly) -> str:
    dashboard = deployment.one("operations", "AWS::CloudWatch::Dashboard")
    return str(dashboard.properties["DashboardBody"])


def _in_dashboard(deployment: Assembly) -> Iterator[tuple[str, list[str]]]:
    # [CloudWatch guide: using-search-expressions; API reference: Dashboard-Body-Structure]
    search = re.compile(rf"SEARCH\('\{{{NAMESPACE},([^}}]*)\}} MetricName=\"(\w+)\"[^']*'")
    for widget in json.loads(_dashboard(deployment))["widgets"]:
        for namespace, *line in widget["properties"].get("metrics", []):
            if namespace == NAMESPACE:
                name, *pairs = [each for each in line if isinstance(each, str)]
                yield name, pairs[::2]
            elif isinstance(namespace, dict):
                for dimensions, name in search.findall(namespace.get("expression", "")):
                    yield name, dimensions.split(",")


def _in_alarms(deployment: Assembly) -> Iterator[tuple[str, list[str]]]:
    for metric in _alarm_metrics(deployment):
        yield metric["MetricName"], [each["Name"] for each in metric["Dimensions"]]


def _alarm_metrics(deployment: Assembly) -> list[dict[str, Any]]:
    alarms = [each.properties for each in deployment.all("operations", "AWS::CloudWatch::Alarm")]
    used = [
        data["MetricStat"]["Metric"]
        for alarm in alarms
        for data in alarm.get("Metrics", [])
        if "MetricStat" in data
    ]
    return [each for each in [*alarms, *used] if each.get("Namespace") == NAMESPACE]
