"""The subject of the audits, and the interface of an audit."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stackroom.model.bucket import DocumentBucket
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import PoolMember
from stackroom.model.repositories import Catalogs, Documents, Receipts
from stackroom.reconciler.discrepancies import Discrepancy
from stackroom.reconciler.mending import Mending
from stackroom.runs.bedrock_calls import DirectDocuments
from stackroom.runs.broken_runs import Restart
from stackroom.runs.capacity import Slots
from stackroom.runs.inventory import IdParts, Inventory
from stackroom.runs.ledger import AdmissionBook
from stackroom.runs.placement import DataSources
from stackroom.runs.run_leases import Executions, Leases, RunRequests, Worklists
from stackroom.runs.search_check import SearchCheck
from stackroom.runs.user_caps import UserCaps
from stackroom.text.kept_texts import TextKeeping

# Yields what is found, as it is found, and returns where to go on; None at the end.
Piece = Generator[Discrepancy, None, str | None]


class Audit(Protocol):
    def step(self, cursor: str | None) -> Piece:
        """Compare a bounded piece, from `cursor` on. Safe to repeat."""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """
    Everything that is compared. `capacity` bounds the objects in memory; `ids` stores compared ids.
    """

    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    leases: Leases
    executions: Executions
    receipts: Receipts
    requests: RunRequests
    caps: UserCaps
    keeping: TextKeeping
    worklists: Worklists
    restart: Restart
    mending: Mending
    book: AdmissionBook
    slots: Slots
    data_sources: DataSources
    direct: DirectDocuments
    knowledge_base: Callable[[str], KnowledgeBase]
    pool: Sequence[PoolMember]
    ids: IdParts
    capacity: int = 20_000

    @property
    def search_check(self) -> SearchCheck:
        return SearchCheck(knowledge_base=self.knowledge_base)
