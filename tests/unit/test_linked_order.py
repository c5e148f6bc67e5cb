"""In which order passages of several knowledge bases stand, and what is said of it."""

from collections.abc import Sequence

import pytest

from stackroom.model.passages import Passage, Search
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.results import SearchAnswer, success
from stackroom.search.search_arguments import RETRIEVE_FROM_KNOWLEDGE_BASE
from tests.fakes.knowledge_base import FakeKnowledgeBase

TITAN = "titan, 1024 dimensions"


def base(
    name: str,
    scores: Sequence[float],
    *,
    embedding: str | None = TITAN,
    search: Search = Search.SEMANTIC,
    tells_similarity: bool = True,
    more: str = "",
) -> LinkedKnowledgeBase:
    shelf = FakeKnowledgeBase()
    shelf.search = search
    shelf.passages = [
        Passage(
            text=f"annual leave {name} {score}{more}",
            score=score,
            similarity=score if tells_similarity else None,
            uri=f"s3://{name}/{score}",
        )
        for score in scores
    ]
    return LinkedKnowledgeBase(knowledge_base_id=name, knowledge_base=shelf, embedding=embedding)


def search(*bases: LinkedKnowledgeBase, **arguments: object) -> SearchAnswer:
    asked = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "annual leave", **arguments})
    return LinkedRetrieval(linked=bases).search(asked, None)


def scores(answer: SearchAnswer) -> list[float]:
    return [each.score for each in answer.results]


def test_scores_of_one_model_decide_whatever_their_rank() -> None:
    answer = search(base("A", [0.657, 0.406]), base("B", [0.078, 0.069]), base("C", [0.593]))

    assert scores(answer) == [0.657, 0.593, 0.406, 0.078, 0.069]
    assert answer.ordered_by == "score"


@pytest.mark.parametrize(
    "other",
    [
        base("B", [0.078], embedding="cohere, 1024 dimensions"),
        base("B", [0.078], embedding=None),
        base("B", [0.078], search=Search.HYBRID),
        base("B", [0.078], tells_similarity=False),
    ],
    ids=["another model", "nobody knows which", "words had a part", "the store doesn't tell"],
)
def test_incomparable_scores_are_ordered_by_rank_with_a_notice(
    other: LinkedKnowledgeBase,
) -> None:
    answer = search(base("A", [0.657, 0.406]), other)

    assert scores(answer) == [0.657, 0.078, 0.406]
    assert answer.ordered_by == "rank"
    metadata = success(answer)["metadata"]
    assert isinstance(metadata, dict)
    assert metadata["ordered_by"] == "rank"


def test_search_of_one_base_reports_no_ordering() -> None:
    answer = search(base("A", [0.4, 0.6]))

    assert answer.ordered_by is None
    assert "ordered_by" not in str(success(answer)["metadata"])
