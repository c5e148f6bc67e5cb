"""How a run comes to its end once nothing is left to do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.model import CatalogStatus, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.runs.progress import Run, RunOutcome
from stackroom.runs.totals import update_totals


@dataclass(frozen=True, kw_only=True)
class Endings:
    catalogs: Catalogs
    admission: Admission
    now: Callable[[], datetime] = utc_now

    def done(self, run: Run, documents: Sequence[Document], served: int) -> Run:
        """All these documents are settled, and the grant is given back."""
        self.update_totals(run, documents, CatalogStatus.READY)
        # An emptied catalog may be one to take down: having served no request, the run looks.
        return self._nothing(run, served if documents else 0)

    def nothing(self, run: Run, served: int) -> Run:
        self.admission.leave(run.catalog_id, run.epoch)
        return self._nothing(run, served)

    def _nothing(self, run: Run, served: int) -> Run:
        return run.went(RunOutcome.NOTHING, served=served, waiting_since=None, polls=0)

    def update_totals(self, run: Run, documents: Sequence[Document], status: CatalogStatus) -> None:
        update_totals(self.catalogs, run.catalog_id, documents, status, at=self.now())
