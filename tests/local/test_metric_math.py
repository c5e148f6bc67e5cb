"""Metric math and GetMetricData of the local CloudWatch, as far as the dashboard uses them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stackroom_local.ministack.metric_queries import (
    MetricDataQueries,
    NotUnderstood,
    evaluated,
    search,
)

T = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=5 * each) for each in range(3)]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("SUM([a, b, c]) * 0.5", {T[0]: 0.5, T[1]: 6.0, T[2]: 10.0}),  # passes over what is missing
        ("a + b", {T[1]: 12.0}),  # misses what one of its sides misses
        ("100 * a / (a + none)", {T[1]: 50.0}),  # has no result where it divides by nothing
    ],
)
def test_an_expression_of_series_has_a_value_where_it_can(
    expression: str, result: dict[datetime, float]
) -> None:
    a, b = {T[0]: 1.0, T[1]: 2.0}, {T[1]: 10.0, T[2]: 20.0}
    named = {"a": a, "b": b, "c": {}, "none": {T[0]: -1.0, T[1]: 2.0}}

    assert evaluated(expression, named) == result


@pytest.mark.parametrize(
    "expression",
    ["ANOMALY_DETECTION_BAND(a)", "a +", "SUM(METRICS())", "a.__class__", "__import__('os')"],
)
def test_unsupported_metric_math_is_refused_and_not_evaluated(expression: str) -> None:
    with pytest.raises(NotUnderstood, match="only AWS works out"):
        evaluated(expression, {"a": {T[0]: 1.0}})


def test_a_search_finds_by_dimensions_names_and_what_is_not_wanted() -> None:
    wanted = search(
        'SEARCH(\'{Stackroom,outcome,service} MetricName="Latency" NOT outcome="success"\','
        " 'p99', 300)"
    )

    assert wanted is not None
    assert (wanted.namespace, wanted.statistic, wanted.period) == ("Stackroom", "p99", 300)
    assert wanted.finds("Latency", {"outcome": "refused", "service": "retrieve"})
    assert not wanted.finds("Latency", {"outcome": "success", "service": "retrieve"})
    assert not wanted.finds("Other", {"outcome": "refused", "service": "retrieve"})
    assert not wanted.finds("Latency", {"outcome": "refused"})


METRICS = [
    {
        "Namespace": "Stackroom",
        "MetricName": "Settled",
        "Dimensions": [
            {"Name": "service", "Value": service},
            {"Name": "outcome", "Value": outcome},
        ],
    }
    for service, outcome in (("ingest", "indexed"), ("ingest", "failed"))
]
SERIES = {"Hits": 1.0, "Misses": 3.0, "Settled": 5.0}


def single(name: str, metric: str, **more: Any) -> dict[str, Any]:
    stat = {"Metric": {"Namespace": "S", "MetricName": metric, "Dimensions": []}, "Period": 300}
    return {"Id": name, "MetricStat": {**stat, "Stat": "Sum"}, **more}


def answered(*queries: dict[str, Any]) -> list[dict[str, Any]]:
    def ask(some: Any) -> list[dict[str, Any]]:
        return [
            {
                "Id": each["Id"],
                "Label": each.get("Label", each["Id"]),
                "StatusCode": "Complete",
                "Timestamps": [600],
                "Values": [SERIES[each["MetricStat"]["Metric"]["MetricName"]]],
            }
            for each in some
        ]

    return MetricDataQueries(queries=queries, ask=ask, metrics=lambda _namespace: METRICS).results()


def test_expression_is_computed_from_its_inputs_whether_returned_or_not() -> None:
    results = answered(
        {"Id": "rate", "Expression": "100 * hits / all", "Label": "%"},
        {"Id": "all", "Expression": "SUM([hits, misses])", "ReturnData": False},
        single("hits", "Hits", ReturnData=False),
        single("misses", "Misses"),
    )

    told = [(each["Id"], each["Label"], each["Timestamps"], each["Values"]) for each in results]
    assert told == [("rate", "%", [600], [25.0]), ("misses", "misses", [600], [3.0])]


def test_metric_math_of_aws_alone_is_refused_and_the_rest_answered() -> None:
    band, hits = answered(
        {"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(hits)"}, single("hits", "Hits")
    )

    assert (band["StatusCode"], band["Values"]) == ("InternalError", [])
    assert "only AWS works out ANOMALY_DETECTION_BAND" in band["Messages"][0]["Value"]
    assert hits["Values"] == [1.0]
