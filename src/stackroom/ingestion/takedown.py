"""
Taking down a catalog that is to go, with the data source that it has to itself.

Deleting the data source takes all that it has indexed out in one call. A document's record, and its
receipt, follow once a search finds nothing of it; the catalog's own record goes last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from itertools import islice

from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.ingestion.bedrock_evidence import data_source_evidence
from stackroom.ingestion.evidence import Investigation
from stackroom.ingestion.verdicts import DocumentOutcome, Settled, Verdict, VerdictWriter, verdict
from stackroom.model import Catalog, Document, PoolMember
from stackroom.ports.catalogs import CatalogRegister
from stackroom.ports.data_sources import DataSources, Slots
from stackroom.ports.documents import Documents
from stackroom.runs.placement import is_named_after

_AT_ONCE = 500  # documents that one task proves


class Stage(Enum):
    GONE = auto()
    GOING = auto()  # look again a while later
    STUCK = auto()  # something is left that can't be removed, or is found all the same


@dataclass(frozen=True, kw_only=True)
class TakenDown:
    stage: Stage
    settled: Sequence[Settled] = ()


@dataclass(frozen=True, kw_only=True)
class Takedown:
    catalogs: CatalogRegister
    documents: Documents
    slots: Slots
    data_sources: DataSources
    investigation: Investigation
    verdict_writer: VerdictWriter
    pool: Sequence[PoolMember]
    now: Callable[[], datetime] = utc_now

    def step(self, catalog: Catalog) -> TakenDown:
        """
        Go on with it. Safe to repeat. Whoever drops a file into it now unmarks it, and then this
        stops: the next run finds it without a data source, and gives it one.
        Raises KnowledgeBaseThrottled, and what a search raises.
        """
        catalog_id = catalog.catalog_id
        try:
            if catalog.source is not None:
                # Before it begins to go: nobody may find the catalog placed there after that.
                self.catalogs.clear_data_source(catalog_id)
            # By its slot, or else by its name alone, it is found again after a crash.
            members = [member.knowledge_base_id for member in self.pool]
            home = self.slots.holder_of(catalog_id, members)
            homes = [home] if home is not None else members
            if not all(self._is_data_source_gone(each, catalog_id) for each in homes):
                return TakenDown(stage=Stage.GOING)
            settled, waits = self._prove(catalog, homes)
            if self.documents.page(catalog_id, after=None, limit=1).documents:
                return TakenDown(stage=Stage.GOING if waits else Stage.STUCK, settled=settled)
            if home is not None:
                self.slots.free(home, catalog_id)
            self.catalogs.close(catalog)
        except RecordChanged:  # it is being deleted no more
            return TakenDown(stage=Stage.GOING)
        return TakenDown(stage=Stage.GONE, settled=settled)

    def _is_data_source_gone(self, home: str, catalog_id: str) -> bool:
        there = self.data_sources.all(home)
        own = [each for name, each in there.items() if is_named_after(name, catalog_id)]
        return all(self.data_sources.remove(home, each) for each in own)

    def _prove(self, catalog: Catalog, homes: Sequence[str]) -> tuple[list[Settled], bool]:
        """
        What no search finds in any of the knowledge bases goes; also whether others may go later.
        """
        documents = list(islice(self.documents.open_in(catalog.catalog_id), _AT_ONCE))
        gone = {each.document_id for each in documents}
        waits = len(documents) == _AT_ONCE
        for home in homes:
            for document, outcome in self._outcomes(catalog, home, documents):
                waits |= outcome is DocumentOutcome.WAIT
                if outcome is not DocumentOutcome.GONE:
                    gone.discard(document.document_id)
        proven = [
            (each, Verdict(outcome=DocumentOutcome.GONE))
            for each in documents
            if each.document_id in gone
        ]
        return self.verdict_writer.write(catalog, proven), waits

    def _outcomes(
        self, catalog: Catalog, home: str, documents: Sequence[Document]
    ) -> list[tuple[Document, DocumentOutcome]]:
        there = catalog.model_copy(update={"knowledge_base_id": home})
        at = self.now()
        known = self.investigation.complete(
            [(there, each, data_source_evidence(each, at=at)) for each in documents]
        )
        return [(document, verdict(document, each).outcome) for _, document, each in known]
