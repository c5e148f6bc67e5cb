"""The use cases wired to fakes, and short ways to say what happens."""

from dataclasses import dataclass, field

from stackroom.admission.admission import Admission
from stackroom.admission.limits import Limits
from stackroom.capacity import capacity_of
from stackroom.clock import RealTime
from stackroom.ingestion.by_job import JobRounds
from stackroom.ingestion.direct_calls import DirectCalls
from stackroom.ingestion.direct_round import DirectPorts
from stackroom.ingestion.endings import Endings
from stackroom.ingestion.own_runs import OneCatalog, OwnRuns
from stackroom.ingestion.rounds import DirectWork
from stackroom.ingestion.run_tasks import RunTasks
from stackroom.ingestion.shared_runs import SharedRuns
from stackroom.ingestion.ways import ByJobsAlone, Sooner
from stackroom.keys import Location, locate
from stackroom.model import DataSourceType, Document, PoolMember
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placements
from stackroom.runs.placing import OwnFirst, SharedFirst
from stackroom.runs.progress import Run, RunOutcome
from stackroom.runs.requests import RunRequests
from stackroom.runs.teardown import Teardown
from stackroom.runs.worklists import shared_worklist
from stackroom.settlement.broken_runs import BrokenRuns
from stackroom.settlement.eviction import Eviction
from stackroom.settlement.evidence import Investigation
from stackroom.settlement.own_source import OwnSource
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.settlement import Settlement
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.succession import Succession
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import Settled
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.steps import Plan
from tests.fakes.admission import FakeAdmissionBook, FakeTaskTokens
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.located import FakeLocatedDocuments
from tests.fakes.pipeline import (
    FakeBucket,
    FakeCatalogs,
    FakeDocuments,
    FakeExecutions,
    FakeInspectionResults,
    FakeLeases,
    FakeReceipts,
    FakeSlots,
)
from tests.fakes.worklists import FakeWorklists

KEY = "alice/research/report.pdf"


def place_of(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location)
    return place


CATALOG = place_of(KEY).catalog_id
SHARED_WORKLIST = shared_worklist("KB1")


@dataclass
class Pipeline:
    clock: FakeClock = field(default_factory=FakeClock)
    pool: tuple[PoolMember, ...] = (PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1"),)
    shared_first: bool = False  # else a catalog has a data source of its own while there are any
    by_calls: bool = False  # at data sources of catalogs' own, too, where they are sooner

    def pause(self, seconds: float) -> None:
        """Looked up at each call, for a test may disturb it by then."""
        self.clock.sleep(seconds)

    def __post_init__(self) -> None:
        self.catalogs = FakeCatalogs()
        self.documents = FakeDocuments(self.catalogs)
        self.bucket = FakeBucket(self.clock)
        self.leases = FakeLeases()
        self.executions = FakeExecutions()
        self.slots = FakeSlots()
        if self.shared_first:
            for member in self.pool:  # where nobody is at home
                self.slots.survey(member.knowledge_base_id, [])
        self.worklists = FakeWorklists()
        self.bedrock = FakeBedrock(self.clock)
        self.findings = FakeInspectionResults()
        self.receipts = FakeReceipts()
        self.book = FakeAdmissionBook()
        self.task_tokens = FakeTaskTokens()
        self.knowledge_base = FakeKnowledgeBase()
        self.uploads = Uploads(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            now=self.clock,
            pause=lambda _: None,
        )
        self.runs = Runs(leases=self.leases, executions=self.executions, now=self.clock)
        self.placements = Placements(
            catalogs=self.catalogs,
            slots=self.slots,
            data_sources=self.bedrock,
            pool=self.pool,
        )
        self.admission = Admission(
            book=self.book,
            task_tokens=self.task_tokens,
            pool=[member.knowledge_base_id for member in self.pool],
            limits=Limits(
                jobs_in_one={each.knowledge_base_id: capacity_of(each).jobs for each in self.pool}
            ),
            now=self.clock,
            pause=lambda _: None,
        )
        investigation = Investigation(
            inspections=self.findings,
            search_check=SearchCheck(knowledge_base=lambda _: self.knowledge_base),
        )
        eviction = Eviction(located=FakeLocatedDocuments(self.bedrock), bucket=self.bucket)
        own_source = OwnSource(
            jobs=self.bedrock,
            bucket=self.bucket,
            investigation=investigation,
            eviction=eviction,
            now=self.clock,
        )
        shared_source = SharedSource(
            investigation=investigation,
            now=self.clock,
        )
        verdict_writer = VerdictWriter(
            documents=self.documents,
            inspections=self.findings,
            receipts=self.receipts,
            now=self.clock,
        )
        endings = Endings(
            catalogs=self.catalogs,
            admission=self.admission,
            now=self.clock,
        )
        jobs = JobRounds(
            documents=self.documents,
            jobs=self.bedrock,
            eviction=eviction,
            admission=self.admission,
            now=self.clock,
            pause=self.pause,
        )
        self.direct = DirectPorts(
            calls=DirectCalls(
                documents=self.documents,
                bucket=self.bucket,
                direct=self.bedrock,
                now=self.clock,
            ),
            admission=self.admission,
            settlement=shared_source,
            verdict_writer=verdict_writer,
            now=self.clock,
            pause=self.pause,
        )
        self.teardown = Teardown(
            catalogs=self.catalogs,
            slots=self.slots,
            data_sources=self.bedrock,
            pool=self.pool,
        )
        self.requests = RunRequests(
            catalogs=self.catalogs,
            placing=(
                SharedFirst(catalogs=self.catalogs, slots=self.slots, pool=self.pool)
                if self.shared_first
                else OwnFirst()
            ),
            worklists=self.worklists,
            runs=self.runs,
            pool=self.pool,
        )
        located = FakeLocatedDocuments(self.bedrock)
        self.ways = Sooner(
            documents=self.documents,
            bucket=self.bucket,
            jobs=self.bedrock,
            located=located,
            admission=self.admission,
            pace=RealTime(),
        )
        self.ingestion = RunTasks(
            catalogs=self.catalogs,
            documents=self.documents,
            placements=self.placements,
            admission=self.admission,
            jobs=jobs,
            shared_runs=SharedRuns(
                catalogs=self.catalogs,
                documents=self.documents,
                worklists=self.worklists,
                admission=self.admission,
                runs=self.runs,
                ports=self.direct,
                teardown=self.teardown,
                pool=self.pool,
                now=self.clock,
            ),
            own_runs=OwnRuns(
                catalogs=self.catalogs,
                documents=self.documents,
                worklists=OneCatalog(),
                admission=self.admission,
                runs=self.runs,
                ports=self.direct,
                teardown=self.teardown,
                pool=self.pool,
                located=located,
                now=self.clock,
            ),
            ways=self.ways if self.by_calls else ByJobsAlone(),
            endings=endings,
            teardown=self.teardown,
            runs=self.runs,
            requests=self.requests,
            now=self.clock,
        )
        self.settlement = Settlement(
            catalogs=self.catalogs,
            documents=self.documents,
            own_source=own_source,
            verdict_writer=verdict_writer,
            leases=self.leases,
            admission=self.admission,
            now=self.clock,
        )
        self.succession = Succession(
            catalogs=self.catalogs, documents=self.documents, runs=self.runs, now=self.clock
        )
        self.broken_runs = BrokenRuns(
            admission=self.admission,
            runs=self.runs,
            succession=self.succession,
            requests=self.requests,
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
        is_shared = catalog is not None and catalog.data_source_type is DataSourceType.CUSTOM
        self.knowledge_base.put(
            "text",
            user_id=place.user_id,
            catalog_id=place.catalog_id,
            filename=place.filename,
            score=1.0,
            attributes={"document_id": place.document_id},
            key=key,
            custom_id=place.document_id if is_shared else None,
        )

    def document(self, key: str = KEY) -> Document:
        place = place_of(key)
        document = self.documents.get(place.catalog_id, place.document_id)
        assert document is not None
        return document

    def live_run(self, catalog_id: str = CATALOG) -> Run:
        return Run(worklist_id=catalog_id, epoch=self.leases.kept[catalog_id].epoch)

    def admitted(self, catalog_id: str = CATALOG) -> Run:
        """The live run, admitted."""
        run, _ = self.ingestion.begin(self.live_run(catalog_id))
        assert run.progress.outcome is RunOutcome.PLACED
        self.clock.pass_by(1)
        token = f"token {len(self.task_tokens.woken)}"  # each task has one of its own
        self.ingestion.admit(run, token)
        assert token in self.task_tokens.woken
        return run

    def work(self, catalog_id: str = CATALOG) -> Run:
        """What the live run comes to once it is admitted."""
        run, _ = self.ingestion.start(self.admitted(catalog_id))
        return run

    def work_shared(self) -> tuple[Run, DirectWork]:
        """What one task of the shared data source's live run comes to."""
        return self.ingestion.begin(self.live_run(SHARED_WORKLIST))

    def work_shared_off(self) -> Run:
        """As many tasks as the shared data source's live run takes."""
        run = self.live_run(SHARED_WORKLIST)
        while run.progress.outcome in (None, RunOutcome.MORE):
            run, _ = self.ingestion.begin(run)
        return run

    def started(self, catalog_id: str = CATALOG) -> Run:
        """The live run, with a job accepted."""
        run = self.work(catalog_id)
        assert run.progress.outcome is RunOutcome.STARTED
        return run

    def settle(self, run: Run) -> tuple[RunOutcome | None, list[Settled]]:
        self.clock.pass_by(1)
        after, settling = self.settlement.settle(run)
        return after.progress.outcome, settling.settled

    def index(self, *keys: str) -> None:
        """A whole good round for these documents, up to the released lease."""
        run = self.started()
        self.clock.pass_by(1)
        for key in keys or (KEY,):
            self.bedrock.say(key, "INDEXED")
        assert run.progress.job_id is not None
        self.bedrock.finish(run.progress.job_id)
        run, _ = self.settlement.settle(self.settlement.poll(run))
        self.ingestion.release(run)
