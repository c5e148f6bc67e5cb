"""Metric math as CloudWatch has it, as far as Stackroom's dashboard uses it."""

from datetime import UTC, datetime, timedelta

import pytest

from stackroom_local.metric_math import NotUnderstood, evaluated, search

T = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=5 * each) for each in range(3)]


def test_a_sum_of_series_passes_over_what_is_missing() -> None:
    named = {"a": {T[0]: 1.0, T[1]: 2.0}, "b": {T[1]: 10.0, T[2]: 20.0}, "c": {}}

    assert evaluated("SUM([a, b, c]) * 0.5", named) == {T[0]: 0.5, T[1]: 6.0, T[2]: 10.0}


def test_an_operator_misses_what_one_of_its_sides_misses() -> None:
    named = {"a": {T[0]: 1.0, T[1]: 2.0}, "b": {T[1]: 10.0}}

    assert evaluated("a + b", named) == {T[1]: 12.0}


def test_a_division_by_nothing_has_no_result() -> None:
    named = {"hits": {T[0]: 0.0, T[1]: 3.0}, "misses": {T[0]: 0.0, T[1]: 1.0}}

    assert evaluated("100 * hits / (hits + misses)", named) == {T[1]: 75.0}


@pytest.mark.parametrize(
    "expression",
    ["ANOMALY_DETECTION_BAND(a)", "a +", "SUM(METRICS())", "a.__class__", "__import__('os')"],
)
def test_what_is_not_understood_is_said_and_not_run(expression: str) -> None:
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


def test_a_search_with_other_terms_is_aws_s_alone() -> None:
    with pytest.raises(NotUnderstood, match="only AWS searches"):
        search("SEARCH('{AWS/EC2,InstanceId} CPUUtilization', 'Average')")


def test_what_is_no_search_is_none() -> None:
    assert search("SUM([a])") is None
