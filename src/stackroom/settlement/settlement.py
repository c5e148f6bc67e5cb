"""Asking what became of a round's documents, and writing it down."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import Catalog, CatalogStatus, DataSource, DataSourceType, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import DirectDocuments, DocumentDetail, IngestionJobs, Job, JobState
from stackroom.ports.runs import Leases
from stackroom.runs.leases import LEASE
from stackroom.runs.progress import Run, RunOutcome, until_next_look, waiting_time
from stackroom.runs.totals import update_totals
from stackroom.settlement.inquiry import Decided, Inquiry, is_of_round, unexplained
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import (
    DEADLINE,
    DIRECT_DEADLINE,
    UNDER_WAY,
    DocumentOutcome,
    Settled,
    is_overdue,
)

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
    direct: DirectDocuments
    inquiry: Inquiry
    verdict_writer: VerdictWriter
    leases: Leases
    admission: Admission
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> Run:
        """
        Is what the round began over? Then its turn is, too. Stops a job that is past its deadline.
        """
        self._renew(run)
        catalog, source, round_id = self._round(run)
        try:
            began = self._at_work_since(run, catalog, source, round_id)
        except KnowledgeBaseThrottled:
            return self._look_again(run, waiting_time(run.progress.polls))
        if began is not None:
            self.admission.keep(run.catalog_id, run.epoch)
            seconds = (self.now() - began).total_seconds()
            wanted = self.admission.is_wanted(source.knowledge_base_id)
            return self._look_again(run, until_next_look(seconds, wanted=wanted))
        self.admission.leave(run.catalog_id, run.epoch)
        # Polls go on counting while documents are unsettled, or the waits would never grow.
        unsettled = run.progress.outcome is RunOutcome.UNSETTLED
        return run.went(RunOutcome.OVER, polls=run.progress.polls if unsettled else 0)

    def _look_again(self, run: Run, seconds: int) -> Run:
        return run.went(RunOutcome.RUNNING, polls=run.progress.polls + 1, wait_seconds=seconds)

    def settle(self, run: Run) -> tuple[Run, Settling]:
        """
        Write down what became of each document of the round that is still as it was taken up.

        Safe to retry: what is settled is no longer of the round.
        """
        self._renew(run)
        catalog, source, round_id = self._round(run)
        documents = list(self.documents.of_catalog(run.catalog_id))
        try:
            decided, job = self._decide(run, catalog, source, round_id, documents)
        except KnowledgeBaseThrottled:
            return self._later(run), Settling()
        if any(decision.outcome is DocumentOutcome.AGAIN for _, decision in decided):
            # Moves the counter, so that the run can't end. Before the documents are written: once
            # they are, a retried task finds them no longer of the round, and would not ask.
            self.leases.ask(run.catalog_id)
        settled = self.verdict_writer.write(catalog, decided)
        waiting = any(decision.outcome is DocumentOutcome.WAIT for _, decision in decided)
        left = _left(documents, settled)
        status = CatalogStatus.INDEXING if waiting else CatalogStatus.READY
        update_totals(self.catalogs, run.catalog_id, left, status, at=self.now())
        settling = Settling(settled=settled, unexplained=unexplained(job, documents, decided))
        if waiting:
            return self._later(run), settling
        # An emptied catalog may be one to take apart: having served no request, the run looks.
        served = run.progress.served if left else 0
        return run.went(RunOutcome.SETTLED, served=served), settling

    def _decide(
        self,
        run: Run,
        catalog: Catalog,
        source: DataSource,
        round_id: str,
        documents: list[Document],
    ) -> tuple[Decided, Job | None]:
        if source.type is DataSourceType.S3:
            return self.inquiry.decide(catalog, source, round_id, documents, self.now())
        taken = [each for each in documents if is_of_round(each, round_id)]
        decided = self.inquiry.decide_directly(
            catalog,
            taken,
            self._details(source, taken),
            accepted_at=run.progress.accepted_at or self.now(),
            at=self.now(),
        )
        return decided, None

    def _at_work_since(
        self, run: Run, catalog: Catalog, source: DataSource, round_id: str
    ) -> datetime | None:
        """When the job or the direct calls began that are not over yet."""
        if source.type is DataSourceType.S3:
            return self._job_at_work_since(source, round_id)
        documents = self.documents.of_catalog(catalog.catalog_id)
        taken = [each for each in documents if is_of_round(each, round_id)]
        accepted_at = run.progress.accepted_at or self.now()
        if is_overdue(accepted_at, self.now(), DIRECT_DEADLINE):
            return None
        verdicts = self._details(source, taken).values()
        return accepted_at if any(each.status in UNDER_WAY for each in verdicts) else None

    def _job_at_work_since(self, source: DataSource, job_id: str) -> datetime | None:
        job = self.jobs.get(source, job_id)
        if job is None or job.state is not JobState.RUNNING or self._is_overdue(job, _STOPPING):
            return None
        if self._is_overdue(job):
            self.jobs.stop(source, job_id)
        return job.started_at

    def _details(self, source: DataSource, documents: list[Document]) -> dict[str, DocumentDetail]:
        ids = [each.document_id for each in documents]
        return self.direct.details(source, ids) if ids else {}

    def _later(self, run: Run) -> Run:
        polls = run.progress.polls + 1
        return run.went(RunOutcome.UNSETTLED, polls=polls, wait_seconds=waiting_time(polls))

    def _renew(self, run: Run) -> None:
        self.leases.renew(run.catalog_id, run.epoch, until=self.now() + LEASE)

    def _round(self, run: Run) -> tuple[Catalog, DataSource, str]:
        catalog = self.catalogs.get(run.catalog_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = catalog.source
        assert source is not None, "a job runs where the catalog is placed"
        assert run.progress.job_id is not None, "a round that waits has a job"
        return catalog, source, run.progress.job_id

    def _is_overdue(self, job: Job, grace: float = 0) -> bool:
        return is_overdue(job.started_at, self.now(), DEADLINE + grace)


def _left(before: list[Document], settled: list[Settled]) -> list[Document]:
    gone = {each.document.document_id for each in settled if each.outcome is DocumentOutcome.GONE}
    return [each for each in before if each.document_id not in gone]
