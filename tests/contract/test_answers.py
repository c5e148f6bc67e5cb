"""
Answering as the product does it, over Bedrock as it is simulated here: a model writes from what a
search found, by Retrieve or in the index itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from bedrock_kb_simulator.assumptions import Assumptions, CustomTells
from stackroom.aws.bedrock.converse import ConverseWriter
from stackroom.errors import NoResults
from stackroom.model.keys import catalog_id_of, document_id_of
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.model.records import Catalog
from stackroom.search.cited_answers import Answering
from stackroom.search.search import Retrieval
from tests.contract.stores.bedrock import Stocked, simulated
from tests.contract.stores.shelves import IDENTIFIED
from tests.fakes.knowledge_base import AllStaying
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps
from tests.fakes.usage import a_meter

pytestmark = pytest.mark.processes

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"
OPUS = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-7"
BY_RETRIEVE, DIRECTLY = "Retrieve", "S3 Vectors"
HERS, BOBS = catalog_id_of("alice", "cat-1"), catalog_id_of("bob", "cat-3")


@dataclass(frozen=True)
class World:
    """`way` is BY_RETRIEVE or DIRECTLY."""

    stocked: Stocked
    way: str = BY_RETRIEVE
    model: str = MODEL

    @property
    def answering(self) -> Answering:
        retrieval = Retrieval(
            pool={self.stocked.knowledge_base_id: self.store},
            catalogs=FakeCatalogs(),
            documents=AllStaying(),
            place_maps=FakePlaceMaps(),
        )
        writer = ConverseWriter(self.stocked.client("bedrock-runtime"), model_arn=self.model)
        return Answering(retrieval=retrieval, writer=writer, meter=a_meter())

    def scores(self, query: str, catalog: Catalog) -> dict[str, float]:
        """Of the search that is asked in this way, by text."""
        found = self.answering.retrieval.in_catalog(query, catalog, 5)
        return {each.text: each.score for each in found.results}

    @property
    def store(self) -> KnowledgeBase:
        is_direct = self.way == DIRECTLY
        return self.stocked.directly(Search.HYBRID) if is_direct else self.stocked.by_retrieve

    def catalog(self, catalog_id: str, user_id: str = "alice") -> Catalog:
        return self.stocked.catalog(catalog_id, user_id)

    def document_ids(self, catalog_id: str, *filenames: str) -> set[str]:
        if self.stocked.is_crawled:
            return {f"doc-{each}" for each in filenames}
        return {document_id_of(catalog_id, each) for each in filenames}


# How the documents came in, and by what Bedrock tells those of a CUSTOM data source.
CRAWLED = "crawled"
WAYS_IN = {
    "ingested directly": Assumptions(),
    "ingested directly, ids left out": Assumptions(custom_documents_tell_source=False),
    "ingested directly, texts told": Assumptions(custom_documents_tell=CustomTells.LOCATION),
    "ingested directly, nothing told": Assumptions(custom_documents_tell=CustomTells.NEITHER),
    CRAWLED: Assumptions(),
}


# By whom a document is known to an answer is told by how it came in; all else is as one of them.
each_way_in = pytest.mark.parametrize("shelf", WAYS_IN, indirect=True)


@pytest.fixture(scope="module", params=[CRAWLED])
def shelf(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with simulated(tmp_path_factory.mktemp("simulator"), WAYS_IN[request.param]) as made:
        is_crawled = request.param == CRAWLED
        yield World(made.stocked(IDENTIFIED) if is_crawled else made.stocked_directly(IDENTIFIED))


@pytest.fixture(params=[BY_RETRIEVE, DIRECTLY])
def world(request: pytest.FixtureRequest, shelf: World) -> World:
    return replace(shelf, way=request.param)


@each_way_in
def test_answer_cites_files_of_the_catalog_with_their_search_scores(world: World) -> None:
    catalog = world.catalog(HERS)

    answer = world.answering.ask("annual leave in rome.txt", catalog)

    scores = world.scores("annual leave in rome.txt", catalog)
    assert "no language model runs here" in answer.text
    assert [each.source.filename for each in answer.sources] == ["rome.txt", "berlin.txt"]
    assert {each.source.document_id for each in answer.sources} == world.document_ids(
        HERS, "berlin.txt", "rome.txt"
    )
    assert [each.relevance_score for each in answer.sources] == [
        scores[each.chunk_text] for each in answer.sources
    ]
    assert answer.guardrail_action == "NONE"


def test_model_that_refuses_temperature_answers(shelf: World) -> None:
    answering = replace(shelf, model=OPUS).answering

    answer = answering.ask("annual leave in rome.txt", shelf.catalog(HERS))

    assert [each.source.filename for each in answer.sources] == ["rome.txt", "berlin.txt"]


@each_way_in
def test_question_without_an_answer_has_none_and_names_nearest_files(world: World) -> None:
    with pytest.raises(NoResults) as raised:
        world.answering.ask("Who won the world cup of 1998?", world.catalog(HERS))

    nearest = {each["filename"] for each in raised.value.nearest}
    assert nearest
    assert nearest <= {"berlin.txt", "rome.txt"}


@each_way_in
def test_catalog_of_another_user_gives_no_answer(world: World) -> None:
    bobs = world.answering.ask("annual leave", world.catalog(BOBS, "bob"))

    assert [each.source.filename for each in bobs.sources] == ["rome.txt"]
    assert "alice" not in bobs.text
    with pytest.raises(NoResults):
        world.answering.ask("annual leave", world.catalog(BOBS))
    with pytest.raises(NoResults):
        world.answering.ask("annual leave", world.catalog("cat-none"))
