"""
What an agent writes down of its searches: errors always, by their kind; questions only if asked to.

Questions are the users' own. Unless ENABLE_OBSERVABILITY says so no line holds one, be it a log
line, a metric, an exception's words, or what a library writes by itself (`hush`). Observed, each
search leaves a line with its text, its target, how many results there were and how long it took,
and two metrics for each knowledge base. The log group masks what looks personal: the constructs
give it a data protection policy.

What a layer exports of OpenTelemetry's traces is not held back here: Strands puts messages into
them, and they stay in the process until somebody sets up an exporter.
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
    """A search of which is written down what may be."""

    retrieval: Searchable
    is_observed: bool = False

    def search(
        self, asked: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        started = time.perf_counter()
        try:
            answer = self.retrieval.search(asked, caller, deadline=deadline)
        except StackroomError as error:
            self._tell_failure(error)
            self._tell(asked, results=0, started=started)
            raise
        for knowledge_base_id, reason in answer.failures.items():
            _tell_silence(knowledge_base_id, reason)
        self._tell(asked, results=len(answer.results), started=started)
        if self.is_observed:
            for each in answer.figures:
                measure(each)
        return answer

    def _tell_failure(self, error: StackroomError) -> None:
        failures = error.failures if isinstance(error, RetrievalError) else {}
        for knowledge_base_id, reason in failures.items():
            _tell_silence(knowledge_base_id, reason)
        logger.error("search failed", extra={"error_type": type(error).__name__})

    def _tell(self, asked: SearchArguments, *, results: int, started: float) -> None:
        if not self.is_observed:
            return
        told = {
            "query": asked.query,
            "target": asked.knowledge_base_id or _ALL,
            "result_count": results,
            "latency_ms": round((time.perf_counter() - started) * 1000),
        }
        logger.info("knowledge bases searched", extra=told)


def measure(figures: SearchFigures) -> None:
    """
    One knowledge base's, in CloudWatch's embedded metric format; the agent's name, which is that of
    Powertools' service, is a dimension as of all our figures.
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
    where: logging.Logger, message: str, error: BaseException, **told: object
) -> None:
    """An error that nobody expected: its kind and where it was raised, not its words."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    told |= {"error_type": type(error).__name__, "raised_at": frames}
    where.error(message, extra=told)


def silence_library_loggers() -> None:
    """
    For the process: what libraries would tell of requests, replies and errors is left out.

    Of an error a line with its kind remains. Called where nothing is to be observed.
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
        told = {
            "logger": record.name,
            "line": record.lineno,
            "error_type": kind.__name__ if kind else None,
        }
        logger.log(record.levelno, "a library tells of something", extra=told)


def _tell_silence(knowledge_base_id: str, reason: str) -> None:
    told = {"knowledge_base_id": knowledge_base_id, "reason": reason}
    logger.error("knowledge base did not answer", extra=told)
