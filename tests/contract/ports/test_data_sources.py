"""What every `DataSources` promises: so many to a knowledge base, each made once."""

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Protocol
from uuid import uuid4

import pytest

from stackroom.aws.data_sources import BedrockDataSources
from stackroom.capacity import CAPACITIES
from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model import DataSource, DataSourceType
from stackroom.ports.data_sources import DataSources
from tests.fakes.pipeline import FakeBedrock, FakeClock
from tests.simulator.managed import managed
from tests.simulator.world import World, eventually

# Data sources of a knowledge base [AWS General Reference: Amazon Bedrock quotas], those that are
# nobody's own among them.
LIMITS = {each: capacity.own_sources + 1 for each, capacity in CAPACITIES.items()}


class Pool(Protocol):
    """Data sources, and empty knowledge bases to make them on, which take so many."""

    @property
    def limit(self) -> int: ...

    @property
    def port(self) -> DataSources: ...

    def knowledge_base(self) -> str: ...


@dataclass(frozen=True)
class FakePool:
    port: FakeBedrock
    limit: int = LIMITS["BEDROCK"]

    def knowledge_base(self) -> str:
        return f"KB-{uuid4().hex}"


@dataclass(frozen=True)
class SimulatedPool:
    world: World
    limit: int = LIMITS["BEDROCK"]

    @property
    def port(self) -> BedrockDataSources:
        return BedrockDataSources(client=self.world.agent, bucket=self.world.bucket)

    def knowledge_base(self) -> str:
        return self.world.knowledge_base()


@dataclass(frozen=True)
class ManagedPool:
    world: World
    limit: int = LIMITS["MANAGED"]
    made: set[str] = field(default_factory=set)

    @property
    def port(self) -> BedrockDataSources:
        return BedrockDataSources(
            client=self.world.agent,
            bucket=self.world.bucket,
            managed=self.made,
            bucket_owner="123456789012",
        )

    def knowledge_base(self) -> str:
        knowledge_base = managed(self.world)
        self.made.add(knowledge_base)
        return knowledge_base


@pytest.fixture(
    params=[
        "fake",
        pytest.param("bedrock", marks=pytest.mark.processes),
        pytest.param("managed", marks=pytest.mark.processes),
    ]
)
def pool(request: pytest.FixtureRequest) -> Pool:
    if request.param == "fake":
        return FakePool(FakeBedrock(FakeClock(), source_limit=LIMITS["BEDROCK"]))
    world: World = request.getfixturevalue("simulated")
    return SimulatedPool(world) if request.param == "bedrock" else ManagedPool(world)


def create(pool: Pool, knowledge_base: str, name: str, token: str = "first") -> DataSource:
    """Once the rate of creations allows it."""

    def made() -> DataSource | None:
        try:
            return pool.port.create(
                knowledge_base,
                name,
                source_type=DataSourceType.S3,
                prefix=f"alice/{name}/",
                token=sha256(f"{token} {knowledge_base} {name}".encode()).hexdigest(),
            )
        except KnowledgeBaseThrottled:
            return None

    source: DataSource = eventually(made)
    return source


def removed(pool: Pool, source: DataSource) -> bool:
    try:
        return pool.port.remove(source.knowledge_base_id, source.data_source_id)
    except KnowledgeBaseThrottled:  # two deletions a second
        return False


def test_a_data_source_is_found_by_its_name_on_its_knowledge_base_and_becomes_available(
    pool: Pool,
) -> None:
    here, elsewhere = pool.knowledge_base(), pool.knowledge_base()

    created = create(pool, here, "cat-1")

    assert (created.knowledge_base_id, created.type) == (here, DataSourceType.S3)
    assert not created.is_shared
    assert pool.port.find(here, "cat-1") == created
    assert pool.port.find(here, "cat-2") is None
    assert pool.port.find(elsewhere, "cat-1") is None
    assert eventually(lambda: pool.port.is_available(here, created.data_source_id))


def test_a_creation_whose_answer_got_lost_is_answered_again_by_its_token_or_its_name(
    pool: Pool,
) -> None:
    here = pool.knowledge_base()
    first = create(pool, here, "cat-1", token="yesterday")

    assert create(pool, here, "cat-1", token="yesterday") == first
    assert create(pool, here, "cat-1", token="today") == first


def test_a_knowledge_base_has_so_many_data_sources_and_the_next_has_its_own(pool: Pool) -> None:
    here, elsewhere = pool.knowledge_base(), pool.knowledge_base()
    made = [create(pool, here, f"cat-{number}") for number in range(pool.limit)]

    with pytest.raises(DataSourceLimit):
        create(pool, here, "cat-999")

    assert pool.port.find(here, "cat-999") is None
    assert create(pool, here, f"cat-{pool.limit - 1}") == made[-1]  # it is full, and has that one
    assert create(pool, elsewhere, "cat-999")


def test_all_data_sources_of_a_knowledge_base_are_listed_by_name(pool: Pool) -> None:
    here, elsewhere = pool.knowledge_base(), pool.knowledge_base()
    made = {each: create(pool, here, each).data_source_id for each in ("cat-1", "cat-2")}
    create(pool, elsewhere, "cat-3")

    assert pool.port.all(here) == made
    assert pool.port.all(pool.knowledge_base()) == {}


def test_a_removed_data_source_is_found_no_more_and_makes_room_once_it_is_gone(
    pool: Pool,
) -> None:
    here = pool.knowledge_base()
    made = [create(pool, here, f"cat-{number}") for number in range(pool.limit)]

    at_once = pool.port.remove(here, made[0].data_source_id)
    found = pool.port.find(here, "cat-0")
    eventually(lambda: removed(pool, made[0]))

    assert not at_once
    assert found is None
    assert pool.port.find(here, "cat-0") is None
    assert len(pool.port.all(here)) == pool.limit - 1
    assert create(pool, here, "cat-999") not in made


def test_removing_what_is_gone_or_never_was_is_safe(pool: Pool) -> None:
    here = pool.knowledge_base()
    created = create(pool, here, "cat-1")
    eventually(lambda: removed(pool, created))

    assert removed(pool, created)
    assert removed(pool, replace(created, data_source_id="DS00000000"))


def test_a_data_source_is_made_anew_once_the_one_of_its_name_is_gone(pool: Pool) -> None:
    here = pool.knowledge_base()
    first = create(pool, here, "cat-1")
    pool.port.remove(here, first.data_source_id)

    second = create(pool, here, "cat-1", token="second")

    assert second != first
    assert pool.port.all(here) == {"cat-1": second.data_source_id}
