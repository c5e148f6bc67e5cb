"""
Who is next: the rules of admission, worked out on what is known at one moment.

Oldest first. A knowledge base is shared by direct calls or held by jobs, as many at a time as one
of its type runs; where both wait, the older one decides. When a job is next, no new direct call is
let in, those at work finish, and then every job that waited at that moment runs (there are at most
as many as data sources), so that the change costs once. After that the oldest direct call is the
older.

A direct call can't be stopped, so a large document holds up every job of its knowledge base. It
queues up as if it had come PATIENCE later, and none is begun while a job waits that came before: a
job waits for those at work when it came, which end together, and for those that have waited longer
by PATIENCE. While one is at work no job could begin, so small calls go on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from stackroom.runs.ledger import Grant, Ledger, Mode, Waiter

# Slots that a run gets though others wait, and for how many it waits if there are fewer. Its
# function waits for its calls, so four at a time cost a quarter of one after the other, and it is
# done sooner. Runs come after each other rather than all beside each other; the last is done no
# later (docs/scaling.md).
WORTHWHILE = 4
ENOUGH = 3
# So much longer large work waits than small, if both do.
PATIENCE = timedelta(minutes=5)
# A grant is renewed with every poll, at most `runs.run`'s longest wait apart; retries of one task
# take about five minutes.
GRANT = timedelta(minutes=15)
# For so long what a waiter said of its work is believed.
FRESH = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    Of the account [AWS General Reference: Amazon Bedrock quotas, none adjustable]: ingestion jobs
    at a time, direct calls (Ingest- and DeleteKnowledgeBaseDocuments) at a time, and seconds
    between two StartIngestionJob (0.1 a second). Of the knowledge bases named in `jobs_in_one`:
    jobs at a time there; any other runs one.
    """

    jobs: int = 5
    direct_calls: int = 10
    seconds_between_starts: float = 10.0
    jobs_in_one: Mapping[str, int] = field(default_factory=dict)

    def jobs_in(self, knowledge_base_id: str) -> int:
        return self.jobs_in_one.get(knowledge_base_id, 1)

    def free_calls(self, ledger: Ledger) -> int:
        return self.direct_calls - sum(each.slots for each in ledger.direct)


def fair_share(slots: int, runs: int) -> int:
    """Of so many slots, for each of so many runs; rounded up, for they don't all use theirs."""
    return max(min(slots, WORTHWHILE), math.ceil(slots / max(1, runs)))


@dataclass
class Schedule:
    """`ledger` is what it becomes: as it was, without what is void, and then with new grants."""

    ledger: Ledger
    waiters: Sequence[Waiter]
    limits: Limits
    now: datetime
    leaving: frozenset[tuple[str, int]] = frozenset()  # runs, by catalog and epoch
    unwoken: list[Waiter] = field(default_factory=list)  # they have a grant and don't know it

    def __post_init__(self) -> None:
        newest = {each.worklist_id: each.epoch for each in self.waiters}
        live = tuple(
            grant
            for grant in self.ledger.grants
            if grant.until > self.now
            and (grant.worklist_id, grant.epoch) not in self.leaving
            # A newer run of the same catalog waits: the one that had the grant is no more.
            and newest.get(grant.worklist_id, 0) <= grant.epoch
        )
        if live != self.ledger.grants:
            self.ledger = replace(self.ledger, grants=live)
        self.live = live  # before anything is granted here
        held = {(grant.worklist_id, grant.epoch): grant for grant in live}
        self.unwoken = [each for each in self.waiters if (each.worklist_id, each.epoch) in held]
        waiting = [each for each in self.waiters if (each.worklist_id, each.epoch) not in held]
        self._waiting = sorted(waiting, key=lambda each: each.since)
        self._saving = False  # slots, for a run that has waited longer than all that come after it

    @property
    def calls(self) -> list[Waiter]:
        return [each for each in self._waiting if each.mode is Mode.DIRECT]

    def grant(self) -> list[Waiter]:
        """Who is granted the use of a knowledge base now; the ledger then says so."""
        granted = []
        for waiter in self._waiting:
            if grant := self._grant_for(waiter):
                self._enter(grant, waiter.since)
                granted.append(waiter)
        return granted

    def must_yield(self, grant: Grant, *, after: timedelta) -> bool:
        """Whether a grant for direct calls is to be given up, its calls at work once done."""
        if grant.is_large:  # no job could begin: small calls go on beside the large one
            return False
        next_job = self._next_job(grant.knowledge_base_id)
        if next_job is not None and next_job.since <= self.now and self._is_due(next_job):
            return True
        return bool(self.calls) and self.now - grant.granted_at >= after

    def is_before_large(self, knowledge_base_id: str, since: datetime) -> bool:
        """Whether a job comes before a large document that queues up as if it had come then."""
        job = self._next_job(knowledge_base_id)
        return job is not None and job.since <= since

    def _grant_for(self, waiter: Waiter) -> Grant | None:
        grants, knowledge_base_id = self.ledger.grants, waiter.knowledge_base_id
        here = [each for each in grants if each.knowledge_base_id == knowledge_base_id]
        modes = {each.mode for each in here}
        if waiter.mode is Mode.DIRECT:
            return None if Mode.JOB in modes else self._direct_grant(waiter)
        if Mode.DIRECT in modes or len(here) >= self.limits.jobs_in(knowledge_base_id):
            return None
        return self._job_grant(waiter)

    def _job_grant(self, waiter: Waiter) -> Grant | None:
        if not self._is_next(waiter) or not self._may_start():
            return None
        return self._granted(waiter, slots=1, start_at=max(self.now, self._next_start))

    def _direct_grant(self, waiter: Waiter) -> Grant | None:
        job = self._next_job(waiter.knowledge_base_id)
        if job is not None and self._is_due(job):
            return None
        share = self.limits.direct_calls
        if len(self.calls) > 1:  # it is not alone in waiting
            share = fair_share(share, len(self.ledger.direct) + len(self.calls))
        wanted = min(self._calls_of(waiter), share)
        slots = min(wanted, self.limits.free_calls(self.ledger))
        if slots < min(wanted, ENOUGH) or self._saving:
            self._saving = True
            return None
        return self._granted(waiter, slots=slots)

    def _calls_of(self, waiter: Waiter) -> int:
        """
        How many it could use. To a busy catalog more has come while it waited; what it can't use,
        it gives back when it claims its grant.
        """
        is_fresh = self.now - waiter.since < FRESH
        return waiter.calls if waiter.calls == 1 or is_fresh else max(waiter.calls, WORTHWHILE)

    def _is_next(self, job: Waiter) -> bool:
        """Whether the job waits longer than every direct call, or the jobs' phase includes it."""
        phase = self.ledger.phases.get(job.knowledge_base_id)
        if phase is not None and job.since <= phase:
            return True
        rivals = (each for each in self.calls if each.knowledge_base_id == job.knowledge_base_id)
        oldest = next(rivals, None)
        return oldest is None or job.since <= oldest.since

    def _is_due(self, job: Waiter) -> bool:
        """Whether it would begin if no direct calls were in its way that end soon."""
        is_held_up = any(
            each.is_large and each.knowledge_base_id == job.knowledge_base_id
            for each in self.ledger.direct
        )
        return self._is_next(job) and self._may_start() and not is_held_up

    def _next_job(self, knowledge_base_id: str) -> Waiter | None:
        jobs = (each for each in self._waiting if each.mode is Mode.JOB)
        return next((job for job in jobs if job.knowledge_base_id == knowledge_base_id), None)

    def _may_start(self) -> bool:
        """One start is reserved ahead, so that a knowledge base is not emptied too early."""
        at_work = sum(each.mode is Mode.JOB for each in self.ledger.grants)
        gap = timedelta(seconds=self.limits.seconds_between_starts)
        return at_work < self.limits.jobs and self._next_start - self.now <= gap

    @property
    def _next_start(self) -> datetime:
        return self.ledger.next_start or self.now

    def _granted(self, waiter: Waiter, *, slots: int, start_at: datetime | None = None) -> Grant:
        return Grant(
            worklist_id=waiter.worklist_id,
            epoch=waiter.epoch,
            knowledge_base_id=waiter.knowledge_base_id,
            mode=waiter.mode,
            slots=slots,
            granted_at=self.now,
            until=self.now + GRANT,
            start_at=start_at,
            size=waiter.size,
        )

    def _enter(self, grant: Grant, since: datetime) -> None:
        phases, next_start = dict(self.ledger.phases), self.ledger.next_start
        if grant.mode is Mode.DIRECT:
            phases.pop(grant.knowledge_base_id, None)
        else:
            phase = phases.get(grant.knowledge_base_id)
            if phase is None or phase < since:
                phases[grant.knowledge_base_id] = self.now
            assert grant.start_at is not None, "a job's grant says when it may start"
            next_start = grant.start_at + timedelta(seconds=self.limits.seconds_between_starts)
        self._waiting = [each for each in self._waiting if each.worklist_id != grant.worklist_id]
        self.ledger = replace(
            self.ledger, grants=(*self.ledger.grants, grant), phases=phases, next_start=next_start
        )
