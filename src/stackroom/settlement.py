"""Asking what became of a round's documents, and writing it down."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import KnowledgeBaseThrottled, RecordChanged
from stackroom.ingestion import totals
from stackroom.inquiry import Inquiry, unexplained
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.placement import source_of
from stackroom.ports import Catalogs, DataSource, Documents, IngestionJobs, Job, JobState, Leases
from stackroom.progress import Outcome, Run, waiting_time
from stackroom.runs import LEASE
from stackroom.verdicts import DEADLINE, NO_REASON, Decision, Fate, Settled, is_overdue

_STOPPING = 3600.0  # grace for StopIngestionJob, which takes about half a minute


@dataclass(frozen=True, kw_only=True)
class Settling:
    """What a round came to; `unexplained` failures are known from the job's statistics alone."""

    settled: list[Settled] = field(default_factory=list)
    unexplained: int = 0


@dataclass(frozen=True, kw_only=True)
class Settlement:
    catalogs: Catalogs
    documents: Documents
    jobs: IngestionJobs
    inquiry: Inquiry
    leases: Leases
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> Run:
        """Is the round's job over? Stops a job that is past its deadline."""
        self._renew(run)
        _, source, job_id = self._round(run)
        polls = run.progress.polls + 1
        still_running = run.went(Outcome.RUNNING, polls=polls, wait_seconds=waiting_time(polls))
        try:
            job = self.jobs.get(source, job_id)
        except KnowledgeBaseThrottled:
            return still_running
        if job is None or job.state is not JobState.RUNNING or self._is_overdue(job, _STOPPING):
            # Polls go on counting while documents are unsettled, or the waits would never grow.
            unsettled = run.progress.outcome is Outcome.UNSETTLED
            return run.went(Outcome.OVER, polls=run.progress.polls if unsettled else 0)
        if self._is_overdue(job):
            self.jobs.stop(source, job_id)
        return still_running

    def settle(self, run: Run) -> tuple[Run, Settling]:
        """
        Write down what became of each document of the round that is still as it was taken up.

        Safe to retry: what is settled is no longer of the round.
        """
        self._renew(run)
        catalog, source, job_id = self._round(run)
        documents = list(self.documents.of_catalog(run.catalog_id))
        try:
            decided, job = self.inquiry.decide(catalog, source, job_id, documents, self.now())
        except KnowledgeBaseThrottled:
            return self._later(run), Settling()
        if any(decision.fate is Fate.AGAIN for _, decision in decided):
            # Moves the counter, so that the run can't end. Before the documents are written: once
            # they are, a retried task finds them no longer of the round, and would not ask.
            self.leases.ask(run.catalog_id)
        settled = self._explain(self._write(decided))
        waiting = any(decision.fate is Fate.WAIT for _, decision in decided)
        self._summarise(run.catalog_id, documents, settled, waiting=waiting)
        settling = Settling(settled=settled, unexplained=unexplained(job, documents, decided))
        return self._later(run) if waiting else run.went(Outcome.SETTLED), settling

    def _later(self, run: Run) -> Run:
        polls = run.progress.polls + 1
        return run.went(Outcome.UNSETTLED, polls=polls, wait_seconds=waiting_time(polls))

    def _renew(self, run: Run) -> None:
        self.leases.renew(run.catalog_id, run.epoch, until=self.now() + LEASE)

    def _round(self, run: Run) -> tuple[Catalog, DataSource, str]:
        catalog = self.catalogs.get(run.catalog_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = source_of(catalog)
        assert source is not None, "a job runs where the catalog is placed"
        assert run.progress.job_id is not None, "a round that waits has a job"
        return catalog, source, run.progress.job_id

    def _write(self, decided: Iterable[tuple[Document, Decision]]) -> list[Settled]:
        at = self.now()
        fates = {document.document_id: decision.fate for document, decision in decided}
        changed = [_after(document, decision, at) for document, decision in decided]
        saved = self.documents.save_all(each for each in changed if each is not None)
        settled = [
            Settled(document=each, fate=fates[each.document_id])
            for each in saved
            if fates[each.document_id] is not Fate.AGAIN
        ]
        settled += [
            Settled(document=document, fate=Fate.LEFT)
            for document, decision in decided
            if decision.fate is Fate.LEFT
        ]
        gone = (document for document, decision in decided if decision.fate is Fate.GONE)
        return settled + [Settled(document=each, fate=Fate.GONE) for each in self._remove(gone)]

    def _explain(self, settled: list[Settled]) -> list[Settled]:
        """
        Give failures without a reason the one that an inspection has found in the meantime.

        The inspection writes its finding before it looks at the record, and we look for the finding
        after we have written the record: whoever is second sees the other.
        """
        silent = [each.document for each in settled if each.document.status_reason == NO_REASON]
        findings = self.inquiry.findings.reasons_for(silent) if silent else {}
        at = self.now()
        told = {
            each.document_id: each
            for each in self.documents.save_all(
                each.moved(DocumentStatus.FAILED, at=at, reason=findings[each.document_id])
                for each in silent
                if each.document_id in findings
            )
        }
        return [
            replace(each, document=told.get(each.document.document_id, each.document))
            for each in settled
        ]

    def _remove(self, documents: Iterable[Document]) -> list[Document]:
        removed = []
        for document in documents:
            try:
                self.documents.remove(document)
            except RecordChanged:
                continue  # it was uploaded again meanwhile, and waits for a round of its own
            removed.append(document)
        return removed

    def _summarise(
        self, catalog_id: str, before: list[Document], settled: list[Settled], *, waiting: bool
    ) -> None:
        gone = {each.document.document_id for each in settled if each.fate is Fate.GONE}
        left = [each for each in before if each.document_id not in gone]
        count, size = totals(left)
        status = CatalogStatus.INDEXING if waiting else CatalogStatus.READY
        self.catalogs.summarise(catalog_id, status=status, count=count, size=size, at=self.now())

    def _is_overdue(self, job: Job, grace: float = 0) -> bool:
        return is_overdue(job.started_at, self.now(), DEADLINE + grace)


def _after(document: Document, decision: Decision, at: datetime) -> Document | None:
    """The document as the decision leaves it, or None if it stays (or goes) as it is."""
    match decision.fate:
        case Fate.INDEXED:
            indexed = document.moved(DocumentStatus.INDEXED, at=at)
            return indexed.model_copy(update={"indexed_at": at, "lingering": False})
        case Fate.FAILED:
            return document.moved(DocumentStatus.FAILED, at=at, reason=decision.reason)
        case Fate.EVICTED:
            return document.model_copy(
                update={"lingering": False, "indexed_at": None, "ingestion_job_id": None}
            )
        case Fate.AGAIN:
            if document.status is DocumentStatus.INDEXING:
                return document.moved(DocumentStatus.PENDING, at=at)
            return None  # deleting and lingering documents are work as they stand
        case Fate.WAIT | Fate.GONE | Fate.LEFT:
            return None
