"""What every `DirectDocuments` promises: it works on, it counts its calls, and says what came."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Protocol
from uuid import uuid4

import pytest

from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import DataSource, DataSourceType
from stackroom.ports.ingestion import (
    Busy,
    DirectDocuments,
    DocumentDetail,
    IngestionJobs,
    Job,
    JobState,
    Submission,
)
from tests.fakes.pipeline import FakeBedrock, FakeClock
from tests.simulator.world import CUSTOM, World, eventually

NEVER = datetime.min.replace(tzinfo=UTC)
UNDER_WAY = {"STARTING", "PENDING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"}


class Base(Protocol):
    """A knowledge base with a CUSTOM data source, and one for jobs."""

    @property
    def port(self) -> DirectDocuments: ...

    @property
    def jobs(self) -> IngestionJobs: ...

    @property
    def source(self) -> DataSource: ...

    @property
    def crawled(self) -> DataSource: ...

    def put(self, name: str, text: str) -> str:
        """A file; answers its URI."""
        ...

    def wait(self) -> None:
        """Let time pass."""
        ...


@dataclass(frozen=True)
class FakeBase:
    port: DirectDocuments
    jobs: FakeBedrock
    source: DataSource
    crawled: DataSource

    def put(self, name: str, text: str) -> str:
        return f"s3://docs/{name}"

    def wait(self) -> None:
        self.jobs.clock.pass_by(1)
        for job_id, job in self.jobs.jobs.items():
            if job.state is JobState.RUNNING and self.jobs.clock() > job.started_at:
                self.jobs.finish(job_id)


@dataclass(frozen=True)
class SimulatedBase:
    port: DirectDocuments
    jobs: BedrockIngestionJobs
    source: DataSource
    crawled: DataSource
    world: World
    prefix: str

    def put(self, name: str, text: str) -> str:
        return self.world.put(f"{self.prefix}{name}", text, {"user_id": "alice"})

    def wait(self) -> None:
        return


@pytest.fixture(params=["fake", pytest.param("bedrock", marks=pytest.mark.processes)])
def base(request: pytest.FixtureRequest) -> Base:
    if request.param == "fake":
        bedrock = FakeBedrock(FakeClock())
        return FakeBase(bedrock, bedrock, *sources("KB1", "DSC", "DS1"))
    world: World = request.getfixturevalue("simulated")
    prefix, home = f"{uuid4().hex}/", world.knowledge_base()
    custom = world.data_source(home, dataSourceConfiguration=CUSTOM)
    port = BedrockDirectDocuments(client=world.agent)
    jobs = BedrockIngestionJobs(client=world.agent)
    found = sources(home, custom, world.data_source(home, prefix))
    return SimulatedBase(port, jobs, *found, world, prefix)


def sources(knowledge_base: str, custom: str, crawled: str) -> tuple[DataSource, DataSource]:
    return (
        DataSource(
            knowledge_base_id=knowledge_base, data_source_id=custom, type=DataSourceType.CUSTOM
        ),
        DataSource(knowledge_base_id=knowledge_base, data_source_id=crawled),
    )


def token(base: Base, name: str) -> str:
    return sha256(f"{name} {base.source}".encode()).hexdigest()


def submission(base: Base, number: int = 1, text: str = "A text about rain") -> Submission:
    return Submission(
        document_id=f"doc-{number}",
        uri=base.put(f"{number}.txt", text),
        attributes={"user_id": "alice", "filename": "Résumé.txt", "domain": ["a", "b"]},
    )


def tried(base: Base, *submissions: Submission, name: str) -> dict[str, DocumentDetail] | None:
    base.wait()
    answer = base.port.ingest(base.source, submissions, token=token(base, name))
    return None if isinstance(answer, Busy) else answer


def ingest(base: Base, *submissions: Submission, name: str = "one") -> dict[str, DocumentDetail]:
    """Once the rate of calls, which all tests share, allows it."""
    answer: dict[str, DocumentDetail] = eventually(partial(tried, base, *submissions, name=name))
    return answer


def delete(base: Base, *document_ids: str, name: str = "delete") -> dict[str, DocumentDetail]:
    def accepted() -> dict[str, DocumentDetail] | None:
        base.wait()
        answer = base.port.delete(base.source, document_ids, token=token(base, name))
        return None if isinstance(answer, Busy) else answer

    answer: dict[str, DocumentDetail] = eventually(accepted)
    return answer


def read(base: Base, *document_ids: str) -> dict[str, DocumentDetail]:
    def answered() -> dict[str, DocumentDetail] | None:
        try:
            return base.port.details(base.source, document_ids)
        except KnowledgeBaseThrottled:
            return None

    answer: dict[str, DocumentDetail] = eventually(answered)
    return answer


def settled(base: Base, *document_ids: str) -> dict[str, DocumentDetail]:
    """The verdicts once they are final."""

    def over() -> dict[str, DocumentDetail] | None:
        base.wait()
        verdicts = read(base, *document_ids)
        return None if UNDER_WAY & {each.status for each in verdicts.values()} else verdicts

    answer: dict[str, DocumentDetail] = eventually(over)
    return answer


def start_job(base: Base, name: str = "job") -> Job:
    """Once the rate of starts, which all tests share, allows it."""

    def started() -> Job | None:
        job = base.jobs.start(base.crawled, token=token(base, name), description=name)
        return job if isinstance(job, Job) else None

    job: Job = eventually(started)
    return job


def test_a_call_answers_at_once_and_its_documents_are_indexed_in_time(base: Base) -> None:
    both = submission(base, 1), submission(base, 2)

    answer = ingest(base, *both)
    after = settled(base, "doc-1", "doc-2")

    assert {name: each.status in UNDER_WAY for name, each in answer.items()} == {
        "doc-1": True,
        "doc-2": True,
    }
    assert {each.status for each in after.values()} == {"INDEXED"}
    assert all(
        (after[name].updated_at or NEVER) >= (answer[name].updated_at or NEVER) for name in after
    )


def test_a_document_that_it_does_not_know_is_not_found_and_may_be_deleted(base: Base) -> None:
    ingest(base, submission(base))
    unknown = [f"doc-unknown-{number}" for number in range(11)]

    verdicts = read(base, "doc-1", *unknown)
    deleted = delete(base, "doc-9")

    assert {verdicts[each].status for each in unknown} == {"NOT_FOUND"}
    assert verdicts["doc-1"].status != "NOT_FOUND"
    assert deleted["doc-9"].status == "NOT_FOUND"
    assert base.port.details(base.source, []) == {}


def test_a_document_ingested_again_is_under_way_again_and_newer_after(base: Base) -> None:
    ingest(base, submission(base))
    before = settled(base, "doc-1")["doc-1"]

    again = ingest(base, submission(base, text="A text about snow"), name="two")
    after = settled(base, "doc-1")["doc-1"]

    assert again["doc-1"].status in UNDER_WAY
    assert (before.status, after.status) == ("INDEXED", "INDEXED")
    assert (after.updated_at or NEVER) > (before.updated_at or NEVER)


def test_a_call_whose_answer_got_lost_is_answered_again_and_done_once(base: Base) -> None:
    ingest(base, submission(base))
    before = settled(base, "doc-1")

    again = ingest(base, submission(base))

    assert again == before
    assert read(base, "doc-1") == before


def test_a_deleted_document_is_not_found_in_the_end_and_the_others_stay(base: Base) -> None:
    ingest(base, submission(base, 1), submission(base, 2))
    settled(base, "doc-1", "doc-2")

    answer = delete(base, "doc-1")
    after = settled(base, "doc-1", "doc-2")

    assert answer["doc-1"].status in UNDER_WAY
    assert {name: each.status for name, each in after.items()} == {
        "doc-1": "NOT_FOUND",
        "doc-2": "INDEXED",
    }


def test_no_direct_call_is_taken_while_a_job_runs(base: Base) -> None:
    for number in range(60):  # enough to be at work for a while
        base.put(f"{number}.txt", "A text")
    first = submission(base)

    start_job(base)
    answer = base.port.ingest(base.source, [first], token=token(base, "one"))

    assert isinstance(answer, Busy)
    assert "running ingestion job" in answer.why
    assert ingest(base, first)["doc-1"].status in UNDER_WAY


def test_no_job_is_taken_while_a_direct_call_is_at_work(base: Base) -> None:
    names = map(str, count())

    def refusal() -> Busy | None:
        name = next(names)
        ingest(base, submission(base), name=name)
        answer = base.jobs.start(base.crawled, token=token(base, f"job {name}"), description=name)
        # else the rate of starts, which all tests share, refused it; or the call was over already
        return answer if isinstance(answer, Busy) and "ongoing" in answer.why else None

    answer: Busy = eventually(refusal)

    assert "KnowledgeBaseDocuments" in answer.why
