"""
Faults, ordered or by chance, and a record of those injected.

`Dispatcher.call` injects faults of calls after the checks of rate and parameters: before the effect
(an error, or a delay) or after it (the work is done, the response is lost). Resources have their
own faults: documents in `Indexing.index`, while their job still ends COMPLETE, or in `Direct` when
their request is accepted; data sources in `DataSources.create`. Nothing is injected by default.
"""

import logging
import random
import threading
from collections import Counter, deque
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.service_errors import ServiceError

# The kinds of faults, and AWS's errors for them by operation.


class Kind(StrEnum):
    """The kinds of faults: the last six concern documents or data sources, the others calls."""

    CONFLICT = "conflict"
    THROTTLE = "throttle"
    BUSY = "busy"  # a ValidationException that only means "later"
    QUOTA = "quota"  # a ServiceQuotaExceededException, though nothing is full here
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    LATENCY = "latency"  # the response is late
    LOST = "lost"  # done, and answered with ServiceUnavailableException
    DROPPED = "dropped"  # done, and the connection ends without an answer
    FAILED = "failed"  # the document can't be processed
    REFUSED = "refused"  # the document reads INDEXED, the index took none of its vectors
    LATE = "late"  # the data source is CREATING for some seconds
    UNSEEN = "unseen"  # accepted, but unknown to GetKnowledgeBaseDocuments for some seconds
    MISSED = "missed"  # indexed, but searches find it some seconds later
    SLOW = "slow"  # its request takes ten times as long


AFTER_THE_EFFECT = frozenset({Kind.LOST, Kind.DROPPED})
# Faults of documents when their direct request is accepted; others apply when they are indexed.
AT_ACCEPTANCE = frozenset({Kind.UNSEEN, Kind.SLOW})
WHEN_MADE = frozenset({Kind.FAILED, Kind.REFUSED, Kind.LATE, Kind.MISSED})

# With two texts, faults alternate between them.
_BUSY: Mapping[str, tuple[rules.Rule, ...]] = {
    "StartIngestionJob": (rules.JOB_DURING_DIRECT,),
    "IngestKnowledgeBaseDocuments": (rules.DIRECT_CONCURRENCY, rules.DIRECT_DURING_JOB),
    "DeleteKnowledgeBaseDocuments": (rules.DIRECT_CONCURRENCY, rules.DIRECT_DURING_JOB),
    "DeleteDataSource": (rules.DATA_SOURCE_HAS_JOB,),
}
_CONFLICTS: Mapping[str, rules.Rule] = {"StartIngestionJob": rules.JOBS_PER_KNOWLEDGE_BASE}
_QUOTAS: Mapping[str, rules.Rule] = {
    "CreateDataSource": rules.DATA_SOURCES_PER_KNOWLEDGE_BASE,
    "StartIngestionJob": rules.JOB_QUOTA,
}

_THROTTLES = {"s3vectors": rules.VECTOR_RATE_EXCEEDED, "textract": rules.TEXTRACT_RATE}
_FAILURES = {"textract": rules.TEXTRACT_INTERNAL}

_ANY = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.INTERNAL, Kind.LATENCY, Kind.LOST, Kind.DROPPED)
_CONTENDED = (*_ANY, Kind.CONFLICT)
# Faults by chance, for all calls of the running product. Provisioning has none, since there is no
# CloudFormation here to retry it.
BY_CHANCE: Mapping[str, tuple[Kind, ...]] = {
    "Converse": _ANY,
    "CreateDataSource": _CONTENDED,
    "DeleteDataSource": (*_CONTENDED, Kind.BUSY),
    "DeleteKnowledgeBaseDocuments": (*_CONTENDED, Kind.BUSY),
    "DetectDocumentText": _ANY,
    "GetDataSource": _ANY,
    "GetIndex": _ANY,
    "GetIngestionJob": _ANY,
    "GetKnowledgeBaseDocuments": _ANY,
    "IngestKnowledgeBaseDocuments": (*_CONTENDED, Kind.BUSY),
    "InvokeModel": _ANY,
    "ListDataSources": _ANY,
    "ListIngestionJobs": _ANY,
    "ListKnowledgeBaseDocuments": _ANY,
    "QueryVectors": _ANY,
    "Retrieve": _ANY,
    "StartIngestionJob": (*_CONTENDED, Kind.BUSY),
    "StopIngestionJob": _CONTENDED,
    "UpdateDataSource": _CONTENDED,
}
# Faults of documents by chance. Refused vectors show only in a job's statistics, so only there.
DOCUMENTS_BY_CHANCE: Mapping[str, tuple[Kind, ...]] = {
    "StartIngestionJob": (Kind.FAILED, Kind.REFUSED),
    "IngestKnowledgeBaseDocuments": (Kind.FAILED, Kind.UNSEEN, Kind.MISSED, Kind.SLOW),
}


# Any kind can be ordered for any call, except these, which apply only to some operations.
_ONLY_OF: Mapping[Kind, Container[str]] = {
    Kind.BUSY: _BUSY,
    Kind.QUOTA: _QUOTAS,
    Kind.FAILED: DOCUMENTS_BY_CHANCE,
    Kind.REFUSED: DOCUMENTS_BY_CHANCE,
    Kind.LATE: {"CreateDataSource"},
    Kind.MISSED: DOCUMENTS_BY_CHANCE,
    Kind.UNSEEN: {"IngestKnowledgeBaseDocuments"},
    Kind.SLOW: {"IngestKnowledgeBaseDocuments"},
}


def answer(kind: Kind, service: str, operation: str, number: int) -> ServiceError:
    """Return the error of the `number`th such fault."""
    match kind:
        case Kind.CONFLICT:
            return _CONFLICTS.get(operation, rules.REQUEST_CONFLICT).broken()
        case Kind.BUSY:
            texts = _BUSY[operation]
            return texts[number % len(texts)].broken()
        case Kind.QUOTA:
            return _QUOTAS[operation].broken()
        case Kind.THROTTLE:
            return _THROTTLES.get(service, rules.RATE_EXCEEDED).broken()
        case Kind.INTERNAL:
            return _FAILURES.get(service, rules.INTERNAL_ERROR).broken()
        case Kind.UNAVAILABLE | Kind.LOST:
            return rules.SERVICE_UNAVAILABLE.broken()
        case _:
            raise AssertionError(f"{kind} has no error")


logger = logging.getLogger(__name__)

_OF_CALLS = frozenset(Kind) - WHEN_MADE - AT_ACCEPTANCE
# The longest faults by chance in AWS seconds, 10 for others. Users have observed these without
# reporting how long they last (rules document.unseen, retrieve.filtered-lag).
_LONGEST = {Kind.UNSEEN: 100.0, Kind.MISSED: 100.0}
_LISTED = 10_000  # of the latest injected faults; `counts` has all


@dataclass(frozen=True, kw_only=True)
class Fault:
    """
    A fault of the next `times` calls of `operation`, after `skip` others; 0 times is by chance.

    `where` must occur in the request's parameters, the document's URI or id, or the data source's
    name. A document's operation is StartIngestionJob or IngestKnowledgeBaseDocuments.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # where an order brings it (fault_orders)

    operation: str
    kind: Kind
    times: Annotated[int, Field(ge=1)] = 1
    skip: Annotated[int, Field(ge=0)] = 0
    where: str = ""
    # The delay in AWS seconds, for LATENCY, LATE, UNSEEN and MISSED.
    seconds: Annotated[float, Field(ge=0)] = 5.0

    def __post_init__(self) -> None:
        if self.operation not in _ONLY_OF.get(self.kind, (self.operation,)):
            raise ValueError(f"{self.operation} has no fault {self.kind.value!r}")


@dataclass(frozen=True, kw_only=True)
class Chance:
    """
    A probability for each kind; probabilities over 1 in total become shares.

    The seed decides the fault of the nth call of an operation, whatever other operations do, and of
    the nth time that a document is indexed.
    """

    seed: int
    rates: Mapping[Kind, float]

    @classmethod
    def even(cls, seed: int, rate: float) -> "Chance":
        return cls(seed=seed, rates=dict.fromkeys(Kind, rate))

    def draw(self, operation: str, kinds: Sequence[Kind], attempt: str) -> Fault | None:
        # Not for cryptography: it must be repeatable.
        stream = random.Random(f"{self.seed}/{operation}/{attempt}")  # noqa: S311
        rates = [self.rates.get(kind, 0.0) for kind in kinds]
        number = stream.random() * max(1.0, sum(rates))
        for kind, rate in zip(kinds, rates, strict=True):
            number -= rate
            if number < 0:
                seconds = stream.uniform(0, _LONGEST.get(kind, 10.0))
                return Fault(operation=operation, kind=kind, times=0, seconds=seconds)
        return None


@dataclass(frozen=True, kw_only=True)
class Injection:
    """An injected fault; `number` counts those of its kind and operation."""

    operation: str
    kind: Kind
    number: int
    subject: str = ""  # the document's URI or id, or the data source's name, if any


@dataclass
class Faults:
    """All ordered and injected faults; safe to use from several threads."""

    chance: Chance | None = None
    _asked: list[Fault] = field(default_factory=list)
    _attempts: Counter[str] = field(default_factory=Counter)
    _counts: Counter[tuple[str, Kind]] = field(default_factory=Counter)
    _injected: deque[Injection] = field(default_factory=lambda: deque(maxlen=_LISTED))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, *faults: Fault) -> None:
        """Order faults; those of one operation apply in this order, before any by chance."""
        with self._lock:
            self._asked.extend(faults)

    def clear(self) -> None:
        """Remove all orders and records."""
        with self._lock:
            self.chance = None
            for records in (self._asked, self._attempts, self._counts, self._injected):
                records.clear()

    @property
    def asked(self) -> Sequence[Fault]:
        """The ordered faults that were not injected yet."""
        with self._lock:
            return tuple(self._asked)

    @property
    def injected(self) -> Sequence[Injection]:
        """The latest injected faults, oldest first."""
        with self._lock:
            return tuple(self._injected)

    @property
    def counts(self) -> Mapping[tuple[str, Kind], int]:
        with self._lock:
            return dict(self._counts)

    def next_of_call(self, operation: str, parameters: object) -> Fault | None:
        """Return the fault of this call, which must be injected or put back, or None."""
        with self._lock:
            fault = self._take(operation, parameters, _OF_CALLS)
            if fault is None and self.chance is not None:
                kinds = BY_CHANCE.get(operation, ())
                fault = self.chance.draw(operation, kinds, self._attempt(operation))
        return fault

    def inject_into(
        self, operation: str, identifier: str, among: Collection[Kind] = WHEN_MADE
    ) -> Fault | None:
        """Inject and return a fault of this document or data source, or return None."""
        with self._lock:
            fault = self._take(operation, identifier, among)
            if fault is None and self.chance is not None:
                kinds = [each for each in DOCUMENTS_BY_CHANCE.get(operation, ()) if each in among]
                attempt = f"{identifier}/{self._attempt(identifier)}"
                fault = self.chance.draw(operation, kinds, attempt)
        if fault is None:
            return None
        self.inject(fault, subject=identifier)
        return fault

    def inject(self, fault: Fault, *, subject: str = "") -> Injection:
        """Count, record and log a fault."""
        key = (fault.operation, fault.kind)
        with self._lock:
            injection = Injection(
                operation=fault.operation,
                kind=fault.kind,
                number=self._counts[key],
                subject=subject,
            )
            self._counts[key] += 1
            self._injected.append(injection)
        logger.warning("fault injected: %s in %s %s", fault.kind, fault.operation, subject)
        return injection

    def put_back(self, fault: Fault) -> None:
        """Return a fault to the orders, since its call had no effect."""
        with self._lock:
            if fault.times:
                self._asked.insert(0, fault)

    def _take(self, operation: str, subject: object, among: Collection[Kind]) -> Fault | None:
        for at, fault in enumerate(self._asked):
            if fault.operation != operation or fault.kind not in among:
                continue
            if fault.where and fault.where not in str(subject):
                continue
            if fault.skip:
                self._asked[at] = replace(fault, skip=fault.skip - 1)
                return None
            if fault.times > 1:
                self._asked[at] = replace(fault, times=fault.times - 1)
            else:
                del self._asked[at]
            return replace(fault, times=1)
        return None

    def _attempt(self, stream: str) -> str:
        self._attempts[stream] += 1
        return str(self._attempts[stream])
