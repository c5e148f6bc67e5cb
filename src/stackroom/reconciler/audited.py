"""Everything that is compared, and what an audit of it is."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stackroom.documents.bucket import DocumentBucket
from stackroom.documents.model import PoolMember
from stackroom.documents.passages import KnowledgeBase
from stackroom.documents.repositories import Catalogs, Documents, Receipts
from stackroom.ingestion.bedrock_calls import DirectDocuments
from stackroom.ingestion.broken_runs import Restart
from stackroom.ingestion.evidence import SearchCheck
from stackroom.ingestion.inventory import IdParts, Inventory
from stackroom.ingestion.user_caps import UserCaps
from stackroom.inspection.kept_texts import TextKeeping
from stackroom.quota.ledger import AdmissionBook
from stackroom.reconciler.discrepancies import Discrepancy
from stackroom.reconciler.mending import Mending
from stackroom.runs.data_sources import DataSources, Slots
from stackroom.runs.lease import Executions, Leases, Worklists
from stackroom.runs.run_requests import RunRequests

# Yields what is found, as it is found, and returns where to go on; None at the end.
Piece = Generator[Discrepancy, None, str | None]


class Audit(Protocol):
    def step(self, cursor: str | None) -> Piece:
        """A bounded piece of the comparison, from `cursor` on. Safe to repeat."""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """`capacity` bounds the objects held at a time; `ids` are of documents that are compared."""

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
