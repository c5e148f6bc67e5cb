"""An S3 Vectors index without Retrieve to fall back to: whose it is, and what may be wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.aws.s3vectors.vector_passages import VectorReading
from stackroom.errors import KnowledgeBaseUnavailable
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
