"""What the dashboard shows of searches, and what calls a person about them."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Alarms
from infra.measurements import FIVE_MINUTES, found, graph, ours, total

_OF_A_CALL = ("tool", "outcome")

# Nobody has told how long it takes; a person should look at what takes longer.
_HOURS_OF_BUILDING = 6


def what_agents_get() -> list[cloudwatch.IWidget]:
    return [
        graph("Tool latency, p50 (ms)", [_answered("p50")]),
        graph("Tool latency, p99 (ms)", [_answered("p99")]),
        graph(
            "Tool calls refused or failed",
            [
                found(
                    "ToolLatency",
                    *_OF_A_CALL,
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
    figure = ours("PassagesWithheld", "retrieve", statistic="Sum")
    what = "Passages bore the attributes of a user whose documents they are not from."
    return alarms.on("WithheldPassages", figure, threshold=1, description=what)


def unready_indexes_alarm(alarms: Alarms) -> cloudwatch.Alarm:
    """Hours, because what is in an index already may take some to be read for its words."""
    figure = ours("SearchIndexesNotReady", "reconciler", statistic="Minimum")
    return alarms.on(
        "SearchIndexesNotReady",
        figure.with_(period=cdk.Duration.hours(1)),
        threshold=1,
        periods=_HOURS_OF_BUILDING,
        description="An index can't be searched by words for hours: searches go through"
        " Retrieve, by meaning alone. The log of the reconciler names it.",
    )


def _answered(statistic: str) -> cloudwatch.MathExpression:
    return found(
        "ToolLatency",
        *_OF_A_CALL,
        statistic=statistic,
        where='outcome="success"',
        label="${PROP('Dim.tool')}",
    )


def _embedding_cache() -> list[cloudwatch.IMetric]:
    """Of questions whose vector was there already, and of those that had to be embedded."""
    hits = total(_of_searches("EmbeddingCacheHits"), label="asked before")
    misses = total(_of_searches("EmbeddingCacheMisses"), label="embedded")
    rate = cloudwatch.MathExpression(
        expression="100 * hits / (hits + misses)",
        using_metrics={"hits": hits, "misses": misses},
        label="asked before (%)",
        period=FIVE_MINUTES,
    )
    return [hits, misses, rate]


def _search_indexes() -> list[cloudwatch.IMetric]:
    """By state, and how often agents' questions were searched in another way than is configured."""
    notices = ours("SearchNotices", "retrieve", label="searched in another way")
    return [found("SearchIndexes", "state"), notices]


def _passages() -> list[cloudwatch.IMetric]:
    return [
        ours("RetrieveResults", "retrieve", statistic="Average", label="average"),
        ours("PassagesWithoutPage", "retrieve", label="of PDFs, found on no page"),
    ]


def _of_searches(name: str) -> list[cloudwatch.Metric]:
    """Of both functions that embed what somebody asks."""
    return [ours(name, service) for service in ("retrieve", "catalog_tools")]
