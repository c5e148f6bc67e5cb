"""
Requests for runs: the only way to have a catalog's open documents processed.

Callers ask after they have changed a record. The run of the catalog's worklist processes the
request after that moment (stackroom.runs.run_leases).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackroom.model.records import PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.lease import Worklists
from stackroom.runs.placement import SharedSources
from stackroom.runs.run_leases import RunLeases, is_shared, shared_worklist, worklist_of


@dataclass(frozen=True, kw_only=True)
class RunRequests:
    catalogs: Catalogs
    shared: SharedSources
    worklists: Worklists
    runs: RunLeases
    pool: Sequence[PoolMember]

    def ask(self, catalog_id: str) -> None:
        """
        Request a run for the catalog. Safe to repeat. Does nothing for a catalog that is gone:
        whatever is uploaded to it later asks anew.
        """
        if failures := self.ask_all([catalog_id]):
            raise failures[catalog_id]

    def ask_all(self, catalog_ids: Iterable[str]) -> dict[str, Exception]:
        """Request each worklist's run once, and return errors by catalog."""
        failures: dict[str, Exception] = {}
        asking: dict[str, list[str]] = {}
        for catalog_id in catalog_ids:
            try:
                if (worklist_id := self._entered(catalog_id)) is not None:
                    asking.setdefault(worklist_id, []).append(catalog_id)
            except Exception as error:  # a failure for one catalog doesn't concern the others
                failures[catalog_id] = error
        for worklist_id, listed in asking.items():
            try:
                self.runs.ask(worklist_id)
            except Exception as error:  # as above
                failures |= dict.fromkeys(listed, error)
        return failures

    def remind(self) -> list[str]:
        """
        Request runs for the shared worklists that have entries and no run, and return their ids.
        Such entries are what a run has set aside, or what a crash has left between entering and
        asking.
        """
        shared = (shared_worklist(each.knowledge_base_id) for each in self.pool)
        forgotten = [each for each in shared if self._is_forgotten(each)]
        for worklist_id in forgotten:
            self.runs.ask(worklist_id)
        return forgotten

    def _is_forgotten(self, worklist_id: str) -> bool:
        first = next(self.worklists.entries(worklist_id, limit=1), None)
        return first is not None and not self.runs.is_live(worklist_id)

    def _entered(self, catalog_id: str) -> str | None:
        """
        Enter the catalog and return its worklist; None if the catalog doesn't exist.
        """
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:
            return None
        source = catalog.source or self.shared.join_if_full(catalog)
        worklist_id = worklist_of(catalog_id, source)
        if is_shared(worklist_id):
            self.worklists.add(worklist_id, catalog_id)
        return worklist_id
