"""Asking what became of a round's documents, and writing it down."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.ingestion import catalog_of, totals
from stackroom.model import CatalogStatus, Document, DocumentStatus
from stackroom.placement import source_of
from stackroom.ports import (
    Catalogs,
    DataSource,
    DocumentBucket,
    Documents,
    Findings,
    IngestionJobs,
    Job,
    JobState,
    Leases,
    Verdict,
)
from stackroom.progress import Outcome, Run, waiting_time
from stackroom.runs import LEASE
from stackroom.verdicts import NO_REASON, Decision, Evidence, Fate, decide, is_overdue

# Counted from when Bedrock accepted the job; waiting for a turn has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
DEADLINE = 12 * 3600.0
_STOPPING = 3600.0  # grace for StopIngestionJob, which takes about half a minute
_NOT_FOUND = Verdict(status="NOT_FOUND", updated_at=None)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """One document's end, for the log and the metrics."""

    document: Document
    fate: Fate


@dataclass(frozen=True, kw_only=True)
class Settlement:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    jobs: IngestionJobs
    findings: Findings
    leases: Leases
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> Run:
        """Is the round's job over? Stops a job that is past its deadline."""
        self._renew(run)
        source, job = self._job(run)
        if job is None or job.state is not JobState.RUNNING or self._is_overdue(job, _STOPPING):
            # Polls go on counting while documents are unsettled, or the waits would never grow.
            unsettled = run.progress.outcome is Outcome.UNSETTLED
            return run.went(Outcome.OVER, polls=run.progress.polls if unsettled else 0)
        if self._is_overdue(job):
            self.jobs.stop(source, job.job_id)
        polls = run.progress.polls + 1
        return run.went(Outcome.RUNNING, polls=polls, wait_seconds=waiting_time(polls))

    def settle(self, run: Run) -> tuple[Run, list[Settled]]:
        """
        Write down what became of each document of the round that is still as it was taken up.

        Safe to retry: what is settled is no longer of the round.
        """
        self._renew(run)
        source, job = self._job(run)
        documents = list(self.documents.of_catalog(run.catalog_id))
        taken = [each for each in documents if _is_of_round(each, run.progress.job_id)]
        failed = [each for each in documents if _is_tried_again(each)]
        verdicts = self._verdicts(source, taken + failed)
        decided = [(each, self._decide(each, verdicts, job)) for each in taken]
        decided += self._recovered(failed, verdicts, job)
        if any(decision.fate is Fate.AGAIN for _, decision in decided):
            # Moves the counter, so that the run can't end. Before the documents are written: once
            # they are, a retried task finds them no longer of the round, and would not ask.
            self.leases.ask(run.catalog_id)
        settled = self._explain(self._write(decided))
        waiting = any(decision.fate is Fate.WAIT for _, decision in decided)
        self._summarise(run.catalog_id, documents, settled, waiting=waiting)
        polls = run.progress.polls + 1
        outcome = Outcome.UNSETTLED if waiting else Outcome.SETTLED
        return run.went(outcome, polls=polls, wait_seconds=waiting_time(polls)), settled

    def _renew(self, run: Run) -> None:
        self.leases.renew(run.catalog_id, run.epoch, until=self.now() + LEASE)

    def _job(self, run: Run) -> tuple[DataSource, Job | None]:
        source = source_of(catalog_of(run, self.catalogs))
        assert source is not None, "a job runs where the catalog is placed"
        assert run.progress.job_id is not None, "a round that waits has a job"
        return source, self.jobs.get(source, run.progress.job_id)

    def _verdicts(self, source: DataSource, taken: list[Document]) -> dict[str, Verdict]:
        uris = [self.bucket.uri_of(document.s3_key) for document in taken]
        return self.jobs.verdicts(source, uris) if uris else {}

    def _decide(
        self, document: Document, verdicts: dict[str, Verdict], job: Job | None
    ) -> Decision:
        uri = self.bucket.uri_of(document.s3_key)
        evidence = Evidence(
            verdict=verdicts.get(uri, _NOT_FOUND),
            job=job,
            uri=uri,
            overdue=job is not None and self._is_overdue(job),
        )
        decision = decide(document, evidence)
        if decision.fate is not Fate.FAILED or document.status is not DocumentStatus.INDEXING:
            return decision
        return Decision(fate=Fate.FAILED, reason=self._finding(document) or decision.reason)

    def _recovered(
        self, failed: list[Document], verdicts: dict[str, Verdict], job: Job | None
    ) -> list[tuple[Document, Decision]]:
        """What the round's job has indexed after all; else answers would show what failed."""
        decided = ((each, self._decide(each, verdicts, job)) for each in failed)
        return [each for each in decided if each[1].fate is Fate.INDEXED]

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
        explained = []
        for each in settled:
            document = each.document
            if document.status_reason == NO_REASON and (finding := self._finding(document)):
                told = document.moved(DocumentStatus.FAILED, at=self.now(), reason=finding)
                document = next(iter(self.documents.save_all([told])), document)
            explained.append(Settled(document=document, fate=each.fate))
        return explained

    def _finding(self, document: Document) -> str | None:
        return self.findings.reason_for(document.document_id, document.etag)

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


def _is_of_round(document: Document, job_id: str | None) -> bool:
    if document.ingestion_job_id != job_id:
        return False
    return document.lingering or document.status in (
        DocumentStatus.INDEXING,
        DocumentStatus.DELETING,
    )


def _is_tried_again(document: Document) -> bool:
    """
    Whether every job tries the failed document again, as Bedrock does with what lies there.

    One that we rejected has no present_since, for it never lay there with a sidecar of its own.
    """
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and document.present_since is not None


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
