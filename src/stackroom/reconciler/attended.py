"""Whether a run looks after a catalog's open documents, or is sure to come to them."""

from dataclasses import dataclass

from stackroom.model import Catalog
from stackroom.ports.runs import Leases
from stackroom.ports.worklists import Worklists
from stackroom.runs.run_leases import is_shared, worklist_of


@dataclass(frozen=True, kw_only=True)
class Attended:
    leases: Leases
    worklists: Worklists

    def by_a_run(self, catalog: Catalog) -> bool:
        """Whether a run is thought to be live; of those that many share, only if it knows of it."""
        worklist_id = worklist_of(catalog.catalog_id, catalog.source)
        lease = self.leases.get(worklist_id)
        if lease is None or not lease.held:
            return False
        return not is_shared(worklist_id) or self._is_in(worklist_id, catalog.catalog_id)

    def _is_in(self, worklist_id: str, catalog_id: str) -> bool:
        # Ids are of one length: none lies between one and the same with its last letter lowered.
        before = catalog_id[:-1] + chr(ord(catalog_id[-1]) - 1)
        entry = next(self.worklists.entries(worklist_id, after=before, limit=1), None)
        return entry is not None and entry.catalog_id == catalog_id
