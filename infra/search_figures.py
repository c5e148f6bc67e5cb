"""What dashboards show of searches."""

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.measurements import FIVE_MINUTES, found, ours, total


def embedding_cache() -> list[cloudwatch.IMetric]:
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


def search_indexes() -> list[cloudwatch.IMetric]:
    """By state, and how often agents' questions were searched in another way than is configured."""
    notices = ours("SearchNotices", "retrieve", label="searched in another way")
    return [found("SearchIndexes", "state"), notices]


def passages() -> list[cloudwatch.IMetric]:
    return [ours("RetrieveResults", "retrieve", statistic="Average", label="average")]


def _of_searches(name: str) -> list[cloudwatch.Metric]:
    """Of both functions that embed what somebody asks."""
    return [ours(name, service) for service in ("retrieve", "catalog_tools")]
