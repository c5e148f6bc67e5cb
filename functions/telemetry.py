"""Logging and metrics: one logger and one metrics namespace for all functions."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

if TYPE_CHECKING:  # a function imports what it uses
    from stackroom.runs.verdicts import Settled
    from stackroom.search.cached_embeddings import CacheTally

NAMESPACE = "Stackroom"


@cache
def logger_for(service: str) -> Logger:
    """Return a function's logger: constant messages, values as fields, never a whole event."""
    return Logger(service=service)


@cache
def metrics_for(service: str) -> Metrics:
    """Return a function's EMF metrics, in the namespace that the dashboard reads."""
    return Metrics(namespace=NAMESPACE, service=service)


def report(settled: "Iterable[Settled]", *, logger: Logger, metrics: Metrics) -> None:
    """
    Log and count each settled document, whichever function settled it.

    The correlation id is the upload event's, so that one search finds the document's whole history.
    """
    for each in settled:
        document = each.document
        logger.info(
            "document settled",
            outcome=each.outcome,
            document_id=document.document_id,
            version=document.version,
            correlation_id=document.correlation_id,
            reason=document.remark,
        )
        with single_metric(
            name="DocumentsSettled", unit=MetricUnit.Count, value=1, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="outcome", value=each.outcome)
        if each.is_indexed and document.gaps:
            metrics.add_metric(name="IndexedWithGaps", unit=MetricUnit.Count, value=1)
        if not each.is_found:
            # Bedrock says that it is indexed, but no search found it within a minute.
            metrics.add_metric(name="IndexedUnfound", unit=MetricUnit.Count, value=1)
        if each.is_indexed and document.indexed_at is not None:
            waited = (document.indexed_at - document.uploaded_at).total_seconds()
            metrics.add_metric(
                name="UploadToIndexedSeconds", unit=MetricUnit.Seconds, value=max(waited, 0)
            )


def report_set_aside(
    failures: Mapping[str, Exception], *, logger: Logger, metrics: Metrics
) -> None:
    """Log and count each catalog of which a part is left to a later run."""
    for catalog_id, error in failures.items():
        logger.error("catalog set aside", catalog_id=catalog_id, error=repr(error))
    if failures:
        metrics.add_metric(name="CatalogsSetAside", unit=MetricUnit.Count, value=len(failures))


def report_embeddings(tally: "CacheTally", *, metrics: Metrics) -> None:
    """Count how often a question's vector was cached, and how often it had to be computed."""
    hits, misses = tally.taken()
    if hits or misses:
        metrics.add_metric(name="EmbeddingCacheHits", unit=MetricUnit.Count, value=hits)
        metrics.add_metric(name="EmbeddingCacheMisses", unit=MetricUnit.Count, value=misses)


def count_call(service: str, *, tool: str, outcome: str, latency_ms: int, is_fault: bool) -> None:
    """Count the metrics of a tool's call, each in a line of its own."""
    with single_metric(
        name="ToolLatency",
        unit=MetricUnit.Milliseconds,
        value=latency_ms,
        namespace=NAMESPACE,
        default_dimensions={"service": service, "tool": tool, "outcome": outcome},
    ):
        pass
    if is_fault:
        # Separate from the latency by outcome: an alarm takes at most ten metrics, and there are
        # more tools.
        with single_metric(
            name="ToolFaults",
            unit=MetricUnit.Count,
            value=1,
            namespace=NAMESPACE,
            default_dimensions={"service": service},
        ):
            pass
