"""GetMetricData of the local CloudWatch: expressions and searches beside single metrics."""

from typing import Any

from stackroom_local.metric_queries import Answers

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

    return Answers(queries=queries, ask=ask, metrics=lambda _namespace: METRICS).results()


def test_an_expression_is_worked_out_from_what_it_names_whatever_is_returned() -> None:
    results = answered(
        {"Id": "rate", "Expression": "100 * hits / all", "Label": "%"},
        {"Id": "all", "Expression": "SUM([hits, misses])", "ReturnData": False},
        single("hits", "Hits", ReturnData=False),
        single("misses", "Misses"),
    )

    told = [(each["Id"], each["Label"], each["Timestamps"], each["Values"]) for each in results]
    assert told == [("rate", "%", [600], [25.0]), ("misses", "misses", [600], [3.0])]


def test_a_search_has_a_result_for_each_metric_under_its_own_label() -> None:
    search = "SEARCH('{Stackroom,outcome,service} MetricName=\"Settled\"', 'Sum', 300)"

    plain = answered({"Id": "s", "Expression": search})
    named = answered({"Id": "s", "Expression": search, "Label": "${PROP('Dim.outcome')} of it"})

    assert [(each["Id"], each["Label"]) for each in plain] == [("s", "failed"), ("s", "indexed")]
    assert [each["Label"] for each in named] == ["failed of it", "indexed of it"]


def test_what_only_aws_works_out_is_refused_and_the_rest_is_answered() -> None:
    band, hits = answered(
        {"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(hits)"}, single("hits", "Hits")
    )

    assert (band["StatusCode"], band["Values"]) == ("InternalError", [])
    assert "only AWS works out ANOMALY_DETECTION_BAND" in band["Messages"][0]["Value"]
    assert hits["Values"] == [1.0]
