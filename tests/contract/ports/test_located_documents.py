"""What every `LocatedDocuments` promises: nothing before the first job, and only what it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from uuid import uuid4

import pytest

from stackroom.aws.direct_documents import BedrockLocatedDocuments
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.errors import DataSourceNotSynced
from stackroom.model import DataSource
from stackroom.ports.ingestion import (
    Busy,
    DirectDocuments,
    IngestionJobs,
    Job,
    JobState,
    LocatedDocuments,
    Submission,
)
from tests.fakes.located import FakeLocatedDocuments
from tests.fakes.pipeline import FakeBedrock, FakeClock
from tests.simulator.world import World, eventually


@dataclass(frozen=True)
class Base:
    """Neither data source has ever been synced; `uri` is of an object that belongs to one."""

    port: LocatedDocuments
    jobs: IngestionJobs
    source: DataSource
    other: DataSource
    uri: str
    end: Callable[[Job], None]

    @property
    def documents(self) -> DirectDocuments:
        return self.port.at({"doc-1": self.uri})

    def token(self, name: str) -> str:
        return sha256(f"{name} {self.source}".encode()).hexdigest()


@pytest.fixture(params=["fake", pytest.param("bedrock", marks=pytest.mark.processes)])
def base(request: pytest.FixtureRequest) -> Base:
    if request.param == "fake":
        bedrock = FakeBedrock(FakeClock())
        return Base(
            FakeLocatedDocuments(bedrock),
            bedrock,
            *sources("KB1", "DS1", "DS2"),
            "s3://docs/a.txt",
            lambda job: bedrock.finish(job.job_id),
        )
    world: World = request.getfixturevalue("simulated")
    prefix, home = f"{uuid4().hex}/", world.knowledge_base()
    jobs = BedrockIngestionJobs(client=world.agent)
    source, other = sources(
        home, world.data_source(home, prefix), world.data_source(home, f"other-{prefix}")
    )

    def is_complete(job: Job) -> bool:
        found = jobs.get(source, job.job_id)
        return found is not None and found.state is JobState.COMPLETE

    return Base(
        BedrockLocatedDocuments(client=world.agent),
        jobs,
        source,
        other,
        world.put(f"{prefix}a.txt", "A text", {"user_id": "alice"}),
        lambda job: eventually(lambda: is_complete(job)),
    )


def sources(knowledge_base: str, first: str, second: str) -> tuple[DataSource, DataSource]:
    return (
        DataSource(knowledge_base_id=knowledge_base, data_source_id=first),
        DataSource(knowledge_base_id=knowledge_base, data_source_id=second),
    )


def synced(base: Base) -> None:
    def started() -> Job | None:
        job = base.jobs.start(base.source, token=base.token("job"), description="run-1")
        return job if isinstance(job, Job) else None

    base.end(eventually(started))


def ingested(base: Base) -> bool:
    submission = Submission(document_id="doc-1", uri=base.uri, attributes={})
    answer = base.documents.ingest(base.source, [submission], token=base.token("ingest"))
    return not isinstance(answer, Busy)


def test_a_data_source_takes_direct_calls_once_a_job_of_it_was_complete(base: Base) -> None:
    for call in (
        lambda: ingested(base),
        lambda: base.documents.delete(base.source, ["doc-1"], token=base.token("delete")),
        lambda: base.documents.details(base.source, ["doc-1"]),
    ):
        with pytest.raises(DataSourceNotSynced, match=base.source.data_source_id):
            call()
    before = base.jobs.is_synced(base.source)
    synced(base)

    assert not before
    assert base.jobs.is_synced(base.source)
    assert eventually(lambda: ingested(base))


def test_another_data_source_of_the_knowledge_base_stays_as_it_was(base: Base) -> None:
    synced(base)

    assert base.jobs.is_synced(base.source)
    assert not base.jobs.is_synced(base.other)


@pytest.mark.parametrize(("length", "is_taken"), [(128, True), (129, False)])
def test_it_takes_uris_of_128_characters(base: Base, length: int, is_taken: bool) -> None:
    assert base.port.takes(f"s3://{'é' * length}") is is_taken
