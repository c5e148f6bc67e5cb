"""What a round brought to light of each document, gathered from everyone who knows something."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial

from stackroom.model import Catalog, DataSource, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail, IngestionJobs, Job
from stackroom.ports.inspection import InspectionResults
from stackroom.settlement.failure_reasons import blamed
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.verdicts import (
    DEADLINE,
    DIRECT_DEADLINE,
    REMOVAL_DEADLINE,
    DocumentOutcome,
    Evidence,
    Verdict,
    decide,
    decide_directly,
    is_hearsay,
    is_overdue,
)

# Documents that one task proves by searches, five of them each: the account has twenty searches a
# second, most of them for its users. The others wait for the next task.
_MOST_PROVED = 500

Decided = list[tuple[Document, Verdict]]


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    bucket: DocumentBucket
    jobs: IngestionJobs
    findings: InspectionResults
    search_check: SearchCheck

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
        taken = [each for each in documents if is_of_round(each, job_id)]
        failed = [each for each in documents if _is_tried_again(each)]
        verdicts = self._details(source, taken + failed)
        revived = [each for each in failed if verdicts[each.document_id].status == "INDEXED"]
        looked_at, postponed = _share(
            taken + revived,
            lambda each: _needs_proof(each) or is_hearsay(each, verdicts[each.document_id], job),
        )
        findings = self.findings.reasons_for(looked_at)
        reasons = blamed(map(self._uri, documents), job.failure_reasons if job else ())
        proof = _Proof(self.search_check, catalog, looked_at)
        overdue = job is not None and is_overdue(job.started_at, at, DEADLINE)
        decided = [
            (
                document,
                decide(
                    document,
                    Evidence(
                        detail=verdicts[document.document_id],
                        job=job,
                        is_found=partial(proof.is_found, document),
                        blamed=reasons.get(self._uri(document)),
                        finding=findings.get(document.document_id),
                        overdue=overdue,
                        removal_overdue=job is not None
                        and is_overdue(job.updated_at, at, REMOVAL_DEADLINE),
                    ),
                ),
            )
            for document in looked_at
        ]
        of_round = {each.document_id for each in taken}
        return [
            (document, decision)
            for document, decision in decided + _later(postponed)
            if document.document_id in of_round or decision.outcome is DocumentOutcome.INDEXED
        ], job

    def decide_directly(
        self,
        catalog: Catalog,
        documents: Iterable[Document],
        verdicts: Mapping[str, DocumentDetail],
        *,
        accepted_at: datetime,
        at: datetime,
    ) -> Decided:
        """What direct calls, accepted then, made of each document; `verdicts` by document id."""
        looked_at, postponed = _share(documents, _needs_proof)
        findings = self.findings.reasons_for(looked_at)
        proof = _Proof(self.search_check, catalog, looked_at)
        return [
            (
                document,
                decide_directly(
                    document,
                    Evidence(
                        detail=verdicts.get(document.document_id, NOT_FOUND),
                        job=None,
                        is_found=partial(proof.is_found, document),
                        finding=findings.get(document.document_id),
                        overdue=is_overdue(accepted_at, at, DIRECT_DEADLINE),
                        removal_overdue=is_overdue(accepted_at, at, REMOVAL_DEADLINE),
                    ),
                    accepted_at=accepted_at,
                    at=at,
                ),
            )
            for document in looked_at
        ] + _later(postponed)

    def _details(self, source: DataSource, documents: list[Document]) -> dict[str, DocumentDetail]:
        """By document id."""
        said = self.jobs.details(source, map(self._uri, documents)) if documents else {}
        return {each.document_id: said.get(self._uri(each), NOT_FOUND) for each in documents}

    def _uri(self, document: Document) -> str:
        return self.bucket.uri_of(document.s3_key)


@dataclass(frozen=True)
class _Proof:
    """Whether documents are found: searched for together when the first of them is asked for."""

    search_check: SearchCheck
    catalog: Catalog
    documents: list[Document]
    _others: dict[str, bool] = field(default_factory=dict)

    def is_found(self, document: Document) -> bool:
        if _needs_proof(document):
            return document.document_id in self._removed_and_found
        known = self._others
        if document.document_id not in known:
            found = self.search_check.found(self.catalog, [document])
            known[document.document_id] = document.document_id in found
        return known[document.document_id]

    @cached_property
    def _removed_and_found(self) -> set[str]:
        return self.search_check.found(self.catalog, filter(_needs_proof, self.documents))


def unexplained(job: Job | None, documents: Iterable[Document], decided: Decided) -> int:
    """How many documents the job's statistics count as failed that nothing else tells of."""
    failed = {each.document_id for each in documents if each.status is DocumentStatus.FAILED}
    failed |= {
        document.document_id
        for document, decision in decided
        if decision.outcome in (DocumentOutcome.FAILED, DocumentOutcome.AGAIN)
    }
    return max(0, job.failed_documents - len(failed)) if job is not None else 0


def is_of_round(document: Document, job_id: str) -> bool:
    """Whether the round that this id stands for has taken the document up, and not settled it."""
    under_way = (DocumentStatus.INDEXING, DocumentStatus.DELETING)
    bound = document.ingestion_job_id == job_id
    return bound and (document.lingering or document.status in under_way)


def _needs_proof(document: Document) -> bool:
    """Only a search proves that something is not there any more."""
    return document.status in (DocumentStatus.DELETING, DocumentStatus.FAILED)


def _share(
    documents: Iterable[Document], needs_proof: Callable[[Document], bool]
) -> tuple[list[Document], list[Document]]:
    """Those to decide on now, and those to be proved by a later task."""
    now: list[Document] = []
    later: list[Document] = []
    proved = 0
    for document in documents:
        needs = needs_proof(document)
        proved += needs
        (later if needs and proved > _MOST_PROVED else now).append(document)
    return now, later


def _later(documents: Iterable[Document]) -> Decided:
    return [(each, Verdict(outcome=DocumentOutcome.WAIT)) for each in documents]


def _is_tried_again(document: Document) -> bool:
    """
    Whether every job tries the failed document again, as Bedrock does with what lies there.

    One that we rejected has no present_since, for it never lay there with a sidecar of its own.
    """
    failed = document.status is DocumentStatus.FAILED and not document.lingering
    return failed and document.present_since is not None
