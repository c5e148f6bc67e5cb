"""The product's use cases, put together as its functions do, over ports that cost as AWS does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from benchmarks import metering
from benchmarks.document_metering import MeteredDocuments
from benchmarks.metering import Cost, Metered
from benchmarks.ports import StoredFiles, WorkflowExecutions, WorkflowTaskTokens
from benchmarks.simulated_time.account import Account
from benchmarks.simulated_time.workflow import Workflow
from benchmarks.stores import AdmissionBook, Bucket, Catalogs, Documents, Leases
from stackroom.admission.admission import Admission
from stackroom.aws.data_sources import BedrockDataSources
from stackroom.aws.direct_documents import BedrockDirectDocuments, BedrockLocatedDocuments
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.clock import RealTime
from stackroom.ingestion.by_job import JobRounds
from stackroom.ingestion.direct_calls import DirectCalls
from stackroom.ingestion.direct_round import DirectPorts
from stackroom.ingestion.endings import Endings
from stackroom.ingestion.own_runs import OneCatalog, OwnRuns
from stackroom.ingestion.run_tasks import RunTasks
from stackroom.ingestion.shared_runs import SharedRuns
from stackroom.ingestion.ways import Sooner
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.inspection import Inspection
from stackroom.model import PoolMember
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placements
from stackroom.runs.placing import OwnFirst, Placing, SharedFirst
from stackroom.runs.requests import RunRequests
from stackroom.runs.teardown import Teardown
from stackroom.settlement.broken_runs import BrokenRuns
from stackroom.settlement.eviction import Eviction
from stackroom.settlement.evidence import Investigation
from stackroom.settlement.own_source import OwnSource
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.settlement import Settlement
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.succession import Succession
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.uploads.reconcile import Uploads
from tests.fakes.inspection import FakeInspections, FakeMapShelf
from tests.fakes.pipeline import FakeInspectionResults, FakeReceipts, FakeSlots
from tests.fakes.worklists import FakeWorklists

# Of an inspection, in seconds and bytes a second: a process of its own, which starts as fast as any
# Python does, then what pypdfium2 was measured at on a corpus of PDFs.
_READER_START, _READ_RATE = 0.15, 5_000_000


@dataclass(frozen=True, kw_only=True)
class Stores:
    bucket: Bucket
    catalogs: Catalogs
    documents: Documents
    leases: Leases
    receipts: FakeReceipts
    book: AdmissionBook


class UseCases:
    """What the functions hold behind their caches, all in one place."""

    def __init__(
        self,
        account: Account,
        stores: Stores,
        workflow: Workflow,
        pool: Sequence[PoolMember],
        *,
        own_first: bool = False,
    ) -> None:
        self._own_first = own_first
        self._account = account
        self._stores = stores
        self._workflow = workflow
        self._pool = pool
        self._now = account.hub.now
        self._agent = cast("Any", account.client("bedrock-agent"))  # as boto3's, as far as it goes
        self._catalogs = self._metered(stores.catalogs, metering.CATALOGS)
        self._documents = MeteredDocuments(
            stores.documents, metering.DOCUMENTS, bill=account.bill, pace=account.pace
        )
        self._bucket = self._metered(stores.bucket, metering.BUCKET, free=("uri_of",))
        self._leases = self._metered(stores.leases, metering.LEASES)
        slots = FakeSlots()
        for each in pool:  # as they are five minutes after a deployment
            slots.survey(each.knowledge_base_id, ())
        self._slots = self._metered(slots, metering.SLOTS)
        self._worklists = self._metered(FakeWorklists(), metering.WORKLISTS)
        self._receipts = self._metered(stores.receipts, metering.RECEIPTS)
        self._inspections = self._metered(FakeInspectionResults(), metering.INSPECTION_RESULTS)
        self._jobs = BedrockIngestionJobs(client=self._agent)
        self._direct = BedrockDirectDocuments(client=self._agent)
        self._located = BedrockLocatedDocuments(client=self._agent)

    @cached_property
    def uploads(self) -> Uploads:
        return Uploads(
            catalogs=self._catalogs,
            documents=self._documents,
            bucket=self._bucket,
            receipts=self._receipts,
            now=self._now,
            pause=self._pause_among_writers,
        )

    @cached_property
    def inspection(self) -> Inspection:
        return Inspection(
            files=self._metered(StoredFiles(bucket=self._stores.bucket), metering.FILES),
            place_maps=self._metered(FakeMapShelf(), metering.PLACE_MAPS),
            inspections=self._metered(FakeInspections(), metering.INSPECTIONS),
            catalogs=self._catalogs,
            documents=self._documents,
            extract=self._extract,
            now=self._now,
        )

    @cached_property
    def ingestion(self) -> RunTasks:
        sources = BedrockDataSources(client=self._agent, bucket="docs")
        return RunTasks(
            catalogs=self._catalogs,
            documents=self._documents,
            placements=Placements(
                catalogs=self._catalogs,
                slots=self._slots,
                data_sources=sources,
                pool=self._pool,
                placing=self._placing,
            ),
            admission=self.admission,
            jobs=self._job_rounds,
            shared_runs=self._shared_runs,
            own_runs=self._own_runs,
            ways=self._ways,
            endings=self._endings,
            teardown=self._teardown,
            runs=self.runs,
            requests=self.requests,
            now=self._now,
        )

    @cached_property
    def requests(self) -> RunRequests:
        return RunRequests(
            catalogs=self._catalogs,
            placing=self._placing,
            worklists=self._worklists,
            runs=self.runs,
            pool=self._pool,
        )

    @property
    def _placing(self) -> Placing:
        if self._own_first:
            return OwnFirst()
        return SharedFirst(catalogs=self._catalogs, slots=self._slots, pool=self._pool)

    @property
    def _teardown(self) -> Teardown:
        sources = BedrockDataSources(client=self._agent, bucket="docs")
        return Teardown(
            catalogs=self._catalogs, slots=self._slots, data_sources=sources, pool=self._pool
        )

    @property
    def _job_rounds(self) -> JobRounds:
        return JobRounds(
            documents=self._documents,
            jobs=self._jobs,
            admission=self.admission,
            eviction=self._eviction,
            now=self._now,
            pause=self._account.pace.spend,
        )

    @property
    def _eviction(self) -> Eviction:
        return Eviction(located=BedrockLocatedDocuments(client=self._agent), bucket=self._bucket)

    @property
    def _shared_runs(self) -> SharedRuns:
        return SharedRuns(
            catalogs=self._catalogs,
            documents=self._documents,
            worklists=self._worklists,
            admission=self.admission,
            runs=self.runs,
            ports=self._direct_ports,
            teardown=self._teardown,
            pool=self._pool,
            now=self._now,
        )

    @property
    def _own_runs(self) -> OwnRuns:
        return OwnRuns(
            catalogs=self._catalogs,
            documents=self._documents,
            worklists=OneCatalog(),
            admission=self.admission,
            runs=self.runs,
            ports=self._direct_ports,
            teardown=self._teardown,
            pool=self._pool,
            located=self._located,
            now=self._now,
        )

    @property
    def _ways(self) -> Sooner:
        return Sooner(
            documents=self._documents,
            bucket=self._bucket,
            jobs=self._jobs,
            located=self._located,
            admission=self.admission,
            pace=RealTime(),
        )

    @property
    def _direct_ports(self) -> DirectPorts:
        return DirectPorts(
            calls=DirectCalls(
                documents=self._documents,
                bucket=self._bucket,
                direct=self._direct,
                now=self._now,
            ),
            admission=self.admission,
            settlement=self._shared_source,
            verdict_writer=self._verdict_writer,
            now=self._now,
            pause=self._account.pace.spend,
            beside=self._account.beside,
        )

    @property
    def _endings(self) -> Endings:
        return Endings(
            catalogs=self._catalogs,
            admission=self.admission,
            now=self._now,
        )

    @cached_property
    def settlement(self) -> Settlement:
        return Settlement(
            catalogs=self._catalogs,
            documents=self._documents,
            own_source=OwnSource(
                jobs=self._jobs,
                bucket=self._bucket,
                investigation=self._investigation,
                eviction=self._eviction,
                now=self._now,
            ),
            verdict_writer=self._verdict_writer,
            leases=self._leases,
            admission=self.admission,
            now=self._now,
        )

    @property
    def _shared_source(self) -> SharedSource:
        return SharedSource(
            investigation=self._investigation,
            now=self._now,
        )

    @cached_property
    def broken_runs(self) -> BrokenRuns:
        return BrokenRuns(
            admission=self.admission,
            runs=self.runs,
            succession=Succession(
                catalogs=self._catalogs, documents=self._documents, runs=self.runs, now=self._now
            ),
            requests=self.requests,
        )

    @cached_property
    def admission(self) -> Admission:
        return Admission(
            book=self._metered(self._stores.book, metering.BOOK),
            task_tokens=self._metered(
                WorkflowTaskTokens(workflow=self._workflow), metering.TASK_TOKENS
            ),
            pool=[each.knowledge_base_id for each in self._pool],
            now=self._now,
            beside=self._account.beside,
            pause=self._pause_among_writers,
        )

    @cached_property
    def runs(self) -> Runs:
        executions = WorkflowExecutions(workflow=self._workflow)
        return Runs(
            leases=self._leases,
            executions=self._metered(executions, metering.EXECUTIONS),
            now=self._now,
        )

    @cached_property
    def _investigation(self) -> Investigation:
        runtime: Any = self._account.client("bedrock-agent-runtime")
        return Investigation(
            inspections=self._inspections,
            search_check=SearchCheck(
                knowledge_base=lambda each: BedrockKnowledgeBase(runtime, each)
            ),
        )

    @cached_property
    def _verdict_writer(self) -> VerdictWriter:
        return VerdictWriter(
            documents=self._documents,
            inspections=self._inspections,
            receipts=self._receipts,
            now=self._now,
        )

    def _metered(
        self, port: object, costs: Mapping[str, Cost], *, free: tuple[str, ...] = ()
    ) -> Any:
        return Metered(port, costs, bill=self._account.bill, pace=self._account.pace, free=free)

    def _pause_among_writers(self, attempt: int) -> None:
        """As the use cases pause by themselves, in simulated time."""
        self._account.pace.spend(self._account.chance.uniform(0, min(0.02 * 2**attempt, 0.4)))

    def _extract(self, body: bytes, filename: str) -> tuple[Page, ...]:
        """Only of a PDF is there a place map to keep."""
        self._account.pace.spend(_READER_START + int(body) / _READ_RATE)
        return (Page(number=1, text="text"),) if filename.endswith(".pdf") else ()
