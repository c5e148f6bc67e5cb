"""What every `IngestionJobs` promises: one at a time, each started once, and its verdicts."""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Protocol
from uuid import uuid4

import pytest

from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.model import DataSource
from stackroom.ports.ingestion import Busy, DocumentDetail, IngestionJobs, Job, JobState
from tests.fakes.pipeline import FakeBedrock, FakeClock
from tests.simulator.world import World, eventually

UNKNOWN = DocumentDetail(status="NOT_FOUND", updated_at=None)


class Base(Protocol):
    """Jobs, and a knowledge base with two data sources to run them on."""

    @property
    def port(self) -> IngestionJobs: ...

    @property
    def sources(self) -> tuple[DataSource, DataSource]: ...

    def put(self, name: str) -> str:
        """A file below the first data source; answers its URI."""
        ...

    def end(self, job: Job) -> Job:
        """The job once it is over."""
        ...


@dataclass(frozen=True)
class FakeBase:
    port: FakeBedrock
    sources: tuple[DataSource, DataSource]

    def put(self, name: str) -> str:
        self.port.say(name, "INDEXED")
        return f"s3://docs/{name}"

    def end(self, job: Job) -> Job:
        self.port.finish(job.job_id)
        return self.port.jobs[job.job_id]


@dataclass(frozen=True)
class SimulatedBase:
    port: BedrockIngestionJobs
    sources: tuple[DataSource, DataSource]
    prefix: str
    world: World

    def put(self, name: str) -> str:
        return self.world.put(f"{self.prefix}{name}", f"The text of {name}")

    def end(self, job: Job) -> Job:
        ended: Job = eventually(lambda: self._if_over(job))
        return ended

    def _if_over(self, job: Job) -> Job | None:
        found = self.port.get(self.sources[0], job.job_id)
        return found if found and found.state is not JobState.RUNNING else None


@pytest.fixture(params=["fake", pytest.param("bedrock", marks=pytest.mark.processes)])
def base(request: pytest.FixtureRequest) -> Base:
    if request.param == "fake":
        first, second = (
            DataSource(knowledge_base_id="KB1", data_source_id=f"DS{number}") for number in (1, 2)
        )
        return FakeBase(FakeBedrock(FakeClock()), (first, second))
    world: World = request.getfixturevalue("simulated")
    prefix = f"{uuid4().hex}/"
    knowledge_base = world.knowledge_base()
    first, second = (
        DataSource(
            knowledge_base_id=knowledge_base,
            data_source_id=world.data_source(knowledge_base, under),
        )
        for under in (prefix, f"other-{prefix}")
    )
    return SimulatedBase(BedrockIngestionJobs(client=world.agent), (first, second), prefix, world)


def token(name: str, base: Base) -> str:
    return sha256(f"{name} {base.sources[0]}".encode()).hexdigest()


def start(base: Base, name: str = "run-1") -> Job:
    """Once the rate of starts, which all tests share, allows it."""

    def started() -> Job | None:
        job = base.port.start(base.sources[0], token=token(name, base), description=name)
        return job if isinstance(job, Job) else None

    job: Job = eventually(started)
    return job


def refusal(base: Base, source: DataSource) -> Busy | None:
    """Why one more job can't start, apart from the rate of starts."""
    answer = base.port.start(source, token=token("run-2", base), description="run-2")
    assert isinstance(answer, Busy)
    return None if answer.why.startswith("Throttling") else answer


def test_a_started_job_runs_and_is_read_by_its_id_and_answered_to_a_start_that_is_repeated(
    base: Base,
) -> None:
    job = start(base)

    found = base.port.get(base.sources[0], job.job_id)
    again = start(base)

    assert job.state is JobState.RUNNING
    assert found is not None
    assert (found.job_id, found.started_at) == (job.job_id, job.started_at)
    assert again.job_id == job.job_id
    assert base.port.get(base.sources[0], "JOB0000000") is None


def test_a_knowledge_base_is_busy_while_a_job_runs_on_any_of_its_data_sources(base: Base) -> None:
    for number in range(60):  # enough to be at work when the rate allows another start
        base.put(f"{number}.txt")
    job = start(base)

    first, second = (eventually(partial(refusal, base, source)) for source in base.sources)

    assert first.why.startswith("ConflictException")
    assert second.why.startswith("ConflictException")
    assert base.end(job).state is JobState.COMPLETE
    assert start(base, "run-3").job_id != job.job_id


def test_a_job_is_found_by_its_description_on_its_own_data_source(base: Base) -> None:
    job = start(base, "cat-1 run 1 round 0")

    found = base.port.running(base.sources[0], description="cat-1 run 1 round 0")

    assert found is not None
    assert found.job_id == job.job_id
    assert base.port.running(base.sources[0], description="cat-1 run 1 round 1") is None
    assert base.port.running(base.sources[1], description="cat-1 run 1 round 0") is None


def test_a_job_says_of_a_document_what_became_of_it_and_stopping_it_then_changes_nothing(
    base: Base,
) -> None:
    uri = base.put("report.txt")
    job = start(base)
    base.end(job)

    base.port.stop(base.sources[0], job.job_id)

    found = base.port.get(base.sources[0], job.job_id)
    assert found is not None
    assert found.state is JobState.COMPLETE
    verdict = base.port.details(base.sources[0], [uri])[uri]
    assert verdict.status == "INDEXED"
    assert verdict.updated_at is not None
    assert verdict.updated_at >= job.started_at


@pytest.mark.parametrize("others", [0, 60])  # few are asked for one by one, many are listed
def test_a_document_that_the_knowledge_base_does_not_know_is_not_found(
    base: Base, others: int
) -> None:
    uri = base.put("report.txt")
    base.end(start(base))
    unknown = [uri.replace("report", f"unknown-{number}") for number in range(others + 1)]

    verdicts = base.port.details(base.sources[0], [uri, *unknown])

    assert {verdicts.get(each, UNKNOWN) for each in unknown} == {UNKNOWN}
    assert verdicts[uri].status == "INDEXED"
    assert base.port.details(base.sources[0], []) == {}
