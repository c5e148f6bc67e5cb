"""How functions log and count: one logger and one metrics namespace for all of them."""

from collections.abc import Iterable
from functools import cache

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from stackroom.retrieval.embeddings import CacheTally
from stackroom.settlement.verdicts import DocumentOutcome, Settled

NAMESPACE = "Stackroom"


@cache
def logger_for(service: str) -> Logger:
    """The logger of one function: constant messages, values as fields, never a whole event."""
    return Logger(service=service)


@cache
def metrics_for(service: str) -> Metrics:
    """EMF metrics of one function, in the namespace that the dashboard reads."""
    return Metrics(namespace=NAMESPACE, service=service)


def report(settled: Iterable[Settled], *, logger: Logger, metrics: Metrics) -> None:
    """
    A log line and a count for each document that came to its end, whichever function wrote it.

    The correlation id is that of the upload event, so that one search finds the whole way.
    """
    for each in settled:
        document = each.document
        logger.info(
            "document settled",
            outcome=each.outcome,
            document_id=document.document_id,
            version=document.version,
            correlation_id=document.correlation_id,
            reason=document.status_reason,
        )
        with single_metric(
            name="DocumentsSettled", unit=MetricUnit.Count, value=1, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="outcome", value=each.outcome)
        if each.outcome is DocumentOutcome.INDEXED and document.indexed_at is not None:
            waited = (document.indexed_at - document.uploaded_at).total_seconds()
            metrics.add_metric(
                name="UploadToIndexedSeconds", unit=MetricUnit.Seconds, value=max(waited, 0)
            )


def report_embeddings(tally: CacheTally, *, metrics: Metrics) -> None:
    """How often a question's vector was there, and how often it had to be made."""
    hits, misses = tally.taken()
    if hits or misses:
        metrics.add_metric(name="EmbeddingCacheHits", unit=MetricUnit.Count, value=hits)
        metrics.add_metric(name="EmbeddingCacheMisses", unit=MetricUnit.Count, value=misses)
