"""How a data source goes, what it leaves behind, and what is refused meanwhile."""

from collections.abc import Callable

from tests.simulator.holding import holds
from tests.simulator.world import (
    CUSTOM,
    World,
    data_source_request,
    eventually,
    inline,
    refused,
)


@holds("data-source.being-deleted", "data-source.deletion")
def test_a_data_source_that_is_being_deleted_takes_no_more_work(
    world_at: Callable[..., World],
) -> None:
    world = world_at(1, patient=True)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    request = {**data_source_request(knowledge_base, world.bucket), **key}
    world.agent.delete_data_source(**key)

    errors = [
        refused(world.agent.start_ingestion_job, **key),
        refused(world.agent.update_data_source, **request),
        refused(world.agent.delete_data_source, **key),
        refused(
            world.agent.ingest_knowledge_base_documents,
            **key,
            documents=[inline("doc", "Text.", a="b")],
        ),
        refused(
            world.agent.delete_knowledge_base_documents,
            **key,
            documentIdentifiers=[{"dataSourceType": "CUSTOM", "custom": {"id": "doc"}}],
        ),
    ]
    during = world.agent.get_data_source(**key)["dataSource"]["status"]

    assert [error["Code"] for error in errors] == ["ConflictException"] * 5
    assert during == "DELETING"
    gone = eventually(lambda: _refusal(world, key))
    assert gone["Code"] == "ResourceNotFoundException"


@holds("data-source.has-job")
def test_a_data_source_is_not_deleted_while_its_job_runs(world_at: Callable[..., World]) -> None:
    world = world_at(5, patient=True)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    job = world.start(knowledge_base, source)

    error = refused(world.agent.delete_data_source, **key)
    world.finished(job)
    deleted = world.agent.delete_data_source(**key)

    assert error["Code"] == "ValidationException"
    assert error["Message"] == "There is at least one running ingestion job for this data source"
    assert deleted["status"] == "DELETING"


@holds("data-source.retained")
def test_retained_vectors_stay_in_the_index_and_out_of_the_knowledge_base(
    world: World,
) -> None:
    index = world.index()
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base, dataDeletionPolicy="RETAIN")
    world.put("tea.txt", "Green tea is brewed at eighty degrees.")
    world.sync(knowledge_base, source)
    eventually(lambda: world.search(knowledge_base, "tea"))

    world.agent.delete_data_source(knowledgeBaseId=knowledge_base, dataSourceId=source)

    eventually(lambda: world.search(knowledge_base, "tea") == [])
    [left] = world.s3vectors.list_vectors(indexArn=index, returnMetadata=True)["vectors"]
    assert left["metadata"]["AMAZON_BEDROCK_TEXT"] == "Green tea is brewed at eighty degrees."


@holds("data-source.replaced")
def test_an_update_replaces_all_that_a_data_source_is(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(
        knowledge_base, "shelf/", description="books", dataDeletionPolicy="RETAIN"
    )
    request = data_source_request(knowledge_base, world.bucket)

    world.agent.update_data_source(**request, dataSourceId=source)

    found = world.agent.get_data_source(knowledgeBaseId=knowledge_base, dataSourceId=source)
    replaced = found["dataSource"]
    assert replaced["name"] == request["name"]
    assert replaced["dataDeletionPolicy"] == "DELETE"
    assert "description" not in replaced
    assert "inclusionPrefixes" not in replaced["dataSourceConfiguration"]["s3Configuration"]


def _refusal(world: World, key: dict[str, str]) -> dict[str, str] | None:
    listed = world.agent.list_data_sources(knowledgeBaseId=key["knowledgeBaseId"])
    if listed["dataSourceSummaries"]:
        return None
    return refused(world.agent.get_data_source, **key)
