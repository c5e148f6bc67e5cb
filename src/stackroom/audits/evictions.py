"""Rejected files that are in an index: a run takes them out and proves it, where one can."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackroom.audits.discrepancies import Discrepancy, Kind
from stackroom.audits.mending import Mending
from stackroom.model import Document
from stackroom.ports.catalogs import Catalogs
from stackroom.settlement.eviction import Eviction

_KIND = Kind.REJECTED_IN_INDEX
_UNNAMED = (
    "left alone: nobody's search finds it, and its key is too long for Bedrock to be told of it;"
    " remove the object, or move it to a shorter key"
)


@dataclass(frozen=True, kw_only=True)
class Evictions:
    catalogs: Catalogs
    eviction: Eviction
    mending: Mending

    def of(self, document: Document) -> Iterator[Discrepancy]:
        if self._is_unnamed(document):
            yield self.mending.left(_KIND, document.s3_key, remedy=_UNNAMED)
            return
        lingering = document.model_copy(update={"lingering": True, "attempts": 0})
        yield from self.mending.saved(lingering, _KIND)

    def _is_unnamed(self, document: Document) -> bool:
        """A shared data source knows documents by our ids, which are short."""
        catalog = self.catalogs.get(document.catalog_id)
        source = catalog.source if catalog is not None else None
        is_own = source is not None and not source.is_shared
        return is_own and not self.eviction.can_name(document)
