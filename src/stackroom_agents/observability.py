"""
The logs and metrics of an agent's searches: always the kind of errors; questions only on request.

Questions belong to the users. Without ENABLE_OBSERVABILITY no log line, metric, error message or
line of a library (`silence_library_loggers`) has one. With it, each search logs its text, its
target, the number of results and the time it took, and counts two metrics for each knowledge base.
The log group masks personal data: the constructs give it a data protection policy.

OpenTelemetry's traces are not held back here: Strands puts messages into them, and they stay in the
process until an exporter is set up.
"""

import logging
import os
import time
import traceback
from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import RetrievalError, StackroomError
from stackroom.search.results import Searchable, SearchAnswer, SearchFigures
from stackroom.search.search_arguments import SearchArguments

logger = logging.getLogger(__name__)

LATENCY = "RetrievalLatency"  # milliseconds
RESULTS = "RetrievalResultCount"
DIMENSION = "knowledge_base"
_ALL = "all"
_NAMESPACE = "Stackroom"

# Of requests and replies they tell everything, from DEBUG on.
_TALKATIVE = ("boto3", "botocore", "urllib3")
# These tell of what was raised, in the words of whoever raised it: a tool, or a service that
# repeats what it was asked.
_QUOTING = ("asyncio", "strands")


@dataclass(frozen=True, kw_only=True)
class ObservedRetrieval:
    """A search that logs as much as observability allows."""

    retrieval: Searchable
    is_observed: bool = False

    def search(
        self, request: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        started = time.perf_counter()
        try:
            answer = self.retrieval.search(request, caller, deadline=deadline)
        except StackroomError as error:
            self._tell_failure(error)
            self._tell(request, results=0, started=started)
            raise
        for knowledge_base_id, reason in answer.failures.items():
            _tell_silence(knowledge_base_id, reason)
        self._tell(request, results=len(answer.results), started=started)
        if self.is_observed:
            for each in answer.figures:
                measure(each)
        return answer

    def _tell_failure(self, error: StackroomError) -> None:
        failures = error.failures if isinstance(error, RetrievalError) else {}
        for knowledge_base_id, reason in failures.items():
            _tell_silence(knowledge_base_id, reason)
        logger.error("search failed", extra={"error_type": type(error).__name__})

    def _tell(self, request: SearchArguments, *, results: int, started: float) -> None:
        if not self.is_observed:
            return
        fields = {
            "query": request.query,
            "target": request.knowledge_base_id or _ALL,
            "result_count": results,
            "latency_ms": round((time.perf_counter() - started) * 1000),
        }
        logger.info("knowledge bases searched", extra=fields)


def measure(figures: SearchFigures) -> None:
    """
    Count a knowledge base's figures in CloudWatch's embedded metric format.

    The agent's name, which is that of Powertools' service, is a dimension, as of all our metrics.
    """
    namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE") or _NAMESPACE
    of = {DIMENSION: figures.knowledge_base_id}
    count, ms = figures.passages, figures.milliseconds
    for name, unit, value in (
        (LATENCY, MetricUnit.Milliseconds, ms),
        (RESULTS, MetricUnit.Count, count),
    ):
        with single_metric(
            name=name, unit=unit, value=value, namespace=namespace, default_dimensions=of
        ):
            pass


def tell_breakage(
    where: logging.Logger, message: str, error: BaseException, **fields: object
) -> None:
    """Log an unexpected error: its kind and where it was raised, not its message."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    fields |= {"error_type": type(error).__name__, "raised_at": frames}
    where.error(message, extra=fields)


def silence_library_loggers() -> None:
    """
    Drop what libraries would log of requests, responses and errors in this process.

    The kind of an error still gets a line. Call it if nothing is to be observed.
    """
    for name in _TALKATIVE:
        talkative = logging.getLogger(name)
        talkative.setLevel(max(talkative.level, logging.INFO))
    for name in _QUOTING:
        quoting = logging.getLogger(name)
        quoting.setLevel(max(quoting.level, logging.WARNING))
        quoting.handlers = [_Kinds()]
        quoting.propagate = False


class _Kinds(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        fields = {
            "logger": record.name,
            "line": record.lineno,
            "error_type": kind.__name__ if kind else None,
        }
        logger.log(record.levelno, "a library tells of something", extra=fields)


def _tell_silence(knowledge_base_id: str, reason: str) -> None:
    fields = {"knowledge_base_id": knowledge_base_id, "reason": reason}
    logger.error("knowledge base did not answer", extra=fields)
