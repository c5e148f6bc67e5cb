"""Data sources: five per knowledge base, unique names, replaced whole, deleted later."""

from collections.abc import Callable

from tests.simulator.holding import holds
from tests.simulator.world import World, data_source_request, eventually, refused


@holds("data-source.per-knowledge-base")
def test_a_knowledge_base_takes_five_data_sources(world: World) -> None:
    knowledge_base = world.knowledge_base()
    for _ in range(5):
        world.data_source(knowledge_base)

    error = refused(
        world.agent.create_data_source, **data_source_request(knowledge_base, world.bucket)
    )

    assert error["Code"] == "ServiceQuotaExceededException"


@holds("data-source.name-taken")
def test_a_name_is_taken_once_per_knowledge_base(world: World) -> None:
    knowledge_base, other = world.knowledge_base(), world.knowledge_base()
    world.data_source(knowledge_base, name="ds-catalog")

    request = data_source_request(knowledge_base, world.bucket)
    error = refused(world.agent.create_data_source, **{**request, "name": "ds-catalog"})

    assert error["Code"] == "ConflictException"
    assert world.data_source(other, name="ds-catalog")


@holds("request.client-token")
def test_a_repeated_client_token_makes_one_data_source(world: World) -> None:
    knowledge_base = world.knowledge_base()

    first = world.data_source(knowledge_base, clientToken="t" * 33)
    second = world.data_source(knowledge_base, clientToken="t" * 33)

    assert second == first
    listed = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)
    assert [source["dataSourceId"] for source in listed["dataSourceSummaries"]] == [first]


@holds("request.client-token")
def test_a_client_token_is_forgotten_after_ten_minutes(world_at: Callable[..., World]) -> None:
    world = world_at(2_000, patient=True)
    knowledge_base = world.knowledge_base()
    first = world.data_source(knowledge_base, clientToken="t" * 33)

    again = eventually(
        lambda: (made := world.data_source(knowledge_base, clientToken="t" * 33)) != first and made
    )

    listed = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
    assert {source["dataSourceId"] for source in listed} == {first, again}


@holds("model.inclusion-prefix")
def test_only_one_inclusion_prefix_is_allowed(world: World) -> None:
    request = data_source_request(world.knowledge_base(), world.bucket)
    request["dataSourceConfiguration"]["s3Configuration"]["inclusionPrefixes"] = ["a/", "b/"]

    error = refused(world.agent.create_data_source, **request)

    assert error["Code"] == "ValidationException"
    assert "inclusionPrefixes" in error["Message"]


@holds("request.not-simulated")
def test_what_is_not_simulated_is_refused_by_name(world: World) -> None:
    request = data_source_request(world.knowledge_base(), world.bucket)
    chunking = {"chunkingConfiguration": {"chunkingStrategy": "SEMANTIC"}}

    error = refused(
        world.agent.create_data_source, **{**request, "vectorIngestionConfiguration": chunking}
    )

    assert error["Code"] == "ValidationException"
    assert "SEMANTIC" in error["Message"]


@holds("data-source.chunking-immutable")
def test_the_chunking_of_a_data_source_never_changes(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    request = {**data_source_request(knowledge_base, world.bucket), "dataSourceId": source}
    chunking = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}

    error = refused(
        world.agent.update_data_source, **{**request, "vectorIngestionConfiguration": chunking}
    )
    updated = world.agent.update_data_source(**{**request, "dataDeletionPolicy": "RETAIN"})

    assert error["Code"] == "ValidationException"
    assert updated["dataSource"]["dataDeletionPolicy"] == "RETAIN"


@holds("data-source.deletion")
def test_a_deleted_data_source_goes_with_its_passages(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("tea.txt", "Green tea is brewed at eighty degrees.")
    world.sync(knowledge_base, source)
    eventually(lambda: world.search(knowledge_base, "tea"))

    deleted = world.agent.delete_data_source(knowledgeBaseId=knowledge_base, dataSourceId=source)

    assert deleted["status"] == "DELETING"
    eventually(
        lambda: (
            not world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
        )
    )
    assert world.search(knowledge_base, "tea") == []


@holds("data-source.deletion-failed")
def test_a_data_source_whose_index_is_gone_can_only_be_deleted_by_retaining(world: World) -> None:
    index = world.index()
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    world.s3vectors.delete_index(indexArn=index)
    world.agent.delete_data_source(**key)

    failed = eventually(
        lambda: (
            (found := world.agent.get_data_source(**key)["dataSource"])["status"]
            == "DELETE_UNSUCCESSFUL"
            and found
        )
    )
    request = data_source_request(knowledge_base, world.bucket)
    world.agent.update_data_source(**{**request, **key, "dataDeletionPolicy": "RETAIN"})
    world.agent.delete_data_source(**key)

    assert "RETAIN" in failed["failureReasons"][0]
    eventually(
        lambda: (
            not world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
        )
    )
