"""An S3 Vectors index without Retrieve to fall back to: whose it is, and what may be wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.aws.s3vectors.vector_passages import VectorReading
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import Compares, Comparison
from stackroom.model.passages import Passage, Search
from tests.fakes.embeddings import BY_MEANING, FakeEmbeddings
from tests.fakes.search_index import INDEX, an_index

SERVICE = "s3vectors"  # of the fixture `client`

SEARCHABLE = {"metadataKey": "body", "status": "ACTIVE"}
PUMP = {"body": "Grease the pump.", "url": "https://parts.test/manuals/pump", "maker": "ada"}
DESCRIBED = an_index(SEARCHABLE)
FOREIGN = VectorReading(text_key="body", source_key="url")
BY_WORDS = {
    "queryTexts": [{"text": "pump", "metadataKey": "body"}],
    "returnScores": True,
}

Made = Callable[..., S3VectorsKnowledgeBase]


@pytest.fixture
def embeddings() -> FakeEmbeddings:
    return FakeEmbeddings()


@pytest.fixture
def made(client: Any, embeddings: FakeEmbeddings) -> Made:
    def made(
        search: Search = Search.HYBRID, reading: VectorReading = FOREIGN
    ) -> S3VectorsKnowledgeBase:
        return S3VectorsKnowledgeBase(
            client, INDEX, embeddings=embeddings, search=search, reading=reading
        )

    return made


def an_answer(*vectors: Any, metric: str = "cosine", **members: Any) -> dict[str, Any]:
    return {"vectors": list(vectors), "distanceMetric": metric, **members}


def pump(distance: float = 0.25, **metadata: Any) -> dict[str, Any]:
    return {"key": "pump", "distance": distance, "metadata": {**PUMP, **metadata}}


def query_request(by: dict[str, Any]) -> dict[str, Any]:
    return {"indexArn": INDEX, "returnMetadata": True, "topK": 5, **by}


def test_text_and_source_are_read_from_the_configured_keys(made: Made, stubber: Stubber) -> None:
    scores = {"vectorDistance": 0.25, "bm25Scores": [{"metadataKey": "body", "score": 2.0}]}
    stubber.add_response("get_index", an_index(SEARCHABLE))
    found = an_answer({"key": "pump", "metadata": PUMP, "scores": scores})
    stubber.add_response("query_vectors", found, query_request({**BY_MEANING, **BY_WORDS}))

    retrieved = made().retrieve("pump", None, 5)

    assert (retrieved.search, retrieved.notice) == (Search.HYBRID, None)
    assert retrieved.passages == (
        Passage(
            text="Grease the pump.",
            score=0.75,
            similarity=0.75,
            uri="https://parts.test/manuals/pump",
            attributes={"url": "https://parts.test/manuals/pump", "maker": "ada"},
        ),
    )


def test_index_without_text_search_is_searched_by_meaning_with_a_notice(
    made: Made, stubber: Stubber
) -> None:
    stubber.add_response("get_index", an_index(metadataConfiguration={}))
    asked_for = query_request({**BY_MEANING, "returnDistance": True})
    stubber.add_response("query_vectors", an_answer(pump()), asked_for)

    retrieved = made().retrieve("pump", None, 5)

    assert [each.text for each in retrieved.passages] == ["Grease the pump."]
    assert retrieved.search is Search.SEMANTIC
    why = "body is not configured for text search"
    assert retrieved.notice == f"searched by meaning alone: {why}"


def test_text_search_that_is_taken_away_costs_no_answer(made: Made, stubber: Stubber) -> None:
    stubber.add_response("get_index", an_index(SEARCHABLE))
    stubber.add_client_error("query_vectors", "ValidationException", "no", 400)
    stubber.add_response("get_index", an_index(metadataConfiguration={}))
    stubber.add_response("query_vectors", an_answer(pump()))

    retrieved = made().retrieve("pump", None, 5)

    assert (len(retrieved.passages), retrieved.search) == (1, Search.SEMANTIC)
    assert "body is not configured for text search" in str(retrieved.notice)


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"dimension": 384}, r"384 dimensions.* 1024"),
        ({"distanceMetric": "hamming"}, "hamming, not cosine or euclidean"),
    ],
)
def test_mismatching_dimensions_or_distance_are_reported(
    made: Made, stubber: Stubber, embeddings: FakeEmbeddings, members: dict[str, Any], why: str
) -> None:
    stubber.add_response("get_index", an_index(SEARCHABLE, **members))

    with pytest.raises(KnowledgeBaseUnavailable, match=why):
        made().retrieve("pump", None, 5)

    assert embeddings.asked == []


@pytest.mark.parametrize(
    ("search", "distance", "score"), [(Search.HYBRID, 0.0, 1.0), (Search.SEMANTIC, 3.0, 0.25)]
)
def test_a_euclidean_distance_makes_a_score_and_no_similarity(
    made: Made, stubber: Stubber, search: Search, distance: float, score: float
) -> None:
    stubber.add_response("get_index", an_index(SEARCHABLE, distanceMetric="euclidean"))
    told = {"scores": {"vectorDistance": distance}} if search is Search.HYBRID else {}
    stubber.add_response("query_vectors", an_answer({**pump(distance), **told}, metric="euclidean"))

    [passage] = made(search).retrieve("pump", None, 5).passages

    assert (passage.score, passage.similarity) == (score, None)


def test_refused_index_is_unavailable_and_inexpressible_filter_is_refused(
    made: Made, stubber: Stubber, embeddings: FakeEmbeddings
) -> None:
    for operation in ("get_index", "query_vectors", "get_index"):
        stubber.add_client_error(operation, "AccessDeniedException", "no", 403)

    with pytest.raises(SearchRefused, match="a filter with"):
        made().retrieve("pump", Compares("a", Comparison.GREATER, "b"), 5)
    assert embeddings.asked == []
    with pytest.raises(KnowledgeBaseUnavailable, match="QueryVectors answered AccessDenied"):
        made().retrieve("pump", None, 5)


class Answering:
    """Whatever it is told to answer, which botocore's model would not let through."""

    def __init__(self, answer: Any, *, index: Any = DESCRIBED) -> None:
        self.answer = answer
        self.index = index

    def get_index(self, **_: object) -> Any:
        return self.index

    def query_vectors(self, **_: object) -> Any:
        return self.answer


def searched(answering: Answering) -> S3VectorsKnowledgeBase:
    client: Any = answering
    return S3VectorsKnowledgeBase(client, INDEX, embeddings=FakeEmbeddings(), reading=FOREIGN)


@pytest.mark.parametrize(
    "answer",
    [
        *(None, {"distanceMetric": "cosine"}),
        *(an_answer() | {"vectors": each} for each in ("many", [7])),
        *(
            an_answer(pump(), {**pump(), **nonsense})
            for nonsense in (
                {"metadata": "text"},
                {"distance": float("nan")},
                {"distance": None, "scores": {"bm25Scores": [7]}},
                {"scores": {"vectorDistance": float("inf")}, "distance": None},
            )
        ),
    ],
)
def test_incomplete_or_malformed_answer_is_unavailable(answer: Any) -> None:
    with pytest.raises(KnowledgeBaseUnavailable, match="QueryVectors answered AnswerNotUnderstood"):
        searched(Answering(answer)).retrieve("pump", None, 5)


def test_undescribed_index_is_searched_by_meaning_or_unavailable() -> None:
    nameless: list[Any] = [{"index": {}}, {"index": {"dimension": "many"}}]
    for index in nameless:
        with pytest.raises(KnowledgeBaseUnavailable, match="dimensions"):
            searched(Answering(an_answer(), index=index)).retrieve("pump", None, 5)
    for index in (None, {"index": 7}):
        answering = Answering(an_answer(pump()), index=index)
        retrieved = searched(answering).retrieve("pump", None, 5)
        why = "GetIndex answered AnswerNotUnderstood"
        assert retrieved.notice == f"searched by meaning alone: {why}"
        assert len(retrieved.passages) == 1


def test_an_answer_that_never_ends_is_given_up() -> None:
    endless = Answering(an_answer(pump(), nextToken="again"))

    with pytest.raises(KnowledgeBaseUnavailable, match="more than 100 pages"):
        searched(endless).retrieve("pump", None, 5)


def test_a_similarity_is_from_0_to_1() -> None:
    answering = Answering(an_answer(pump(-0.5), pump(1.7)))

    passages = searched(answering).retrieve("pump", None, 5).passages

    assert [(each.score, each.similarity) for each in passages] == [(1.0, 1.0), (0.0, 0.0)]
