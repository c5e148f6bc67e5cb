"""
Settling what an ingestion job did, at a catalog's own S3 data source.

A job goes over the whole prefix, tries again what failed before, and gives its failure reasons for
all files together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.model import DataSource, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.ingestion import DocumentDetail, IngestionJobs, Job, JobState
from stackroom.settlement.details import OwnDetails
from stackroom.settlement.eviction import Eviction
from stackroom.settlement.evidence import Investigation, Standing
from stackroom.settlement.failure_reasons import reasons_by_uri
from stackroom.settlement.job_standing import DEADLINE, standing, standing_of_evicted
from stackroom.settlement.rounds import Round, RoundVerdicts, is_overdue
from stackroom.settlement.statuses import INDEXED, may_be_found
from stackroom.settlement.verdicts import Decided, DocumentOutcome, Verdict, verdict

_STOPPING = 3600.0  # grace for StopIngestionJob, which takes about half a minute


@dataclass(frozen=True, kw_only=True)
class OwnSource:
    jobs: IngestionJobs
    bucket: DocumentBucket
    investigation: Investigation
    eviction: Eviction
    now: Callable[[], datetime] = utc_now

    def at_work_since(self, round_: Round) -> datetime | None:
        if round_.is_eviction:
            return None  # nothing of it keeps others out
        job = self.jobs.get(round_.source, round_.round_id)
        if job is None or job.state is not JobState.RUNNING:
            return None
        if is_overdue(job.started_at, self.now(), DEADLINE + _STOPPING):
            return None
        if is_overdue(job.started_at, self.now(), DEADLINE):
            self.jobs.stop(round_.source, round_.round_id)
        return job.started_at

    def decide(self, round_: Round, documents: Sequence[Document]) -> RoundVerdicts:
        """
        And of those that failed before and that the job has indexed after all; else answers would
        show what reads `failed`. Those that were rejected don't stay in the index.
        """
        at = self.now()
        job = None if round_.is_eviction else self.jobs.get(round_.source, round_.round_id)
        taken = [each for each in documents if round_.has(each)]
        failed = [each for each in documents if _is_tried_again(each)]
        rejected = [each for each in documents if self._would_be_evicted(each)]
        details = self._details(round_.source, taken + failed + rejected)
        indexed_after_all = [each for each in failed if details[each.document_id].status in INDEXED]
        evicted = [each for each in taken if self._is_evicted(each)]
        others = [each for each in taken if not self._is_evicted(each)]
        standings = self._standings(others + indexed_after_all, details, job, documents, at)
        standings += [
            (each, standing_of_evicted(each, details[each.document_id], at=at)) for each in evicted
        ]
        evidence = self.investigation.complete(round_.catalog, standings)
        of_round = {each.document_id for each in taken}
        verdicts = [(document, verdict(document, known)) for document, known in evidence]
        decided = [
            (document, each)
            for document, each in verdicts
            if document.document_id in of_round or each.outcome is DocumentOutcome.INDEXED
        ]
        decided += [
            (each, Verdict(outcome=DocumentOutcome.LINGERS))
            for each in rejected
            if may_be_found(details[each.document_id].status)
        ]
        return RoundVerdicts(decided=decided, unexplained=_unexplained(job, documents, decided))

    def _is_evicted(self, document: Document) -> bool:
        return document.is_to_evict and self.eviction.can_name(document)

    def _would_be_evicted(self, document: Document) -> bool:
        is_left = document.is_rejected and not document.lingering
        return is_left and self.eviction.can_name(document)

    def _standings(
        self,
        wanted: list[Document],
        details: dict[str, DocumentDetail],
        job: Job | None,
        documents: Sequence[Document],
        at: datetime,
    ) -> list[tuple[Document, Standing]]:
        """`documents` are all of the catalog, for a failure reason may name any."""
        reasons = self._failure_reasons(documents, job)
        return [
            (
                each,
                standing(
                    each,
                    details[each.document_id],
                    job,
                    failure_reason=reasons.get(each.document_id),
                    at=at,
                ),
            )
            for each in wanted
        ]

    def _details(self, source: DataSource, documents: list[Document]) -> dict[str, DocumentDetail]:
        return OwnDetails(jobs=self.jobs, bucket=self.bucket).of(source, documents)

    def _failure_reasons(self, documents: Sequence[Document], job: Job | None) -> dict[str, str]:
        """By document id."""
        uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in documents}
        named = reasons_by_uri(uris.values(), job.failure_reasons if job else ())
        return {each: named[uri] for each, uri in uris.items() if uri in named}


def _unexplained(job: Job | None, documents: Sequence[Document], decided: Decided) -> int:
    """How many documents the job's statistics count as failed that nothing else tells of."""
    failed = {each.document_id for each in documents if each.status is DocumentStatus.FAILED}
    failed |= {
        document.document_id
        for document, each in decided
        if each.outcome in (DocumentOutcome.FAILED, DocumentOutcome.AGAIN)
    }
    return max(0, job.failed_documents - len(failed)) if job is not None else 0


def _is_tried_again(document: Document) -> bool:
    """Whether every job tries the failed document again, as Bedrock does with what lies there."""
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and not document.is_rejected
