"""Metric math and GetMetricData of the local CloudWatch, as far as the dashboard uses them."""

from datetime import UTC, datetime, timedelta

import pytest

from stackroom_local.ministack.metric_queries import (
    NotUnderstood,
    evaluated,
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
