"""The searches' widgets on the dashboard, and their alarms."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Alarms
from infra.measurements import FIVE_MINUTES, graph, own_metric, search_metric, total

_DIMENSIONS = ("tool", "outcome")

# AWS documents no duration; a person should look at an index that takes longer.
_BUILDING_HOURS = 6


def search_widgets() -> list[cloudwatch.IWidget]:
    return [
        graph("Tool latency, p50 (ms)", [_tool_latency("p50")]),
        graph("Tool latency, p99 (ms)", [_tool_latency("p99")]),
        graph(
            "Tool calls refused or failed",
            [
                search_metric(
                    "ToolLatency",
                    *_DIMENSIONS,
                    statistic="SampleCount",
                    where='NOT outcome="success"',
                    label="${PROP('Dim.tool')} ${PROP('Dim.outcome')}",
                )
            ],
        ),
        graph("Passages per search", _passages()),
        graph("Search indexes, by state", _search_indexes()),
        graph("Vectors of questions", _embedding_cache()),
    ]


def withheld_passages_alarm(alarms: Alarms) -> cloudwatch.Alarm:
    metric = own_metric("PassagesWithheld", "retrieve", statistic="Sum")
    description = "Passages bore the attributes of a user whose documents they are not from."
    return alarms.on("WithheldPassages", metric, threshold=1, description=description)


def unready_indexes_alarm(alarms: Alarms) -> cloudwatch.Alarm:
    """Create the alarm after hours: building an index's text search may take some."""
    metric = own_metric("SearchIndexesNotReady", "reconciler", statistic="Minimum")
    return alarms.on(
        "SearchIndexesNotReady",
        metric.with_(period=cdk.Duration.hours(1)),
        threshold=1,
        periods=_BUILDING_HOURS,
        description="An index can't be searched by words for hours: searches go through"
        " Retrieve, by meaning alone. The log of the reconciler names it.",
    )


def _tool_latency(statistic: str) -> cloudwatch.MathExpression:
    return search_metric(
        "ToolLatency",
        *_DIMENSIONS,
        statistic=statistic,
        where='outcome="success"',
        label="${PROP('Dim.tool')}",
    )


def _embedding_cache() -> list[cloudwatch.IMetric]:
    """Return the questions whose vector was cached, those that were embedded, and their rate."""
    hits = total(_search_metrics("EmbeddingCacheHits"), label="asked before")
    misses = total(_search_metrics("EmbeddingCacheMisses"), label="embedded")
    rate = cloudwatch.MathExpression(
        expression="100 * hits / (hits + misses)",
        using_metrics={"hits": hits, "misses": misses},
        label="asked before (%)",
        period=FIVE_MINUTES,
    )
    return [hits, misses, rate]


def _search_indexes() -> list[cloudwatch.IMetric]:
    """Return the indexes by state, and the searches that ran in another way than configured."""
    notices = own_metric("SearchNotices", "retrieve", label="searched in another way")
    return [search_metric("SearchIndexes", "state"), notices]


def _passages() -> list[cloudwatch.IMetric]:
    return [
        own_metric("RetrieveResults", "retrieve", statistic="Average", label="average"),
        own_metric("PassagesWithoutPage", "retrieve", label="of PDFs, found on no page"),
    ]


def _search_metrics(name: str) -> list[cloudwatch.Metric]:
    """Return the metrics of both functions that embed questions."""
    return [own_metric(name, service) for service in ("retrieve", "catalog_tools")]
