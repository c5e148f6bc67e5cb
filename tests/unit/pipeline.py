"""The use cases wired to fakes, and short ways to say what happens."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from stackroom.app.function_settings import AdmissionSettings
from stackroom.app.run_builder import RunBuilder
from stackroom.catalogs.deletions import Deletions
from stackroom.model.keys import Location, TextName, locate
from stackroom.model.records import (
    Catalog,
    CatalogDataSources,
    DataSource,
    DataSourceType,
    Document,
    PoolMember,
    Receipt,
)
from stackroom.model.repositories import InspectionResults
from stackroom.runs.admission import Admission
from stackroom.runs.capacity import Limits
from stackroom.runs.estimates import Estimates
from stackroom.runs.retries import Retrying
from stackroom.runs.run import BATCH, Run
from stackroom.runs.run_leases import shared_worklist, worklist_of
from stackroom.runs.search_check import SearchCheck
from stackroom.runs.verdicts import Settled, TaskResult
from stackroom.uploads.plan import Plan
from stackroom.uploads.reconcile import Uploads
from statemachines.ingest_catalog import STATES
from tests.fakes.admission import FakeAdmissionBook, FakeTaskTokens
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.caps import FakeCaps
from tests.fakes.clock import FakeClock, in_turn
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import (
    FakeBucket,
    FakeCatalogs,
    FakeDocuments,
    FakeExecutions,
    FakeInspectionResults,
    FakeInspections,
    FakeLeases,
    FakeReceipts,
    FakeSlots,
    FakeTexts,
)
from tests.fakes.usage import FakeUsage
from tests.fakes.worklists import FakeWorklists
from tests.support.records import NOW, a_document

KEY = "alice/research/report.pdf"
PARKED = "AdmitIngestion"  # where an execution stays that others are before


def place_of(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location)
    return place


def text_of(place: Location) -> TextName:
    """A text of the document there."""
    return TextName(place.user_id, place.catalog_id, place.document_id, "0" * 32)


def document_at(key: str, at: datetime = NOW, **fields: Any) -> Document:
    place = place_of(key)
    return a_document(
        at=at,
        catalog_id=place.catalog_id,
        document_id=place.document_id,
        filename=place.filename,
        s3_key=key,
        **fields,
    )


CATALOG = place_of(KEY).catalog_id
SHARED_WORKLIST = shared_worklist("KB1")


class Settings(AdmissionSettings):
    ingest_speed: float = 1.0


@dataclass(frozen=True, kw_only=True)
class FoundAtOnce(SearchCheck):
    """A search check that finds every document, whatever is in the fake of a search."""

    def found(self, documents: Iterable[tuple[Catalog, Document]]) -> set[str]:
        return {document.document_id for _, document in documents}


class PipelineUseCases(RunBuilder):
    finds_at_once: bool

    @cached_property
    def _investigation(self) -> Any:
        made = RunBuilder._investigation.func(self)  # type: ignore[attr-defined]
        if not self.finds_at_once:
            return made
        check = made.search_check
        return replace(
            made,
            search_check=FoundAtOnce(knowledge_base=check.knowledge_base, at_once=check.at_once),
        )


@dataclass
class Pipeline:
    """
    `by_jobs` gives catalogs data sources of type S3, and `shared` none of their own. A search tells
    what was ingested directly by its id. `inspections` are what a reader of files has found;
    without them, every file was read, by Bedrock's parser.
    """

    clock: FakeClock = field(default_factory=FakeClock)
    pool: tuple[PoolMember, ...] = (PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1"),)
    by_jobs: bool = False
    shared: bool = False
    finds_at_once: bool = True
    inspections: FakeInspections | None = None

    def __post_init__(self) -> None:
        wanted = CatalogDataSources.S3 if self.by_jobs else None
        wanted = CatalogDataSources.SHARED if self.shared else wanted
        if wanted is not None:
            changes = {"catalog_data_sources": wanted}
            self.pool = tuple(each.model_copy(update=changes) for each in self.pool)
        self.catalogs = FakeCatalogs()
        self.documents = FakeDocuments(self.catalogs)
        self.bucket = FakeBucket(self.clock)
        self.leases = FakeLeases()
        self.executions = FakeExecutions()
        self.slots = FakeSlots()
        self.worklists = FakeWorklists()
        self.cap_book = FakeCaps()
        self.usage = FakeUsage()
        self.bedrock = FakeBedrock(self.clock)
        self.findings = FakeInspectionResults(everything=True)
        self.results: InspectionResults = self.inspections or self.findings
        self.texts = FakeTexts(self.clock)
        self.receipts = FakeReceipts()
        self.book = FakeAdmissionBook()
        self.task_tokens = FakeTaskTokens()
        self.knowledge_base = FakeKnowledgeBase()
        self.visited: list[str] = []  # states, of all executions
        self.settled: list[Settled] = []
        self.failures: dict[str, Exception] = {}  # of all tasks, by catalog
        self.uploads = Uploads(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            inspections=self.results,
            now=self.clock,
            pause=lambda _: None,
        )
        use_cases = PipelineUseCases(
            settings=Settings(kb_pool=self.pool),
            now=self.clock,
            run_parallel=in_turn,  # what disturbs a call must not race with another
            pause_among_writers=lambda _: None,
        )
        vars(use_cases).update(self._adapters())
        self.use_cases = use_cases
        self.runs = use_cases.runs
        self.admission: Admission = use_cases.admission
        self.placements = use_cases.placements
        self.requests = use_cases.requests
        self.caps = use_cases.user_caps
        self.ingestion = use_cases.run_tasks
        self.polling = use_cases.polling
        self.restart = use_cases.restart
        self.broken_runs = use_cases.broken_runs

    def _adapters(self) -> dict[str, Any]:
        return {
            "catalogs": self.catalogs,
            "register": self.catalogs,
            "documents": self.documents,
            "bucket": self.bucket,
            "leases": self.leases,
            "executions": self.executions,
            "slots": self.slots,
            "worklists": self.worklists,
            "caps": self.cap_book,
            "usage": self.usage,
            "data_sources": self.bedrock,
            "jobs": self.bedrock,
            "direct_documents": self.bedrock,
            "inspections": self.results,
            "texts": self.texts,
            "receipts": self.receipts,
            "admission_book": self.book,
            "task_tokens": self.task_tokens,
            "knowledge_base": lambda _: self.knowledge_base,
            "documents_at_once": lambda _: BATCH,
            "finds_at_once": self.finds_at_once,
        }

    @property
    def deletions(self) -> Deletions:
        return Deletions(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            uploads=self.uploads,
            requests=self.requests,
            now=self.clock,
            run_parallel=in_turn,
        )

    @property
    def retrying(self) -> Retrying:
        return Retrying(
            catalogs=self.catalogs, documents=self.documents, requests=self.requests, now=self.clock
        )

    @property
    def estimates(self) -> Estimates:
        return Estimates(
            worklists=self.worklists,
            documents=self.documents,
            leases=self.leases,
            book=self.book,
            limits=Limits(),
            now=self.clock,
        )

    def drop(self, key: str = KEY, body: str = "text", **attributes: str) -> Plan:
        """Upload, and deliver the event; time passes, as it does."""
        self.clock.pass_by(1)
        self.bucket.upload(key, body, **attributes)
        return self.deliver(key)

    def delete(self, key: str = KEY) -> Plan:
        self.bucket.delete(key)
        return self.deliver(key)

    def deliver(self, key: str = KEY) -> Plan:
        self.clock.pass_by(1)
        plan = self.uploads.reconcile(key, correlation_id="event-1")
        if plan.run_for is not None:
            self.requests.ask(plan.run_for)
        return plan

    def is_searchable(self, key: str = KEY) -> None:
        """From now on a search of its owner finds the document."""
        place = place_of(key)
        catalog = self.catalogs.kept.get(place.catalog_id)
        is_direct = catalog is not None and catalog.data_source_type is DataSourceType.CUSTOM
        self.knowledge_base.put(
            "text",
            user_id=place.user_id,
            catalog_id=place.catalog_id,
            filename=place.filename,
            score=1.0,
            attributes={"document_id": place.document_id},
            key=key,
            custom_id=place.document_id if is_direct else None,
        )

    def document(self, key: str = KEY) -> Document:
        place = place_of(key)
        document = self.documents.get(place.catalog_id, place.document_id)
        assert document is not None
        return document

    def source_of(self, key: str = KEY) -> DataSource:
        """Return the data source of the key's catalog, which was placed."""
        source = self.catalogs.kept[place_of(key).catalog_id].source
        assert source is not None
        return source

    def worklist_of(self, key: str = KEY) -> str:
        catalog_id = place_of(key).catalog_id
        catalog = self.catalogs.kept.get(catalog_id)
        return worklist_of(catalog_id, None if catalog is None else catalog.source)

    def live_run(self, worklist_id: str | None = None) -> Run:
        """Return the live run of the worklist, by default that of KEY's catalog."""
        worklist_id = worklist_id or self.worklist_of()
        return Run(worklist_id=worklist_id, epoch=self.leases.kept[worklist_id].epoch)

    def execute(
        self,
        worklist_id: str | None = None,
        *,
        run: Run | None = None,
        state: str = "EnsureDataSource",
        until: str | None = None,
        at_most: int = 500,
    ) -> Run:
        """
        The live execution, by the state machine itself: until it succeeds or waits for its grant,
        or is about to enter the state `until`. Waits let time pass.
        """
        run = run or self.live_run(worklist_id)
        for _ in range(at_most):
            if state == until:
                return run
            self.visited.append(state)
            definition = STATES[state]
            match definition["Type"]:
                case "Succeed":
                    return run
                case "Wait":
                    self.clock.pass_by(run.progress.wait_seconds)
                    state = definition["Next"]
                case "Choice":
                    state = _chosen(definition, run)
                case _:
                    run = self._task(state, run)
                    if state == PARKED and not self._is_woken(run):
                        return run
                    state = definition["Next"]
        raise AssertionError(f"after {at_most} states in {state}")

    def work(self, worklist_id: str | None = None) -> Run:
        """The live execution until it is about to wait for what it has begun."""
        return self.execute(worklist_id, until="WaitForIngestion")

    def go_on(self, run: Run, **options: Any) -> Run:
        """An execution that stands before a wait for what it has begun."""
        self.clock.pass_by(run.progress.wait_seconds)
        return self.execute(run=run, state="PollIngestion", **options)

    def poll(self, run: Run) -> TaskResult:
        self.clock.pass_by(1)
        return self._polled(run)

    def finish_job(self, run: Run, *keys: str, status: str = "INDEXED") -> None:
        """The run's job is over, with that status for each of those documents."""
        self.clock.pass_by(1)
        for key in keys or (KEY,):
            self.bedrock.say(key, status)
        assert run.progress.job_id is not None
        self.bedrock.finish(run.progress.job_id)

    def index(self, *keys: str) -> None:
        """All that is open becomes indexed, up to the released lease."""
        run = self.work(self.worklist_of((keys or (KEY,))[0]))
        if run.progress.job_id is not None:
            self.finish_job(run, *keys)
        self.go_on(run)

    def _task(self, state: str, run: Run) -> Run:
        self.clock.pass_by(0.1)
        action = STATES[state]["Parameters"]["Payload"]["action"]
        match action:
            case "ensure":
                ensured = self.ingestion.ensure(run)
                self.settled += ensured.settled
                return ensured.run
            case "admit":
                self.ingestion.admit(run, self._token(run))
                return run
            case "start":
                started = self.ingestion.start(run)
                self.settled += started.settled
                self.failures |= started.failures
                return started.run
            case "poll":
                return self._polled(run).run
            case "release":
                return self.ingestion.release(run)
            case _:
                return self.ingestion.hand_over(run)

    def _polled(self, run: Run) -> TaskResult:
        polled = self.polling.poll(run)
        self.settled += polled.settled
        self.failures |= polled.failures
        return polled

    def _token(self, run: Run) -> str:
        return f"token of {run.worklist_id} {run.epoch} {run.progress.steps}"

    def _is_woken(self, run: Run) -> bool:
        return self._token(run) in self.task_tokens.woken


def _chosen(definition: dict[str, Any], run: Run) -> str:
    for each in definition["Choices"]:
        if each["StringEquals"] == run.progress.outcome:
            return str(each["Next"])
    raise AssertionError(f"{run.progress.outcome} is no answer to choose by")


EXE = "alice/research/a.exe"


def receipts_of(pipeline: Pipeline, user_id: str = "alice") -> list[Receipt]:
    return list(pipeline.receipts.of_user(user_id))
