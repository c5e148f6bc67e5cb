"""Rejected files that are in an index: a run takes them out and proves it, where it is to."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackroom.model import DataSourceType, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.mending import Mending


@dataclass(frozen=True, kw_only=True)
class Evictions:
    catalogs: Catalogs
    mending: Mending

    def of(self, document: Document) -> Iterator[Discrepancy]:
        """Nothing of what ingestion jobs crawl: there it stays, by its sidecar as nobody's."""
        catalog = self.catalogs.get(document.catalog_id)
        source = catalog.source if catalog is not None else None
        if source is not None and source.type is DataSourceType.S3:
            return
        lingering = document.model_copy(update={"lingering": True, "attempts": 0})
        yield from self.mending.saved(lingering, Kind.REJECTED_IN_INDEX)
