"""Knowledge bases for the ports of ingestion: in memory, or as simulated here, of either type."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from simulator.tests.managed import CUSTOM as CUSTOM_CONNECTOR
from simulator.tests.managed import described, managed, s3, source_request
from simulator.tests.world import CUSTOM, World, eventually
from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DataSourceType, PoolMember
from stackroom.runs.bedrock_calls import Busy, DirectDocuments, IngestionJobs, Job, JobState
from stackroom.runs.inventory import Inventory
from tests.fakes.inventory import FakeInventory
from tests.fakes.pipeline import FakeBedrock, FakeBucket, FakeCatalogs, FakeClock, FakeDocuments

PREFIX = "alice/research/"
NAME = "research-cat-0123456789abcdef01234567"

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Home:
    """
    A knowledge base with two data sources for jobs, one of them over `PREFIX`, and a CUSTOM one.

    `put` makes a file of a name below that prefix and answers its URI, `wait` lets time pass.
    """

    jobs: IngestionJobs
    direct: DirectDocuments
    inventory: Inventory
    crawled: DataSource
    beside: DataSource
    custom: DataSource
    put: Callable[[str], str]
    wait: Callable[[], None]

    def token(self, name: str) -> str:
        return sha256(f"{name} {self.custom}".encode()).hexdigest()

    def once(self, ask: Callable[[], Answer | Busy | None]) -> Answer:
        """Return the answer once shared rates and work in progress allow it."""

        def tried() -> Answer | None:
            self.wait()
            with suppress(KnowledgeBaseThrottled):
                answer = ask()
                return None if isinstance(answer, Busy) else answer
            return None

        answer: Answer = eventually(tried)
        return answer

    def start(self, name: str = "run-1") -> Job:
        token = self.token(name)
        return self.once(lambda: self.jobs.start(self.crawled, token=token, description=name))

    def end(self, job: Job) -> Job:
        """The job once it is over."""

        def over() -> Job | None:
            found = self.jobs.get(self.crawled, job.job_id)
            return found if found and found.state is not JobState.RUNNING else None

        return self.once(over)


def in_memory() -> Home:
    clock = FakeClock()
    bedrock, bucket = FakeBedrock(clock), FakeBucket(clock)

    def source(name: str, prefix: str) -> DataSource:
        of_s3 = DataSourceType.S3
        return bedrock.create("KB1", name, source_type=of_s3, prefix=prefix, token=name)

    def put(name: str) -> str:
        bucket.upload(f"{PREFIX}{name}")
        return bucket.uri_of(f"{PREFIX}{name}")

    def wait() -> None:
        clock.pass_by(1)
        for job_id, job in bedrock.jobs.items():
            if job.state is JobState.RUNNING and clock() > job.started_at:
                bedrock.finish(job_id)
                for key in bucket.objects:
                    bedrock.say(key, "INDEXED")

    inventory = FakeInventory(
        bucket=bucket,
        catalogs=FakeCatalogs(),
        documents=FakeDocuments(),
        bedrock=bedrock,
        pool=(PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1"),),
    )
    return Home(
        jobs=bedrock,
        direct=bedrock,
        inventory=inventory,
        crawled=source(NAME, PREFIX),
        beside=source("beside", "beside/"),
        custom=_custom("KB1", "SHARED1"),
        put=put,
        wait=wait,
    )


def as_simulated(simulated: World, *, is_managed: bool) -> Home:
    world = World(simulated.endpoint, simulated.s3_endpoint, patient=True)
    knowledge_base = managed(world) if is_managed else world.knowledge_base()

    def source(name: str, prefix: str) -> DataSource:
        if is_managed:
            made = _connected(world, knowledge_base, s3(world, prefix), name)
        else:
            made = world.data_source(knowledge_base, prefix, name=name)
        return DataSource(knowledge_base_id=knowledge_base, data_source_id=made)

    if is_managed:
        custom = _connected(world, knowledge_base, CUSTOM_CONNECTOR, "shared")
    else:
        custom = world.data_source(knowledge_base, name="shared", dataSourceConfiguration=CUSTOM)
    inventory = AwsInventory(
        s3=world.s3,
        dynamodb=None,
        bedrock_agent=world.agent,
        bucket=world.bucket,
        catalog_table="",
        managed=frozenset({knowledge_base} if is_managed else ()),
    )
    return Home(
        jobs=BedrockIngestionJobs(client=simulated.agent),
        direct=BedrockDirectDocuments(client=simulated.agent),
        inventory=inventory,
        crawled=source(NAME, PREFIX),
        beside=source("beside", "beside/"),
        custom=_custom(knowledge_base, custom),
        put=lambda name: world.put(f"{PREFIX}{name}", f"The text of {name}"),
        wait=lambda: None,
    )


def _connected(world: World, knowledge_base: str, parameters: object, name: str) -> str:
    """A data source of that name, once it takes documents."""
    request = {**source_request(knowledge_base, parameters), "name": name}
    made = str(world.agent.create_data_source(**request)["dataSource"]["dataSourceId"])
    eventually(lambda: described(world, knowledge_base, made)["status"] == "AVAILABLE")
    return made


def _custom(knowledge_base: str, data_source: str) -> DataSource:
    return DataSource(
        knowledge_base_id=knowledge_base, data_source_id=data_source, type=DataSourceType.CUSTOM
    )
