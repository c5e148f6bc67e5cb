"""Every `DataSources` limits data sources for each knowledge base, and makes each once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from uuid import uuid4

import pytest

from simulator.tests.managed import managed
from simulator.tests.world import World, eventually
from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources
from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.capacity import CAPACITIES
from stackroom.runs.placement import DataSources
from tests.fakes.pipeline import FakeBedrock, FakeClock

# Data sources of a knowledge base [AWS General Reference: Amazon Bedrock quotas], those that are
# nobody's own among them.
LIMITS = {each: capacity.own_sources + 1 for each, capacity in CAPACITIES.items()}


@dataclass(frozen=True)
class Pool:
    """Data sources, and empty knowledge bases to make them on, which take so many."""

    port: DataSources
    limit: int
    knowledge_base: Callable[[], str]


@pytest.fixture(
    params=[
        "fake",
        pytest.param("bedrock", marks=pytest.mark.processes),
        pytest.param("managed", marks=pytest.mark.processes),
    ]
)
def pool(request: pytest.FixtureRequest) -> Pool:
    limit = LIMITS["BEDROCK"]
    if request.param == "fake":
        fake = FakeBedrock(FakeClock(), source_limit=limit)
        return Pool(fake, limit, lambda: f"KB-{uuid4().hex}")
    world: World = request.getfixturevalue("simulated")
    if request.param == "bedrock":
        port = BedrockDataSources(client=world.agent, bucket=world.bucket)
        return Pool(port, limit, world.knowledge_base)
    made: set[str] = set()

    def knowledge_base() -> str:
        made.add(found := managed(world))
        return found

    port = BedrockDataSources(
        client=world.agent, bucket=world.bucket, managed=made, bucket_owner="123456789012"
    )
    return Pool(port, LIMITS["MANAGED"], knowledge_base)


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


def test_data_source_is_created_once_found_by_name_and_becomes_available(
    pool: Pool,
) -> None:
    here, elsewhere = pool.knowledge_base(), pool.knowledge_base()

    created = create(pool, here, "cat-1")
    other = create(pool, here, "cat-2")

    assert (created.knowledge_base_id, created.type) == (here, DataSourceType.S3)
    assert not created.is_shared
    assert pool.port.find(here, "cat-1") == created
    assert pool.port.find(here, "cat-3") is None
    assert pool.port.find(elsewhere, "cat-1") is None
    assert pool.port.all(here) == {"cat-1": created.data_source_id, "cat-2": other.data_source_id}
    assert pool.port.all(elsewhere) == {}
    assert eventually(lambda: pool.port.is_available(here, created.data_source_id))
    # Whose answer got lost is answered again, by its token or its name.
    assert [create(pool, here, "cat-1", token=each) for each in ("first", "other")] == [created] * 2


def test_knowledge_base_refuses_data_sources_over_limit_until_one_is_gone(
    pool: Pool,
) -> None:
    here, elsewhere = pool.knowledge_base(), pool.knowledge_base()
    made = [create(pool, here, f"cat-{number}") for number in range(pool.limit)]
    with pytest.raises(DataSourceLimit):
        create(pool, here, "cat-999")
    refused = pool.port.find(here, "cat-999")
    again = create(pool, here, f"cat-{pool.limit - 1}")  # it is full, and has that one
    there = create(pool, elsewhere, "cat-999")

    at_once = pool.port.remove(here, made[0].data_source_id)
    found = pool.port.find(here, "cat-0")
    eventually(lambda: removed(pool, made[0]))

    assert refused is None
    assert again == made[-1]
    assert there.knowledge_base_id == elsewhere
    assert not at_once
    assert found is pool.port.find(here, "cat-0") is None
    assert len(pool.port.all(here)) == pool.limit - 1
    assert create(pool, here, "cat-999") not in made


def test_removing_missing_data_source_is_safe_and_its_name_is_reusable(
    pool: Pool,
) -> None:
    here = pool.knowledge_base()
    first = create(pool, here, "cat-1")
    pool.port.remove(here, first.data_source_id)

    second = create(pool, here, "cat-1", token="second")  # once the first is gone

    assert second != first
    assert removed(pool, first)
    assert removed(pool, replace(first, data_source_id="DS00000000"))
    assert pool.port.all(here) == {"cat-1": second.data_source_id}
