"""How a run of one catalog comes to its end once nothing is left to do."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.ports.catalogs import Catalogs
from stackroom.runs.progress import Run, RunOutcome


@dataclass(frozen=True, kw_only=True)
class Endings:
    catalogs: Catalogs
    admission: Admission
    now: Callable[[], datetime] = utc_now

    def done(self, run: Run, served: int) -> Run:
        """All that was open is settled, and the grant is given back."""
        self.catalogs.settle_status(run.worklist_id, at=self.now())
        return self._nothing(run, served_by(self.catalogs, run.worklist_id, served))

    def nothing(self, run: Run, served: int) -> Run:
        self.admission.leave(run.worklist_id, run.epoch)
        return self._nothing(run, served)

    def _nothing(self, run: Run, served: int) -> Run:
        return run.went(RunOutcome.NOTHING, served=served, waiting_since=None, polls=0)


def served_by(catalogs: Catalogs, catalog_id: str, served: int) -> int:
    """
    The counter that the run may end by. One of a catalog that is to go has served no request, so
    that the run looks once more, and takes the catalog down if it is empty.
    """
    catalog = catalogs.get(catalog_id)
    is_going = catalog is not None and catalog.deleting_since is not None
    return 0 if is_going else served
