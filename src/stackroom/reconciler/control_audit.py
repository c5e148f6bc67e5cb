"""
Find leases of runs that ended silently, and data sources and slots of catalogs that are gone.

Grants and queue positions of such runs need no audit: a grant expires after a quarter of an hour
(runs.admission), and the next grant drops a waiter that can't be woken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from stackroom.errors import RecordChanged
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import LeftForLater, isolate_failures, report_unrepaired
from stackroom.runs.inventory import Inventory, KnownSource
from stackroom.runs.placement import catalog_named_in, is_named_after
from stackroom.runs.run_leases import Lease


@dataclass(frozen=True)
class ControlAudit:
    """Audit of expired leases, all of them in one step."""

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        assert cursor is None, "it is one step"
        for lease in self.context.leases.expired(self.context.mending.now()):
            yield from isolate_failures(lease.execution_name, self._of_lease(lease))
        return None

    def _of_lease(self, lease: Lease) -> Iterator[Discrepancy]:
        if not self.context.executions.is_running(lease.execution_name):
            follow = partial(self.context.restart.follow_if_silent, lease)
            yield from self.context.mending.mended(Kind.DEAD_RUN, lease.execution_name, by=follow)


# DataSourceStatus [API model bedrock-agent]
_BROKEN = ("DELETE_UNSUCCESSFUL", "FAILED")
_DELETING = "DELETING"


@dataclass(frozen=True)
class SourceAudit:
    """
    Audit of the pool's data sources and slots: who owns them, and which have no owner.

    If tables were restored from a backup, a data source may exist whose catalog was deleted since,
    or got another one. The bucket was compared before, so each catalog with documents has its
    record by now: a data source that no record leads to is deleted, with all that the index has of
    it. A step is one knowledge base of the pool.
    """

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        number = int(cursor or 0)
        if number >= len(self.context.pool):
            return None
        knowledge_base_id = self.context.pool[number].knowledge_base_id
        # Before the data sources, because a slot is taken before its data source is created.
        holders = self.context.slots.holders(knowledge_base_id)
        entry = [
            each
            for each in known_sources(self.context.inventory, knowledge_base_id)
            if catalog_named_in(each.name) and each.status != _DELETING
        ]
        for each in entry:
            yield from isolate_failures(_where(each), self._of_source(each))
        names = {each.name for each in entry}
        for catalog_id in sorted(holders):
            if not any(is_named_after(each, catalog_id) for each in names):
                what = f"{knowledge_base_id}: {catalog_id}"
                found = self._of_holder(knowledge_base_id, catalog_id, what)
                yield from isolate_failures(what, found)
        return str(number + 1) if number + 1 < len(self.context.pool) else None

    def _of_source(self, entry: KnownSource) -> Iterator[Discrepancy]:
        where = _where(entry)
        if entry.status in _BROKEN:
            reasons = "; ".join((entry.status, *entry.reasons))
            yield report_unrepaired(Kind.BROKEN_DATA_SOURCE, f"{where}: {reasons}")
        elif not self._is_owned(entry):
            # A dry run opens no lost catalog again; then it had one.
            unless = ", unless its catalog is opened again" if self.context.mending.dry_run else ""
            yield from self.context.mending.mended(
                Kind.ORPHAN_DATA_SOURCE,
                where,
                by=partial(self._remove, entry),
                remedy=f"{Kind.ORPHAN_DATA_SOURCE.remedy}{unless}",
            )

    def _remove(self, entry: KnownSource) -> None:
        if self._is_owned(entry):
            raise RecordChanged(entry.name)
        there = entry.source
        if self.context.data_sources.remove(there.knowledge_base_id, there.data_source_id):
            return
        now = self.context.inventory.source(there.knowledge_base_id, there.data_source_id)
        if now is not None and now.status != _DELETING:
            raise LeftForLater("left for the next time: the knowledge base is in use")

    def _is_owned(self, entry: KnownSource) -> bool:
        catalog_id = catalog_named_in(entry.name)
        catalog = None if catalog_id is None else self.context.catalogs.get(catalog_id)
        if catalog is None:  # if it has objects, a catalog is about to be opened
            return bool(entry.prefix and self.context.inventory.objects(prefix=entry.prefix).items)
        # One without a data source adopts it with its next run.
        return catalog.data_source_id in (None, entry.source.data_source_id)

    def _of_holder(
        self, knowledge_base_id: str, catalog_id: str, what: str
    ) -> Iterator[Discrepancy]:
        catalog = self.context.catalogs.get(catalog_id)
        if catalog is not None and catalog.data_source_id is None:
            return  # its data source may be about to be made
        if catalog is not None and catalog.knowledge_base_id == knowledge_base_id:
            return  # its data source is being deleted, or gone: the next run finds out
        yield from self.context.mending.mended(
            Kind.UNUSED_SLOT,
            what,
            by=partial(self.context.slots.free, knowledge_base_id, catalog_id),
            until=lambda: catalog_id not in self.context.slots.holders(knowledge_base_id),
        )


def known_sources(inventory: Inventory, knowledge_base_id: str) -> list[KnownSource]:
    ids = inventory.source_ids(knowledge_base_id)
    found = [inventory.source(knowledge_base_id, each) for each in ids]
    return [each for each in found if each is not None]


def _where(entry: KnownSource) -> str:
    return f"{entry.source.knowledge_base_id}/{entry.source.data_source_id} ({entry.name})"
