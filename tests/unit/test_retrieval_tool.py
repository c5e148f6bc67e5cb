"""The search as a Python function, for agents that run in the same process."""

from stackroom.identity import Caller
from stackroom.retrieval.search import Retrieval
from stackroom.retrieval.tool import Response, retrieve_from_knowledge_base
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.place_maps import FakePlaceMaps
from tests.unit.test_retrieval import CatalogShelf


def a_retrieval(knowledge_base: FakeKnowledgeBase) -> Retrieval:
    return Retrieval(
        pool={"KB1": knowledge_base}, catalogs=CatalogShelf(), place_maps=FakePlaceMaps()
    )


def contents(response: Response) -> list[str]:
    results = response["results"]
    assert isinstance(results, list)
    return [result["content"] for result in results]


def test_a_program_says_who_asks_and_gets_what_the_gateway_would_answer() -> None:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.put("annual leave is 30 days", user_id="alice")
    retrieval = a_retrieval(knowledge_base)
    arguments = {"query": "annual leave"}

    own = retrieve_from_knowledge_base(arguments, caller=Caller("alice"), retrieval=retrieval)
    foreign = retrieve_from_knowledge_base(arguments, caller=Caller("bob"), retrieval=retrieval)

    assert contents(own) == ["annual leave is 30 days"]
    assert (foreign["success"], foreign["results"]) == (True, [])


def test_what_a_model_got_wrong_is_told_and_not_raised() -> None:
    retrieval = a_retrieval(FakeKnowledgeBase())

    response = retrieve_from_knowledge_base(
        {"query": "annual leave", "top_k": "many"}, caller=Caller("alice"), retrieval=retrieval
    )

    assert (response["success"], response["errorType"]) == (False, "ValidationError")
    assert "an integer from 1 to 20" in str(response["error"])
