"""
PollIngestion: one poll of a run's work, and the verdicts on documents that are decided.

A data source of type S3 takes ingestion jobs, one of type CUSTOM direct calls; everything else
about a run is the same for both (here, and in run_tasks). The poller of either type reports how far
Bedrock's status goes, searches complete the evidence, rules make a verdict of it, and what is not
settled is polled again. Polling gives back what the run no longer needs of its knowledge base.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, result_or_error, run_in_threads
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, is_systemic
from stackroom.model.records import Catalog, DataSource, Document, PerSourceType, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.admission import Admission
from stackroom.runs.evidence import DocumentEvidence, Investigation
from stackroom.runs.lease import Leases
from stackroom.runs.ledger import CompletedWork, Mode
from stackroom.runs.run import (
    MAX_STEPS,
    DocumentName,
    Run,
    RunOutcome,
    seconds_until_next_poll,
    seconds_until_next_try,
)
from stackroom.runs.run_leases import LEASE, is_shared, source_of
from stackroom.runs.verdicts import (
    Decided,
    DocumentOutcome,
    Settled,
    Verdict,
    VerdictWriter,
    verdict,
)


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """
    The result of one task.

    `failures` are, by catalog id, errors that leave something to a later run; `calls` are direct
    calls that the task began; `unexplained` counts failures known from a job's statistics alone.
    """

    run: Run
    settled: Sequence[Settled] = ()
    failures: dict[str, Exception] = field(default_factory=dict)
    calls: int = 0
    unexplained: int = 0


@dataclass(frozen=True, kw_only=True)
class PollResult:
    """
    The result of one poll of a run's work.

    `run` is its new state. `at_work` counts the jobs or calls at work; the youngest of them, or of
    what is not settled yet, began at `began_at`. `evidence` is that of each document that Bedrock
    has decided on. `is_more` is True if something that waits can be sent now; `completed` is the
    work that has finished.
    """

    run: Run
    at_work: int
    evidence: Sequence[DocumentEvidence] = ()
    began_at: datetime | None = None
    is_more: bool = False
    completed: CompletedWork | None = None
    failed_documents: int = 0  # by a job's own count
    failures: dict[str, Exception] = field(default_factory=dict)


class Poller(Protocol):
    mode: Mode

    def poll(self, run: Run, source: DataSource) -> PollResult:
        """
        Ask Bedrock once. Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable: poll again
        later.
        """


_GROWS_EACH = 3  # polls in a row, after which a run with more to send asks for more calls
_COUNTED = {
    DocumentOutcome.INDEXED: "indexed",
    DocumentOutcome.FAILED: "failed",
    DocumentOutcome.GONE: "removed",
    DocumentOutcome.EVICTED: "removed",
    DocumentOutcome.AGAIN: "again",
    DocumentOutcome.POSTPONED: "postponed",
}


@dataclass(frozen=True, kw_only=True)
class Polling:
    catalogs: Catalogs
    pool: Sequence[PoolMember]
    pollers: PerSourceType[Poller]
    investigation: Investigation
    verdict_writer: VerdictWriter
    leases: Leases
    admission: Admission
    run_parallel: RunParallel = run_in_threads
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> TaskResult:
        """
        Poll once, and write the verdicts. Safe to retry: settled documents are no longer part of
        the run.
        """
        until = self.now() + LEASE
        is_well = run.progress.documents.settled > 0
        lease = self.leases.renew(run.worklist_id, run.epoch, until=until, is_well=is_well)
        source = source_of(run.worklist_id, self.catalogs, self.pool)
        if source is None:  # its catalog is gone, or its knowledge base is in the pool no more
            self.admission.leave(run.worklist_id, run.epoch)
            return TaskResult(run=run.with_outcome(RunOutcome.SETTLED, calls=(), job_id=None))
        poller = self.pollers.of(source)
        try:
            result = poller.poll(run, source)
            settling = _Settling()
            verdicts = self._decide(run, result.evidence, settling)
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable):
            waits = run.progress.waits
            seconds = seconds_until_next_try(waits)
            later = run.with_outcome(RunOutcome.RUNNING, wait_seconds=seconds, waits=waits + 1)
            return TaskResult(run=later)
        self._settle(verdicts, settling)
        is_asked, counts = lease.requested != run.progress.served, settling.counts
        return TaskResult(
            run=self._after(result, settling, poller.mode, is_asked=is_asked),
            settled=settling.settled,
            unexplained=max(0, result.failed_documents - counts["failed"] - counts["again"]),
            failures={**result.failures, **settling.failures},
        )

    def _decide(
        self, run: Run, evidence: Sequence[DocumentEvidence], settling: "_Settling"
    ) -> list[tuple[Catalog, Document, Verdict]]:
        """
        Decide on all documents together, because one search can find documents of many catalogs. If
        that fails, decide catalog by catalog; catalogs that fail are left to a later run.
        """
        try:
            return self._verdicts(evidence)
        except Exception as error:
            if not is_shared(run.worklist_id) or _is_of_all(error):
                raise
            together = error
        decided = list[tuple[Catalog, Document, Verdict]]()
        for catalog_id in {catalog.catalog_id for catalog, _, _ in evidence}:
            own = [each for each in evidence if each[0].catalog_id == catalog_id]
            try:
                decided += self._verdicts(own)
            except Exception as error:
                if _is_of_all(error):
                    raise
                settling.fail(catalog_id, [document for _, document, _ in own], error)
        if not decided and isinstance(together, KnowledgeBaseUnavailable):
            raise together
        return decided

    def _verdicts(
        self, evidence: Sequence[DocumentEvidence]
    ) -> list[tuple[Catalog, Document, Verdict]]:
        verdicts = [
            (catalog, document, verdict(document, known))
            for catalog, document, known in self.investigation.complete(evidence)
        ]
        return [each for each in verdicts if _counts(each[1], each[2])]

    def _settle(
        self, verdicts: Sequence[tuple[Catalog, Document, Verdict]], settling: "_Settling"
    ) -> None:
        """Write the verdicts catalog by catalog, so that an error with one affects no other."""
        by_catalog: dict[str, Decided] = {}
        homes = {catalog.catalog_id: catalog for catalog, _, _ in verdicts}
        for catalog, document, each in verdicts:
            by_catalog.setdefault(catalog.catalog_id, []).append((document, each))
        writes = [
            partial(result_or_error, partial(self._write, homes[each], decided))
            for each, decided in by_catalog.items()
        ]
        written = self.run_parallel(writes)
        for (catalog_id, decided), settled in zip(by_catalog.items(), written, strict=True):
            if isinstance(settled, Exception):
                settling.fail(catalog_id, [document for document, _ in decided], settled)
            else:
                settling.settled += settled
                settling.take_in(decided)

    def _write(self, catalog: Catalog, decided: Decided) -> list[Settled]:
        if all(each.outcome is DocumentOutcome.WAIT for _, each in decided):
            return []
        return self.verdict_writer.write(catalog, decided)

    def _after(
        self, result: PollResult, settling: "_Settling", mode: Mode, *, is_asked: bool
    ) -> Run:
        """
        Return the run's next state. A job takes up nothing more; direct calls can be sent beside
        those at work.
        """
        is_news = is_asked or settling.counts["again"] > 0 or settling.is_recovered
        run = settling.probed(settling.pruned(result.run), at=self.now())
        may_send = mode is Mode.DIRECT and self._may_send(run, result, is_news=is_news)
        run = run.with_progress(is_more=run.progress.is_more or is_news)
        is_waiting = bool(result.at_work or run.progress.calls or settling.waiting)
        self._give_back(run, result, may_send=may_send)
        if may_send or (run.progress.is_more and not is_waiting):
            return run.with_outcome(RunOutcome.MORE, waits=0, job_id=None)
        if not is_waiting:
            return run.with_outcome(RunOutcome.SETTLED, waits=0, job_id=None)
        age = 0.0 if result.began_at is None else (self.now() - result.began_at).total_seconds()
        seconds = seconds_until_next_poll(mode, age)
        return run.with_outcome(
            RunOutcome.RUNNING, wait_seconds=seconds, waits=run.progress.waits + 1
        )

    def _may_send(self, run: Run, result: PollResult, *, is_news: bool) -> bool:
        """
        Return True if the run may send more now.

        If something waits for a call already, more of it waits for a free one. A run that is about
        to hand over sends nothing more, so that nothing is at work when it does.
        """
        if run.progress.steps >= MAX_STEPS:
            return False
        if not run.progress.is_more:
            return is_news
        if result.is_more:
            return True
        is_due = run.progress.waits % _GROWS_EACH == _GROWS_EACH - 1
        return is_due and self.admission.could_grow(run.worklist_id, run.epoch)

    def _give_back(self, run: Run, result: PollResult, *, may_send: bool) -> None:
        """Give back what the run no longer needs of its knowledge base."""
        if result.at_work or may_send:
            calls = None if may_send else result.at_work
            self.admission.keep(run.worklist_id, run.epoch, calls=calls, completed=result.completed)
        else:
            self.admission.leave(run.worklist_id, run.epoch, completed=result.completed)


@dataclass(kw_only=True)
class _Settling:
    """
    The documents that one poll has settled; `over` are those that no call has to settle any more.
    """

    settled: list[Settled] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)
    set_aside: list[DocumentName] = field(default_factory=list)
    over: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    is_recovered: bool = False  # Bedrock took something that it had failed over

    def fail(self, catalog_id: str, documents: Sequence[Document], error: Exception) -> None:
        """Leave the documents to a later run."""
        self.failures[catalog_id] = error
        self.set_aside += map(DocumentName.of, documents)
        self.over.update(document.document_id for document in documents)

    def take_in(self, decided: Decided) -> None:
        for document, each in decided:
            if each.outcome is DocumentOutcome.WAIT:
                self.waiting += 1
                continue
            self.over.add(document.document_id)
            is_indexed = each.outcome is DocumentOutcome.INDEXED
            self.is_recovered |= is_indexed and document.failing_since is not None
            if each.outcome is DocumentOutcome.LEFT:
                self.set_aside.append(DocumentName.of(document))
            elif (what := _COUNTED.get(each.outcome)) is not None:
                self.counts[what] += 1

    def pruned(self, run: Run) -> Run:
        """Return the run without settled documents."""
        calls = []
        for call in run.progress.calls:
            left = [each for each in call.documents if each.document_id not in self.over]
            if left:
                calls.append(call.model_copy(update={"documents": tuple(left)}))
        set_aside = (*run.progress.set_aside, *self.set_aside)
        moved = run.with_progress(calls=tuple(calls), set_aside=set_aside).counted(**self.counts)
        at_work = sum(len(each.documents) for each in calls if not each.is_over)
        documents = moved.progress.documents.model_copy(update={"at_work": at_work})
        return moved.with_progress(documents=documents)

    def probed(self, run: Run, *, at: datetime) -> Run:
        """Return the run as it goes on with documents that Bedrock fails over."""
        if self.is_recovered:
            return run.with_progress(recovered_at=at, probe_at=None)
        retries = (each.document.retry_at for each in self.settled)
        return run.with_progress(probe_at=max(filter(None, retries), default=run.progress.probe_at))


def _counts(document: Document, each: Verdict) -> bool:
    """
    Return True if the verdict counts. A document that failed before stays failed, unless it is
    indexed after all and a search finds it.
    """
    is_found = each.outcome is DocumentOutcome.INDEXED and each.is_found
    return document.is_open or is_found or each.outcome is DocumentOutcome.WAIT


def _is_of_all(error: Exception) -> bool:
    return is_systemic(error) or isinstance(error, KnowledgeBaseThrottled)
