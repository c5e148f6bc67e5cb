"""Everybody who looks for discrepancies, and what they look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from stackroom.ingestion.bedrock_evidence import details_by
from stackroom.ingestion.broken_runs import Restart
from stackroom.ingestion.search_check import SearchCheck
from stackroom.model import PoolMember
from stackroom.ports.admission import AdmissionBook
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.data_sources import DataSources, Slots
from stackroom.ports.document_lists import DocumentLists
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import DirectDocuments, IngestionJobs
from stackroom.ports.inspection import InspectionRequests
from stackroom.ports.inventory import Inventory
from stackroom.ports.receipts import ProvenReceipts
from stackroom.ports.retrieval import KnowledgeBase
from stackroom.ports.runs import Executions, Leases
from stackroom.ports.worklists import Worklists
from stackroom.reconciler.attended import Attended
from stackroom.reconciler.bucket import BucketAudit
from stackroom.reconciler.control import ControlAudit
from stackroom.reconciler.count_audit import CountAudit, Recount
from stackroom.reconciler.deletions import DeletionAudit
from stackroom.reconciler.discrepancies import Audit
from stackroom.reconciler.evictions import Evictions
from stackroom.reconciler.index import IndexAudit
from stackroom.reconciler.listings import Listings
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.open_documents import OpenAudit
from stackroom.reconciler.orphans import Orphans
from stackroom.reconciler.pace import Pace
from stackroom.reconciler.quarantine import QuarantineAudit
from stackroom.reconciler.readings import CAPACITY, Readings, random_salt
from stackroom.reconciler.recheck import Recheck
from stackroom.reconciler.reconciliation import AuditStage
from stackroom.reconciler.records import RecordAudit
from stackroom.reconciler.retries import Patience
from stackroom.reconciler.rounds import Tally
from stackroom.reconciler.sources import SourceAudit
from stackroom.runs.run_requests import RunRequests


@dataclass(frozen=True, kw_only=True)
class Auditors:
    """
    `capacity` bounds the objects held at a time, `differences` those of a data source's documents
    that one reading of it can tell. Knowledge bases are asked for documents at that pace.
    """

    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    document_lists: DocumentLists
    bucket: DocumentBucket
    leases: Leases
    executions: Executions
    receipts: ProvenReceipts
    requests: RunRequests
    inspections: InspectionRequests
    worklists: Worklists
    restart: Restart
    mending: Mending
    book: AdmissionBook
    slots: Slots
    data_sources: DataSources
    jobs: IngestionJobs
    direct: DirectDocuments
    knowledge_base: Callable[[str], KnowledgeBase]
    pool: Sequence[PoolMember]
    tally: Tally = field(default_factory=Tally)
    pace: Pace = field(default_factory=Pace)
    capacity: int = 20_000
    differences: int = CAPACITY
    salt: Callable[[], str] = random_salt
    patience: Patience = field(default_factory=Patience)

    def audits(self) -> dict[AuditStage, Audit]:
        return self._patient()._audits()

    def between(self) -> list[Audit]:
        """Those of a look between two rounds."""
        audits = self._audits()
        return [audits[AuditStage.CONTROL], self._open()]

    def _patient(self) -> "Auditors":
        """Asks the knowledge bases with patience, and for documents at their pace."""
        patient, paced = self.patience.with_, self.pace.of
        inventory = self.tally.of(paced(self.inventory, "indexed"))
        return replace(
            self,
            inventory=patient(inventory, "source_ids", "source", "indexed"),
            data_sources=patient(self.data_sources, "all"),
            direct=patient(paced(self.direct, "details"), "details", "delete"),
            knowledge_base=lambda each: patient(self.knowledge_base(each), "retrieve"),
        )

    def _audits(self) -> dict[AuditStage, Audit]:
        return {
            AuditStage.CONTROL: ControlAudit(
                leases=self.leases,
                executions=self.executions,
                restart=self.restart,
                book=self.book,
                mending=self.mending,
                pool=[member.knowledge_base_id for member in self.pool],
            ),
            AuditStage.BUCKET: BucketAudit(
                inventory=self.inventory,
                catalogs=self.catalogs,
                documents=self.documents,
                bucket=self.bucket,
                mending=self.mending,
                capacity=self.capacity,
            ),
            AuditStage.RECORDS: RecordAudit(
                inventory=self.inventory,
                catalogs=self.catalogs,
                documents=self.documents,
                bucket=self.bucket,
                attended=self._attended,
                requests=self.requests,
                inspections=self.inspections,
                mending=self.mending,
                recount=Recount(documents=self.documents, mending=self.mending),
            ),
            AuditStage.BOOKS: CountAudit(
                inventory=self.inventory,
                catalogs=self.catalogs,
                documents=self.documents,
                document_lists=self.document_lists,
                mending=self.mending,
            ),
            AuditStage.DELETIONS: DeletionAudit(
                receipts=self.receipts,
                catalogs=self.catalogs,
                documents=self.documents,
                bucket=self.bucket,
                requests=self.requests,
                search_check=SearchCheck(knowledge_base=self.knowledge_base),
                mending=self.mending,
            ),
            AuditStage.INDEX: self._index(),
            AuditStage.SOURCES: SourceAudit(
                inventory=self.inventory,
                catalogs=self.catalogs,
                slots=self.slots,
                data_sources=self.data_sources,
                mending=self.mending,
                pool=self.pool,
            ),
            AuditStage.QUARANTINE: QuarantineAudit(
                documents=self.documents,
                evictions=self._evictions(),
                knowledge_base=self.knowledge_base,
                mending=self.mending,
                pool=self.pool,
            ),
        }

    def _open(self) -> OpenAudit:
        return OpenAudit(
            inventory=self.inventory,
            catalogs=self.catalogs,
            documents=self.documents,
            attended=self._attended,
            requests=self.requests,
            mending=self.mending,
        )

    @property
    def _attended(self) -> Attended:
        return Attended(leases=self.leases, worklists=self.worklists)

    def _evictions(self) -> Evictions:
        return Evictions(catalogs=self.catalogs, mending=self.mending)

    def _index(self) -> IndexAudit:
        details = details_by(jobs=self.jobs, direct=self.direct, bucket=self.bucket)
        orphans = Orphans(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            direct=self.direct,
            book=self.book,
            knowledge_base=self.knowledge_base,
            mending=self.mending,
        )
        return IndexAudit(
            listings=Listings(inventory=self.inventory, catalogs=self.catalogs, pool=self.pool),
            readings=Readings(
                inventory=self.inventory,
                catalogs=self.catalogs,
                pages=self.documents,
                orphans=orphans,
                details=details,
                mending=self.mending,
                capacity=self.differences,
                salt=self.salt,
            ),
            recheck=Recheck(
                inventory=self.inventory,
                catalogs=self.catalogs,
                documents=self.documents,
                direct=self.direct,
                orphans=orphans,
                evictions=self._evictions(),
                details=details,
                search_check=SearchCheck(knowledge_base=self.knowledge_base),
                mending=self.mending,
            ),
        )
