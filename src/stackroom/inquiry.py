"""What a round brought to light of each document, gathered from everyone who knows something."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from stackroom.blame import blamed
from stackroom.filters import Has
from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports import (
    DataSource,
    DocumentBucket,
    Findings,
    IngestionJobs,
    Job,
    KnowledgeBase,
    Verdict,
)
from stackroom.tenancy import Tenant
from stackroom.verdicts import DEADLINE, Decision, Evidence, Fate, decide, is_overdue

_NOT_FOUND = Verdict(status="NOT_FOUND", updated_at=None)
_LONGEST_QUERY = 1000  # characters [AWS General Reference: Amazon Bedrock quotas, User query size]

Decided = list[tuple[Document, Decision]]


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """`knowledge_base` answers the searchable one of that id."""

    bucket: DocumentBucket
    jobs: IngestionJobs
    findings: Findings
    knowledge_base: Callable[[str], KnowledgeBase]

    def decide(
        self,
        catalog: Catalog,
        source: DataSource,
        job_id: str,
        documents: list[Document],
        at: datetime,
    ) -> tuple[Decided, Job | None]:
        """
        What becomes of each document of the round, and of those that failed before and that its
        job has indexed after all; else answers would show what reads `failed`.
        """
        job = self.jobs.get(source, job_id)
        taken = [each for each in documents if _is_of_round(each, job_id)]
        failed = [each for each in documents if _is_tried_again(each)]
        verdicts = self._verdicts(source, taken + failed)
        revived = [each for each in failed if verdicts[each.document_id].status == "INDEXED"]
        looked_at = taken + revived
        findings = self.findings.reasons_for(looked_at)
        reasons = blamed(map(self._uri, documents), job.failure_reasons if job else ())
        decided = [
            (
                document,
                decide(
                    document,
                    Evidence(
                        verdict=verdicts[document.document_id],
                        job=job,
                        is_found=partial(self._is_found, catalog, source, document),
                        blamed=reasons.get(self._uri(document)),
                        finding=findings.get(document.document_id),
                        overdue=job is not None and is_overdue(job.started_at, at, DEADLINE),
                    ),
                ),
            )
            for document in looked_at
        ]
        of_round = {each.document_id for each in taken}
        return [
            (document, decision)
            for document, decision in decided
            if document.document_id in of_round or decision.fate is Fate.INDEXED
        ], job

    def _verdicts(self, source: DataSource, documents: list[Document]) -> dict[str, Verdict]:
        """By document id."""
        said = self.jobs.verdicts(source, map(self._uri, documents)) if documents else {}
        return {each.document_id: said.get(self._uri(each), _NOT_FOUND) for each in documents}

    def _is_found(self, catalog: Catalog, source: DataSource, document: Document) -> bool:
        """Whether its owner finds any passage of the document: the proof of every other word."""
        owner = Tenant(catalog.user_id, catalog.catalog_id)
        this = owner.filter((Has("document_id", document.document_id),))
        searched = self.knowledge_base(source.knowledge_base_id)
        return bool(searched.retrieve(document.filename[:_LONGEST_QUERY], this, 1).passages)

    def _uri(self, document: Document) -> str:
        return self.bucket.uri_of(document.s3_key)


def unexplained(job: Job | None, documents: Iterable[Document], decided: Decided) -> int:
    """How many documents the job's statistics count as failed that nothing else tells of."""
    failed = {each.document_id for each in documents if each.status is DocumentStatus.FAILED}
    failed |= {
        document.document_id
        for document, decision in decided
        if decision.fate in (Fate.FAILED, Fate.AGAIN)
    }
    return max(0, job.failed_documents - len(failed)) if job is not None else 0


def _is_of_round(document: Document, job_id: str) -> bool:
    under_way = (DocumentStatus.INDEXING, DocumentStatus.DELETING)
    bound = document.ingestion_job_id == job_id
    return bound and (document.lingering or document.status in under_way)


def _is_tried_again(document: Document) -> bool:
    """
    Whether every job tries the failed document again, as Bedrock does with what lies there.

    One that we rejected has no present_since, for it never lay there with a sidecar of its own.
    """
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and document.present_since is not None
