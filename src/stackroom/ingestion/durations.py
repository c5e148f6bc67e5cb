"""
About how long ingestion takes, and how long until it begins, by a simple model.

- Jobs take about 20 s, and 0.3 s a document, one at a time in a knowledge base and at least 10 s
  apart in the account. Of those ahead only the number is known, so each counts as 20 s.
- Direct calls carry 10 documents and take about 6 s, 10 at a time in the account, shared with
  whoever is ahead, and after the job that has the knowledge base, if one has.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stackroom.admission.demand import BATCH
from stackroom.admission.limits import Limits
from stackroom.model import PerSourceType
from stackroom.ports.admission import Ledger, Mode

_JOB_SECONDS = 20.0
_JOB_SECONDS_A_DOCUMENT = 0.3
_CALL_SECONDS = 6.0


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """Who waits longer for the same knowledge base in the same mode, and their direct calls."""

    runs: int
    calls: int


class Durations(Protocol):
    """In seconds."""

    def work(self, documents: int) -> float: ...

    def wait(
        self, knowledge_base_id: str, ahead: Ahead, ledger: Ledger, *, at: datetime
    ) -> float: ...


@dataclass(frozen=True)
class _OfJobs:
    limits: Limits

    def work(self, documents: int) -> float:
        return _JOB_SECONDS + _JOB_SECONDS_A_DOCUMENT * documents

    def wait(self, knowledge_base_id: str, ahead: Ahead, ledger: Ledger, *, at: datetime) -> float:
        here = [each for each in ledger.grants if each.knowledge_base_id == knowledge_base_id]
        seconds = _JOB_SECONDS * (ahead.runs + len(here))
        if ledger.next_start is not None:
            seconds = max(seconds, (ledger.next_start - at).total_seconds())
        return max(seconds, self.limits.seconds_between_starts * ahead.runs)


@dataclass(frozen=True)
class _OfDirectCalls:
    limits: Limits

    def work(self, documents: int) -> float:
        return self._seconds(max(1, math.ceil(documents / BATCH)))

    def wait(
        self,
        knowledge_base_id: str,
        ahead: Ahead,
        ledger: Ledger,
        *,
        at: datetime,  # noqa: ARG002 - no call waits for a moment
    ) -> float:
        has_job = any(
            each.mode is Mode.EXCLUSIVE
            for each in ledger.grants
            if each.knowledge_base_id == knowledge_base_id
        )
        at_work = sum(each.slots for each in ledger.grants if each.mode is Mode.SHARED)
        return (_JOB_SECONDS if has_job else 0) + self._seconds(at_work + ahead.calls)

    def _seconds(self, calls: int) -> float:
        return math.ceil(calls / self.limits.direct_calls) * _CALL_SECONDS


def durations(limits: Limits) -> PerSourceType[Durations]:
    return PerSourceType(own=_OfJobs(limits), shared=_OfDirectCalls(limits))
