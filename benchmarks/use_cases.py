"""Creates the product's use cases as its functions do, over ports with the costs of AWS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from benchmarks import metering
from benchmarks.metering import Cost, Metered, MeteredDocuments
from benchmarks.ports import (
    InspectionShelf,
    NoCaps,
    SearchedIndex,
    StoredFiles,
    TextShelf,
    UncountedUsage,
    WorkflowExecutions,
    WorkflowTaskTokens,
)
from simulated_time.account import Account
from simulated_time.bedrock import BROKEN, STAND_IN
from simulated_time.memory import MemoryReceipts, MemorySlots, MemoryWorklists
from simulated_time.stores import AdmissionBook, Bucket, Catalogs, Documents, Leases
from simulated_time.workflow import Workflow
from stackroom.app.function_settings import AdmissionSettings
from stackroom.app.run_builder import RunBuilder
from stackroom.app.upload_builder import UploadBuilder
from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources
from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.aws.s3vectors.index_presence import AT_ONCE
from stackroom.errors import Unreadable
from stackroom.model.bucket import FileVersion
from stackroom.model.keys import Location
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import PoolMember
from stackroom.model.repositories import Inspected
from stackroom.text.document_text import DocumentText
from stackroom.text.extraction.page import Page
from stackroom.text.inspection import Inspection

# Of an inspection, in seconds and bytes a second: a process of its own, which starts as fast as any
# Python does, then what our reader was measured at on annual reports, of 266 to 2,223 kB.
_READER_START, _READ_RATE = 0.15, 700_000


@dataclass(frozen=True, kw_only=True)
class Stores:
    bucket: Bucket
    catalogs: Catalogs
    documents: Documents
    leases: Leases
    receipts: MemoryReceipts
    book: AdmissionBook


class Settings(AdmissionSettings):
    ingest_speed: float = 1.0


class MeteredDeployment:
    """The parts of stackroom.app.run_builder that runs, uploads and inspections need."""

    def __init__(
        self, account: Account, stores: Stores, workflow: Workflow, pool: Sequence[PoolMember]
    ) -> None:
        self.settings = Settings(kb_pool=tuple(pool))
        self.pool = tuple(pool)
        self._account = account
        # the parts of boto3's client that are used
        agent = cast("Any", account.client("bedrock-agent"))
        self.catalogs = self.register = self._metered(stores.catalogs, metering.CATALOGS)
        self.documents = MeteredDocuments(
            stores.documents, metering.DOCUMENTS, bill=account.bill, pace=account.pace
        )
        self.bucket = self._metered(stores.bucket, metering.BUCKET, free=("uri_of",))
        self.leases = self._metered(stores.leases, metering.LEASES)
        self.slots = self._metered(MemorySlots(), metering.SLOTS)
        self.worklists = self._metered(MemoryWorklists(), metering.WORKLISTS)
        self.receipts = self._metered(stores.receipts, metering.RECEIPTS)
        inspections = {**metering.INSPECTION_RESULTS, **metering.INSPECTIONS}
        self.inspections = self._metered(InspectionShelf(), inspections)
        self.admission_book = self._metered(stores.book, metering.BOOK)
        self.caps = self._metered(NoCaps(), metering.CAPS)
        self.usage = self._metered(UncountedUsage(), metering.USAGE)
        self.task_tokens = self._metered(
            WorkflowTaskTokens(workflow=workflow), metering.TASK_TOKENS
        )
        self.executions = self._metered(WorkflowExecutions(workflow=workflow), metering.EXECUTIONS)
        self.data_sources = BedrockDataSources(client=agent, bucket="docs")
        self.jobs = BedrockIngestionJobs(client=agent)
        self.direct_documents = BedrockDirectDocuments(client=agent)
        self.files = self._metered(StoredFiles(bucket=stores.bucket), metering.FILES)
        self.texts = self._metered(TextShelf(bucket=stores.bucket), metering.TEXTS)

    def knowledge_base(self, knowledge_base_id: str) -> KnowledgeBase:
        return SearchedIndex(account=self._account, knowledge_base_id=knowledge_base_id)

    def documents_at_once(self, _knowledge_base_id: str) -> int:
        return AT_ONCE

    def _metered(
        self, port: object, costs: Mapping[str, Cost], *, free: tuple[str, ...] = ()
    ) -> Any:
        return Metered(port, costs, bill=self._account.bill, pace=self._account.pace, free=free)


class StandInInspection(Inspection):
    """Derives a text's length from its file's size, because stand-ins have no real tokens."""

    def _written(
        self, location: Location, version: FileVersion, text: DocumentText, pages: Sequence[Page]
    ) -> Inspected:
        return replace(super()._written(location, version, text, pages), text_tokens=None)


class UseCases(RunBuilder, UploadBuilder):
    """The use cases of all functions in one place."""

    @classmethod
    def on(
        cls, account: Account, stores: Stores, workflow: Workflow, pool: Sequence[PoolMember]
    ) -> "UseCases":
        there = MeteredDeployment(account, stores, workflow, pool)
        made = cls(
            settings=there.settings,
            client=account.client,
            now=account.hub.now,
            run_parallel=account.run_parallel,
            pause_among_writers=_pause_in(account),
        )
        finding = {
            "knowledge_base": there.knowledge_base,
            "documents_at_once": there.documents_at_once,
        }
        vars(made).update(vars(there), **finding)
        return made

    def inspection(self, account: Account) -> Inspection:
        def extract(body: bytes, _filename: str) -> tuple[Page, ...]:
            text = body.decode()
            read = STAND_IN.fullmatch(text)
            assert read is not None, "each file is what it is taken for"
            account.pace.spend(_READER_START + int(read[1]) / _READ_RATE)
            if read[2].startswith(BROKEN):
                raise Unreadable("broken")
            return (Page(number=1, text=text),)

        return StandInInspection(
            files=self.files,
            texts=self.texts,
            keeping=self.text_keeping,
            inspections=self.inspections,
            catalogs=self.catalogs,
            documents=self.documents,
            requests=self.requests,
            extract=extract,
            pause=self.pause_among_writers,
        )


def _pause_in(account: Account) -> Callable[[int], None]:
    """Let the pauses of the use cases pass in simulated time."""

    def paused(attempt: int) -> None:
        pause = account.chance.uniform(0, min(0.02 * 2**attempt, 0.4))
        account.pace.spend(pause, own=0.0)

    return paused
