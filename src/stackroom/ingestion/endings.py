"""How a run comes to its end once nothing is left to do."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import DocumentPages
from stackroom.runs.progress import Run, RunOutcome


@dataclass(frozen=True, kw_only=True)
class Endings:
    catalogs: Catalogs
    documents: DocumentPages
    admission: Admission
    now: Callable[[], datetime] = utc_now

    def done(self, run: Run, served: int) -> Run:
        """Nothing is left to do, and the grant is given back."""
        self.settle_status(run)
        # An emptied catalog may be one to take down: having served no request, the run looks.
        return self._nothing(run, 0 if self.is_emptied(run) else served)

    def nothing(self, run: Run, served: int) -> Run:
        self.admission.leave(run.catalog_id, run.epoch)
        return self._nothing(run, served)

    def _nothing(self, run: Run, served: int) -> Run:
        return run.went(RunOutcome.NOTHING, served=served, waiting_since=None, polls=0)

    def settle_status(self, run: Run) -> None:
        self.catalogs.settle_status(run.catalog_id, at=self.now())

    def is_emptied(self, run: Run) -> bool:
        return not self.documents.page(run.catalog_id, after=None, limit=1).documents
