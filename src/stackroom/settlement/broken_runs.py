"""What follows a run that broke, or ended without a word."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.model import CatalogStatus, Document, DocumentStatus
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.runs import Lease
from stackroom.runs.leases import MAX_FAILURES, Runs
from stackroom.runs.totals import update_totals
from stackroom.settlement.verdicts import DocumentOutcome, Settled

_SILENT = "an execution that ended silently"


@dataclass
class SweepResult:
    """By execution name: the runs that were followed, and what went wrong with others."""

    followed: list[str] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BrokenRuns:
    catalogs: Catalogs
    documents: Documents
    admission: Admission
    runs: Runs
    now: Callable[[], datetime] = utc_now

    def record(self, catalog_id: str, epoch: int, error: str) -> list[Settled]:
        """
        A run broke: another follows, later each time, and in the end its documents fail.

        Documents wait meanwhile, for a run mostly breaks over what a person mends soon.
        """
        lease = self.runs.held_by(catalog_id, epoch)
        if lease is None:
            return []  # another messenger of the same failure was first
        documents = list(self.documents.of_catalog(catalog_id))
        if self.catalogs.get(catalog_id) is not None:
            update_totals(self.catalogs, catalog_id, documents, CatalogStatus.FAILED, at=self.now())
        self.admission.leave(catalog_id, epoch)
        if lease.failures + 1 < MAX_FAILURES:
            self.runs.recover(lease)
            return []
        # Before the lease moves: a retry of this must still find it, and the documents.
        settled = self._fail(filter(_is_waiting, documents), _broken(error))
        if not self.runs.release(catalog_id, epoch, served=lease.requested):
            self.runs.recover(lease)  # more was dropped meanwhile
        return settled

    def sweep(self, leases: Iterable[Lease]) -> SweepResult:
        """
        Follow every run that ended without a word, and hand out what a crash has forgotten.

        `leases` are of runs that may have ended so (`Runs.expired`). What goes wrong with one of
        them is told with the rest, and keeps no other from being looked after.
        """
        self.admission.dispatch()  # first, so that no broken run keeps the others waiting
        swept = SweepResult()
        for lease in list(leases):
            try:
                if self.runs.is_silent(lease):
                    swept.settled += self.record(lease.catalog_id, lease.epoch, _SILENT)
                    swept.followed.append(lease.execution_name)
            except Exception as error:  # whatever it is, it is this run's
                swept.failures[lease.execution_name] = error
        return swept

    def _fail(self, documents: Iterable[Document], reason: str) -> list[Settled]:
        at = self.now()
        failed = self.documents.save_all(
            document.moved(DocumentStatus.FAILED, at=at, reason=reason) for document in documents
        )
        return [Settled(document=each, outcome=DocumentOutcome.FAILED) for each in failed]


def _is_waiting(document: Document) -> bool:
    return document.status in (DocumentStatus.PENDING, DocumentStatus.INDEXING)


def _broken(error: str) -> str:
    return (
        f"the ingestion run broke {MAX_FAILURES} times, the last time with {error}; once your "
        "operator has mended it, drop the file again"
    )
