"""The use cases wired to fakes, and short ways to say what happens."""

from dataclasses import dataclass, field

from stackroom.admission.admission import Admission
from stackroom.ingestion.direct import DirectIngestion
from stackroom.ingestion.ingestion import Ingestion
from stackroom.keys import Location, locate
from stackroom.model import Document, PoolMember
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placements
from stackroom.runs.progress import Outcome, Run
from stackroom.runs.teardown import Teardown
from stackroom.settlement.broken_runs import BrokenRuns
from stackroom.settlement.inquiry import Inquiry
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.settlement import Settlement
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import Settled
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.reconciled import Reconciled
from tests.fakes.admission import FakeAdmissionBook, FakeTaskTokens
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.knowledge_base import FakeKnowledgeBase
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

KEY = "alice/research/report.pdf"


def place_of(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location)
    return place


CATALOG = place_of(KEY).catalog_id


@dataclass
class Pipeline:
    clock: FakeClock = field(default_factory=FakeClock)
    pool: tuple[PoolMember, ...] = (PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1"),)

    def pause(self, seconds: float) -> None:
        """Looked up at each call, for a test may disturb it by then."""
        self.clock.sleep(seconds)

    def __post_init__(self) -> None:
        self.catalogs = FakeCatalogs()
        self.documents = FakeDocuments()
        self.bucket = FakeBucket(self.clock)
        self.leases = FakeLeases()
        self.executions = FakeExecutions()
        self.slots = FakeSlots()
        self.bedrock = FakeBedrock(self.clock)
        self.findings = FakeInspectionResults()
        self.receipts = FakeReceipts()
        self.book = FakeAdmissionBook()
        self.turns = FakeTaskTokens()
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
            turns=self.turns,
            pool=[member.knowledge_base_id for member in self.pool],
            now=self.clock,
            pause=lambda _: None,
        )
        inquiry = Inquiry(
            bucket=self.bucket,
            jobs=self.bedrock,
            findings=self.findings,
            search_check=SearchCheck(knowledge_base=lambda _: self.knowledge_base),
        )
        verdict_writer = VerdictWriter(
            documents=self.documents,
            findings=self.findings,
            receipts=self.receipts,
            now=self.clock,
        )
        self.direct = DirectIngestion(
            documents=self.documents,
            bucket=self.bucket,
            direct=self.bedrock,
            admission=self.admission,
            inquiry=inquiry,
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
        self.ingestion = Ingestion(
            catalogs=self.catalogs,
            documents=self.documents,
            jobs=self.bedrock,
            placements=self.placements,
            admission=self.admission,
            direct=self.direct,
            teardown=self.teardown,
            runs=self.runs,
            now=self.clock,
            pause=self.pause,
        )
        self.broken_runs = BrokenRuns(
            catalogs=self.catalogs,
            documents=self.documents,
            admission=self.admission,
            runs=self.runs,
            now=self.clock,
        )
        self.settlement = Settlement(
            catalogs=self.catalogs,
            documents=self.documents,
            jobs=self.bedrock,
            direct=self.bedrock,
            inquiry=inquiry,
            verdict_writer=verdict_writer,
            leases=self.leases,
            admission=self.admission,
            now=self.clock,
        )

    def drop(self, key: str = KEY, body: str = "text", **attributes: str) -> Reconciled:
        """Upload, and deliver the event; time passes, as it does."""
        self.clock.pass_by(1)
        self.bucket.upload(key, body, **attributes)
        return self.deliver(key)

    def delete(self, key: str = KEY) -> Reconciled:
        self.bucket.delete(key)
        return self.deliver(key)

    def deliver(self, key: str = KEY) -> Reconciled:
        self.clock.pass_by(1)
        reconciled = self.uploads.reconcile(key, correlation_id="event-1")
        if reconciled.catalog_id is not None:
            self.runs.ask(reconciled.catalog_id)
        return reconciled

    def is_searchable(self, key: str = KEY) -> None:
        """From now on a search of its owner finds the document."""
        place = place_of(key)
        self.knowledge_base.put(
            "text",
            user_id=place.user_id,
            catalog_id=place.catalog_id,
            filename=place.filename,
            score=1.0,
            attributes={"document_id": place.document_id},
        )

    def document(self, key: str = KEY) -> Document:
        place = place_of(key)
        document = self.documents.get(place.catalog_id, place.document_id)
        assert document is not None
        return document

    def live_run(self, catalog_id: str = CATALOG) -> Run:
        return Run(catalog_id=catalog_id, epoch=self.leases.kept[catalog_id].epoch)

    def admitted(self, catalog_id: str = CATALOG) -> Run:
        """The live run, its turn granted."""
        run = self.ingestion.ensure_data_source(self.live_run(catalog_id))
        assert run.progress.outcome is Outcome.PLACED
        self.clock.pass_by(1)
        token = f"token {len(self.turns.woken)}"  # each task has one of its own
        self.ingestion.admit(run, token)
        assert token in self.turns.woken
        return run

    def turn(self, catalog_id: str = CATALOG) -> Run:
        """What comes of the live run's turn."""
        run, _ = self.ingestion.start(self.admitted(catalog_id))
        return run

    def started(self, catalog_id: str = CATALOG) -> Run:
        """The live run, with a job accepted."""
        run = self.turn(catalog_id)
        assert run.progress.outcome is Outcome.STARTED
        return run

    def settle(self, run: Run) -> tuple[Outcome | None, list[Settled]]:
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
