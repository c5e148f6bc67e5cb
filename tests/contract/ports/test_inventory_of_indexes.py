"""What every `Inventory` promises of knowledge bases: their data sources and what each lists."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import pytest

from stackroom.audits.sources import known_sources
from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.aws.inventory import AwsInventory
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import DataSource, DataSourceType, PoolMember
from stackroom.ports.ingestion import Busy, DirectDocuments, JobState, Submission
from stackroom.ports.inventory import Inventory, ListedDocument
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.inventory import FakeInventory
from tests.fakes.pipeline import FakeBucket, FakeCatalogs, FakeDocuments
from tests.simulator.managed import described, managed, s3, source_request
from tests.simulator.world import World, eventually

PREFIX = "alice/research/"
NAME = "research-cat-0123456789abcdef01234567"


class Base(Protocol):
    """A knowledge base with an S3 data source over `PREFIX` and a CUSTOM one."""

    @property
    def port(self) -> Inventory: ...

    @property
    def own(self) -> DataSource: ...

    @property
    def shared(self) -> DataSource: ...

    @property
    def direct(self) -> DirectDocuments: ...

    def sync(self, *keys: str) -> None: ...

    def uri_of(self, key: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class FakeBase:
    port: FakeInventory
    own: DataSource
    shared: DataSource
    direct: FakeBedrock

    def sync(self, *keys: str) -> None:
        job = self.direct.start(self.own, token="t", description="d")
        assert not isinstance(job, Busy)
        for key in keys:
            self.direct.say(key, "INDEXED")
        self.direct.finish(job.job_id, JobState.COMPLETE)

    def uri_of(self, key: str) -> str:
        return FakeBucket(FakeClock()).uri_of(key)


@dataclass(frozen=True, kw_only=True)
class SimulatedBase:
    port: AwsInventory
    own: DataSource
    shared: DataSource
    direct: BedrockDirectDocuments
    world: World

    def sync(self, *keys: str) -> None:
        for key in keys:
            self.world.put(key, "text")
        self.world.sync(self.own.knowledge_base_id, self.own.data_source_id)

    def uri_of(self, key: str) -> str:
        return f"s3://{self.world.bucket}/{key}"


@pytest.fixture(
    params=[
        "fake",
        pytest.param("bedrock", marks=pytest.mark.processes),
        pytest.param("managed", marks=pytest.mark.processes),
    ]
)
def base(request: pytest.FixtureRequest) -> Base:
    if request.param == "fake":
        return _fake()
    simulated: World = request.getfixturevalue("simulated")
    return _simulated(simulated) if request.param == "bedrock" else _managed(simulated)


def _fake() -> FakeBase:
    clock = FakeClock()
    bedrock = FakeBedrock(clock)
    own = bedrock.create("KB1", NAME, source_type=DataSourceType.S3, prefix=PREFIX, token="t")
    inventory = FakeInventory(
        bucket=FakeBucket(clock),
        catalogs=FakeCatalogs(),
        documents=FakeDocuments(),
        bedrock=bedrock,
        pool=(PoolMember(knowledge_base_id="KB1", data_source_id="SHARED1"),),
        prefixes={own.data_source_id: PREFIX},
    )
    return FakeBase(
        port=inventory,
        own=own,
        shared=_custom("KB1", "SHARED1"),
        direct=bedrock,
    )


def _simulated(simulated: World) -> SimulatedBase:
    world = World(simulated.endpoint, simulated.s3_endpoint, patient=True)
    knowledge_base = world.knowledge_base()
    custom = {"type": "CUSTOM"}
    made = world.data_source(knowledge_base, PREFIX, name=NAME)
    shared = world.data_source(knowledge_base, name="shared", dataSourceConfiguration=custom)
    return _of(world, knowledge_base, made, shared)


def _managed(simulated: World) -> SimulatedBase:
    world = World(simulated.endpoint, simulated.s3_endpoint, patient=True)
    knowledge_base = managed(world)
    made = _connected(world, knowledge_base, s3(world, PREFIX), NAME)
    shared = _connected(world, knowledge_base, {"type": "CUSTOM", "version": "1"}, "shared")
    return _of(world, knowledge_base, made, shared, managed=frozenset({knowledge_base}))


def _connected(world: World, knowledge_base: str, parameters: object, name: str) -> str:
    """A data source of that name, once it takes documents."""
    request = {**source_request(knowledge_base, parameters), "name": name}
    made = str(world.agent.create_data_source(**request)["dataSource"]["dataSourceId"])
    eventually(lambda: described(world, knowledge_base, made)["status"] == "AVAILABLE")
    return made


def _of(
    world: World,
    knowledge_base: str,
    made: str,
    shared: str,
    managed: frozenset[str] = frozenset(),
) -> SimulatedBase:
    return SimulatedBase(
        port=AwsInventory(
            s3=world.s3,
            dynamodb=None,
            bedrock_agent=world.agent,
            bucket=world.bucket,
            catalog_table="",
            managed=managed,
        ),
        own=DataSource(knowledge_base_id=knowledge_base, data_source_id=made),
        shared=_custom(knowledge_base, shared),
        direct=BedrockDirectDocuments(client=world.agent),
        world=world,
    )


def _custom(knowledge_base: str, data_source: str) -> DataSource:
    return DataSource(
        knowledge_base_id=knowledge_base,
        data_source_id=data_source,
        type=DataSourceType.CUSTOM,
    )


def listed(base: Base, source: DataSource) -> list[ListedDocument] | None:
    """Of all pages; None if it lists nothing yet."""
    found: list[ListedDocument] = []
    page = base.port.indexed(source, None)
    while page is not None:
        found += page.items
        if page.next is None:
            return found
        page = base.port.indexed(source, page.next)
    return None


def test_data_sources_are_known_with_their_kind_name_and_prefix(base: Base) -> None:
    found = {
        each.source.data_source_id: each
        for each in known_sources(base.port, base.own.knowledge_base_id)
    }

    own, shared = found[base.own.data_source_id], found[base.shared.data_source_id]
    assert (own.source, own.name, own.prefix) == (base.own, NAME, PREFIX)
    assert own.status == shared.status == "AVAILABLE"
    assert (shared.source, shared.prefix) == (base.shared, "")


def test_an_s3_data_source_lists_nothing_before_its_first_sync(base: Base) -> None:
    assert base.port.indexed(base.own, None) is None


def test_an_s3_data_source_lists_its_documents_by_uri(base: Base) -> None:
    keys = [f"{PREFIX}{number}.txt" for number in range(3)]
    base.sync(*keys)

    found = listed(base, base.own)

    assert found is not None
    assert sorted(each.identifier for each in found) == [base.uri_of(key) for key in keys]
    assert {each.detail.status for each in found} == {"INDEXED"}
    assert all(each.detail.updated_at is not None for each in found)


def test_a_synced_data_source_may_list_nothing(base: Base) -> None:
    base.sync()

    assert listed(base, base.own) == []


def test_a_custom_data_source_lists_documents_by_our_ids(base: Base) -> None:
    base.sync(f"{PREFIX}1.txt")
    submission = Submission(
        document_id="doc-1",
        uri=base.uri_of(f"{PREFIX}1.txt"),
        attributes={"document_id": "doc-1"},
    )
    token = sha256(base.shared.data_source_id.encode()).hexdigest()
    eventually(lambda: _is_accepted(base, submission, token))

    found = listed(base, base.shared)

    assert found is not None
    assert [each.identifier for each in found] == ["doc-1"]


def _is_accepted(base: Base, submission: Submission, token: str) -> bool:
    try:
        return not isinstance(base.direct.ingest(base.shared, [submission], token=token), Busy)
    except KnowledgeBaseThrottled:
        return False
