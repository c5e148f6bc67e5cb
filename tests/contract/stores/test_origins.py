"""
A passage's owner is proven with every way in which Bedrock may identify documents of CUSTOM data
sources, whatever documents of others say of themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bedrock_kb_simulator.assumptions import Assumptions, CustomTells
from simulator.tests.world import CUSTOM, at, by_location, eventually, inline
from simulator.tests.world import World as Simulator
from stackroom.access.identity import Caller
from stackroom.access.tenancy import SHARED
from stackroom.model.filters import Has
from stackroom.model.keys import TextName, catalog_id_of, document_id_of
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.search.results import SearchAnswer
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE
from tests.contract.stores.bedrock import S3, Stocked, client, simulated
from tests.contract.stores.document_sets import IDENTIFIED, QUESTION
from tests.fakes.knowledge_base import AllStaying
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps

pytestmark = pytest.mark.processes

SOURCE = "x-amz-bedrock-kb-source-uri"
OWN = {each.key for each in IDENTIFIED.documents if each.user == "alice"}
HERS = catalog_id_of("alice", "cat-1")
TELLING = {
    "ids": Assumptions(),
    "ids, and in vectors none": Assumptions(custom_documents_tell_source=False),
    "texts": Assumptions(custom_documents_tell=CustomTells.LOCATION),
    "nothing": Assumptions(custom_documents_tell=CustomTells.NEITHER),
}
RETRIEVE, DIRECTLY = "Retrieve", "S3 Vectors"
FORGED_TEXTS = 2
FORGERIES = 3 + FORGED_TEXTS


@dataclass(frozen=True)
class World:
    stocked: Stocked
    way: str = RETRIEVE

    @property
    def retrieval(self) -> Retrieval:
        catalogs = FakeCatalogs()
        for each in IDENTIFIED.documents:
            catalogs.open(self.stocked.catalog(each.catalog, each.user))
        return Retrieval(
            pool={self.stocked.knowledge_base_id: self.store},
            catalogs=catalogs,
            documents=AllStaying(),
            place_maps=FakePlaceMaps(),
            sharing=True,
            uri_of=lambda key: f"s3://docs/{key}",
        )

    @property
    def store(self) -> KnowledgeBase:
        if self.way == RETRIEVE:
            return self.stocked.by_retrieve
        return self.stocked.directly(Search.HYBRID, fallback=self.stocked.by_retrieve)

    def search(self, caller: Caller, **more: object) -> SearchAnswer:
        asked = {"query": QUESTION, "top_k": 20, **more}
        return self.retrieval.search(KNOWLEDGE_BASE_RETRIEVE.parse(asked), caller)


@pytest.fixture(scope="module", params=TELLING)
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stocked]:
    with simulated(tmp_path_factory.mktemp("simulator"), TELLING[request.param]) as made:
        stocked = made.stocked_directly(IDENTIFIED)
        _forge(stocked)
        told = [str(each["metadata"].get(SOURCE)) for each in _vectors(stocked)]
        texts = [each for each in told if "/_text/" in each]
        assert ("None" in told) == (request.param in ("ids, and in vectors none", "nothing"))
        assert len(texts) == (len(IDENTIFIED.documents) + FORGED_TEXTS) * (request.param == "texts")
        yield stocked


@pytest.fixture(params=[RETRIEVE, DIRECTLY])
def world(request: pytest.FixtureRequest, home: Stocked) -> World:
    return World(home, request.param)


@pytest.mark.parametrize("narrowed", [{}, {"catalog_id": HERS}])
def test_tenant_finds_all_own_passages_and_none_that_only_claim_it(
    world: World, narrowed: dict[str, str]
) -> None:
    answer = world.search(Caller("alice"), **narrowed)

    own = {each for each in OWN if each.startswith(f"alice/{HERS}/")} if narrowed else OWN
    assert _keys(answer) == own
    assert {each.source.document_id for each in answer.results} == {
        document_id_of(*key.split("/")[1:]) for key in own
    }
    assert (answer.withheld, answer.notices) == (FORGERIES, {})


def test_group_member_finds_only_passages_shared_by_their_owner(world: World) -> None:
    answer = world.search(Caller("dora", ("finance",)))

    assert _keys(answer) == {f"carol/{catalog_id_of('carol', 'cat-4')}/budget.txt"}
    assert (answer.withheld, answer.notices) == (FORGERIES, {})


def _keys(answer: SearchAnswer) -> set[str]:
    return {str(each.source.uri).removeprefix("s3://docs/") for each in answer.results}


def _vectors(stocked: Stocked) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client("s3vectors", stocked.endpoint).list_vectors(
        indexArn=stocked.index_arn, returnMetadata=True, returnData=True
    )["vectors"]
    return found


def _forge(stocked: Stocked) -> None:
    """
    Documents of mallory's that say they are alice's: by a sidecar beside an object; and, as if our
    function had been fooled, in a data source of her own, one of them under alice's id, one by a
    text of hers, and one by alice's text.
    """
    world, home = Simulator(stocked.endpoint, S3, patient=True), stocked.knowledge_base_id
    claims = {"user_id": "alice", "catalog_id": HERS, "filename": "berlin.txt"}
    claims["document_id"] = document_id_of(HERS, "berlin.txt")
    text = TextName("alice", HERS, claims["document_id"], "0" * 32)
    hers = world.put(replace(text, user_id="mallory").key, f"{QUESTION} by her text")
    documents = [
        inline("own.txt", f"{QUESTION} by own.txt", **claims),
        inline(claims["document_id"], f"{QUESTION} by her id", **claims),
        by_location("by her text", hers, **claims),
        by_location("by alice's text", f"s3://{IDENTIFIED.name}/{text.key}", **claims),
    ]
    for each in documents:
        each["metadata"]["inlineAttributes"].append(
            {"key": SHARED, "value": {"type": "STRING_LIST", "stringListValue": ["finance"]}}
        )
    source = at(home, world.data_source(home, dataSourceConfiguration=CUSTOM))
    world.agent.ingest_knowledge_base_documents(**source, documents=documents)
    eventually(lambda: _count_alices(stocked) == len(OWN) + len(documents))
    sidecar = {**claims, SHARED: ["finance"]}
    world.put("mallory/notes/own.txt", f"{QUESTION} by a sidecar", sidecar)
    world.sync(home, world.data_source(home, "mallory/"))
    eventually(lambda: _count_alices(stocked) == len(OWN) + FORGERIES)


def _count_alices(stocked: Stocked) -> int:
    found = stocked.by_retrieve.retrieve(QUESTION, Has("user_id", "alice"), 100)
    return len(found.passages)
