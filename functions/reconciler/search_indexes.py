"""The reconciler's report on text search in the pool's indexes."""

from collections import Counter
from collections.abc import Iterable

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from functions.telemetry import NAMESPACE, logger_for, metrics_for
from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.aws.session import client
from stackroom.model.records import PoolMember
from stackroom.search.index_setup import Readiness, readiness_of

logger = logger_for("reconciler")
metrics = metrics_for("reconciler")

_UNKNOWN = "unknown"


def report_search_indexes(pool: Iterable[PoolMember]) -> None:
    """Log indexes without text search and count them, for an alarm; count all indexes by state."""
    indexes = [member.index for member in pool if member.index is not None]
    known = readiness_of(S3VectorsIndexes(client("s3vectors")), indexes)
    unready = {name: each for name, each in known.items() if each is not Readiness.ACTIVE}
    for name, readiness in unready.items():
        logger.warning("search index not ready", index=name, state=readiness or _UNKNOWN)

    metrics.add_metric(name="SearchIndexesNotReady", unit=MetricUnit.Count, value=len(unready))
    for state, count in Counter(each or _UNKNOWN for each in known.values()).items():
        with single_metric(
            name="SearchIndexes", unit=MetricUnit.Count, value=count, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="state", value=state)
