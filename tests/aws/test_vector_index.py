"""The S3 Vectors adapter against botocore's own model of `QueryVectors`."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from stackroom.access.identity import Caller
from stackroom.access.tenancy import Member
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.question_guard import QuestionGuard
from stackroom.aws.s3vectors.s3vectors_adapter import (
    S3VectorsKnowledgeBase,
    words_in,
)
from stackroom.errors import KnowledgeBaseThrottled, SearchRefused
from stackroom.model.filters import Has
from stackroom.model.passages import Passage, Search
from tests.aws.conftest import ONCE
from tests.fakes.embeddings import BY_MEANING, FakeEmbeddings
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.search_index import INDEX, an_index

SERVICE = "s3vectors"  # of the fixture `client`

ALICE = Has("user_id", "alice")
DATA_SOURCE = "x-amz-bedrock-kb-data-source-id"
OF_NOBODY = {"x-amz-bedrock-kb-source-uri": None}


@pytest.fixture
def s3vectors(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        stubber.add_response("get_index", an_index(), {"indexArn": INDEX})
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def embeddings() -> FakeEmbeddings:
    return FakeEmbeddings()


@pytest.fixture
def fallback() -> FakeKnowledgeBase:
    fallback = FakeKnowledgeBase()
    fallback.put("annual leave, as Retrieve finds it")
    return fallback


Made = Callable[..., S3VectorsKnowledgeBase]


@pytest.fixture
def made(client: Any, embeddings: FakeEmbeddings, fallback: FakeKnowledgeBase) -> Made:
    def made(search: Search = Search.HYBRID, **options: Any) -> S3VectorsKnowledgeBase:
        return S3VectorsKnowledgeBase(
            client,
            INDEX,
            embeddings=embeddings,
            fallback=fallback,
            search=search,
            **options,
        )

    return made


def expected(**members: Any) -> dict[str, Any]:
    return {
        "indexArn": INDEX,
        "filter": {"user_id": {"$eq": "alice"}},
        "returnMetadata": True,
        "topK": 5,
        **members,
    }


def by_words(text: str) -> dict[str, Any]:
    texts = [{"text": text, "metadataKey": "AMAZON_BEDROCK_TEXT"}]
    return {"queryTexts": texts, "returnScores": True}


def a_vector(key: str = "1", metadata: dict[str, Any] | None = None, **members: Any) -> Any:
    of_bedrock = {
        "AMAZON_BEDROCK_TEXT": "30 days",
        "AMAZON_BEDROCK_METADATA": "{}",
        "x-amz-bedrock-kb-source-uri": "s3://docs/alice/cat-1/a.pdf",
    }
    told = {**of_bedrock, **(metadata or {})}
    return {
        "key": key,
        "metadata": {key: value for key, value in told.items() if value is not None},
        **members,
    }


def answer(*vectors: Any, **members: Any) -> dict[str, Any]:
    return {"vectors": list(vectors), "distanceMetric": "cosine", **members}


def matched(score: float) -> list[dict[str, Any]]:
    return [{"metadataKey": "AMAZON_BEDROCK_TEXT", "score": score}]


def test_one_query_asks_for_meaning_and_words_behind_the_filter(
    made: Made, s3vectors: Stubber
) -> None:
    scores = {"fused": 0.03, "vectorDistance": 0.25, "bm25Scores": matched(4.5)}
    metadata = {"user_id": "alice", "x-amz-bedrock-kb-document-page-number": 3.0}
    asked = expected(**BY_MEANING, **by_words("annual leave"))
    s3vectors.add_response(
        "query_vectors", answer(a_vector(metadata=metadata, scores=scores)), asked
    )

    retrieved = made().retrieve("annual leave", ALICE, 5)

    assert (retrieved.search, retrieved.notice) == (Search.HYBRID, None)
    assert retrieved.guardrail_action == "NONE"
    assert retrieved.passages == (
        Passage(
            text="30 days",
            score=0.75,
            similarity=0.75,
            uri="s3://docs/alice/cat-1/a.pdf",
            page=3,
            attributes={**metadata, "x-amz-bedrock-kb-source-uri": "s3://docs/alice/cat-1/a.pdf"},
        ),
    )


def test_search_by_words_alone_embeds_nothing(
    made: Made, s3vectors: Stubber, embeddings: FakeEmbeddings
) -> None:
    found = answer(a_vector(scores={"bm25Scores": matched(30)}))
    s3vectors.add_response("query_vectors", found, expected(**by_words("annual leave")))

    retrieved = made(Search.TEXT).retrieve("annual leave", ALICE, 5)

    [passage] = retrieved.passages
    assert retrieved.search is Search.TEXT
    assert (passage.score, passage.similarity) == (0.75, None)
    assert embeddings.asked == []


def test_vector_without_object_is_identified_by_custom_id_or_data_source(
    made: Made, s3vectors: Stubber
) -> None:
    of_id = a_vector(metadata={"x-amz-bedrock-kb-source-uri": "doc-1"})
    of_source = a_vector("2", metadata={**OF_NOBODY, DATA_SOURCE: "DS12345678"})
    s3vectors.add_response("query_vectors", answer(of_id, of_source))

    retrieved = made().retrieve("annual leave", ALICE, 5)

    told = [(each.uri, each.custom_id, each.data_source_id) for each in retrieved.passages]
    assert told == [(None, "doc-1", None), (None, None, "DS12345678")]
    assert retrieved.notice is None


@pytest.mark.parametrize("told", [{}, {DATA_SOURCE: ["DS12345678"]}])
def test_vectors_without_source_fall_back_to_retrieve_with_logged_notice(
    made: Made, s3vectors: Stubber, told: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    found = answer(a_vector(), a_vector("2", metadata={**OF_NOBODY, **told}))
    for _ in range(2):
        s3vectors.add_response("query_vectors", found)

    knowledge_base = made()
    answers = [knowledge_base.retrieve(each, ALICE, 5) for each in ("annual leave", "leave")]

    why = "its vectors don't tell where they are from"
    assert [each.notice for each in answers] == [f"searched through Retrieve: {why}"] * 2
    for each in answers:
        assert [passage.text for passage in each.passages] == ["annual leave, as Retrieve finds it"]
    # Once in a while; and GetIndex is asked once, for the index is as fit as it was.
    assert caplog.text.count(why) == 1


def test_vector_without_text_is_dropped_and_replaced_by_more_results(
    made: Made, s3vectors: Stubber
) -> None:
    bare = {"key": "1"}
    odd = {"key": "2", "metadata": {"AMAZON_BEDROCK_TEXT": 5}}
    sourceless = {"key": "3", "metadata": {"AMAZON_BEDROCK_TEXT": "so", DATA_SOURCE: "DS"}}
    asked = expected(**BY_MEANING, **by_words("annual leave"))
    s3vectors.add_response("query_vectors", answer(bare, odd, sourceless, bare, bare), asked)
    s3vectors.add_response("query_vectors", answer(sourceless, a_vector()), {**asked, "topK": 100})

    passages = made().retrieve("annual leave", ALICE, 5).passages

    assert [(each.text, each.uri, each.custom_id, each.score) for each in passages] == [
        ("so", None, None, 0),
        ("30 days", "s3://docs/alice/cat-1/a.pdf", None, 0),
    ]


def test_an_answer_in_pages_is_read_to_its_end(made: Made, s3vectors: Stubber) -> None:
    asked = expected(**BY_MEANING, **by_words("annual leave"))
    s3vectors.add_response("query_vectors", answer(a_vector("1"), nextToken="more"), asked)
    s3vectors.add_response("query_vectors", answer(a_vector("2")), {**asked, "nextToken": "more"})

    assert len(made().retrieve("annual leave", ALICE, 5).passages) == 2


def test_bare_text_in_place_of_a_list_is_replaced_by_more_results(
    made: Made, s3vectors: Stubber
) -> None:
    [member] = Member.of(Caller("dora", ("finance",)))
    bare, listed = {"allowed_groups": "finance"}, {"allowed_groups": ["finance", "board"]}
    first = [a_vector(str(each), metadata=bare) for each in range(4)] + [a_vector("4", listed)]
    more = [*first, *(a_vector(str(each), listed) for each in range(5, 12))]
    asked = {
        **expected(**BY_MEANING, **by_words("annual leave")),
        "filter": {"allowed_groups": {"$eq": "finance"}},
    }
    s3vectors.add_response("query_vectors", answer(*first), asked)
    s3vectors.add_response("query_vectors", answer(*more), {**asked, "topK": 100})

    passages = made().retrieve("annual leave", member.filter(), 5).passages

    assert [each.attributes["allowed_groups"] for each in passages] == [["finance", "board"]] * 5


@pytest.mark.parametrize("search", [Search.HYBRID, Search.TEXT])
def test_question_without_letters_or_digits_is_searched_by_meaning_only(
    made: Made, s3vectors: Stubber, search: Search
) -> None:
    if search is Search.HYBRID:
        by_meaning = expected(**BY_MEANING, returnDistance=True)
        s3vectors.add_response("query_vectors", answer(), by_meaning)

    retrieved = made(search).retrieve("?! 🙂", ALICE, 5)

    assert (retrieved.passages, retrieved.notice) == ((), None)
    assert (retrieved.search is Search.SEMANTIC) is (search is Search.HYBRID)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("年次休暇は何日ですか", "年次休暇は何日ですか"),
        ("x" * 1025, "x" * 1024),
        (f"{'leave ' * 170}{'x' * 20}", "leave " * 169 + "leave"),
        (f"{'x' * 1020} abcd", f"{'x' * 1020}"),
        ("🙂", None),
    ],
)
def test_search_by_words_uses_the_questions_words_up_to_the_limit(
    question: str, words: str | None
) -> None:
    assert words_in(question) == words


@pytest.mark.parametrize(
    "refusal",
    [("ValidationException", 400), ("NotFoundException", 404), ("AccessDeniedException", 403)],
)
def test_query_that_s3_vectors_refuses_is_answered_by_retrieve(
    made: Made,
    s3vectors: Stubber,
    fallback: FakeKnowledgeBase,
    caplog: pytest.LogCaptureFixture,
    refusal: tuple[str, int],
) -> None:
    code, status = refusal
    s3vectors.add_client_error("query_vectors", code, "no", status)
    fallback.search = Search.RANKED

    retrieved = made().retrieve("annual leave", ALICE, 5)

    assert [each.text for each in retrieved.passages] == ["annual leave, as Retrieve finds it"]
    assert fallback.filters == [ALICE]
    assert retrieved.search is Search.RANKED
    assert retrieved.notice == f"searched through Retrieve: QueryVectors answered {code}"
    assert f"QueryVectors answered {code}" in caplog.text


def test_refused_embedding_or_filter_falls_back_to_retrieve_not_a_throttle(
    made: Made, s3vectors: Stubber, fallback: FakeKnowledgeBase, embeddings: FakeEmbeddings
) -> None:
    knowledge_base = made()

    embeddings.error = KnowledgeBaseThrottled("InvokeModel")
    with pytest.raises(KnowledgeBaseThrottled):
        knowledge_base.retrieve("annual leave", ALICE, 5)
    embeddings.error = SearchRefused("InvokeModel answered AccessDeniedException")
    refused = knowledge_base.retrieve("annual leave", ALICE, 5)
    s3vectors.add_response("get_index", an_index())  # for something was refused
    unsaid = knowledge_base.retrieve("annual leave", Has("$or", "x"), 5)

    assert fallback.filters == [ALICE, Has("$or", "x")]
    assert "begins with $" in str(unsaid.notice)
    assert len(refused.passages) == 1
    assert "InvokeModel answered AccessDeniedException" in str(refused.notice)


@pytest.fixture
def runtime() -> Any:
    return boto3.client("bedrock-runtime", config=ONCE)


def verdict(action: str) -> dict[str, Any]:
    usage = {
        "topicPolicyUnits": 1,
        "contentPolicyUnits": 0,
        "wordPolicyUnits": 0,
        "sensitiveInformationPolicyUnits": 0,
        "sensitiveInformationPolicyFreeUnits": 0,
        "contextualGroundingPolicyUnits": 0,
    }
    return {"action": action, "usage": usage, "outputs": [], "assessments": []}


def guarded(made: Made, runtime: Any) -> S3VectorsKnowledgeBase:
    guard = QuestionGuard(client=runtime, guardrail=Guardrail(id="gr123", version="2"))
    return made(lets_through=guard.lets_through)


def test_guardrail_that_intervenes_stops_a_question_before_embedding(
    made: Made, s3vectors: Stubber, runtime: Any, embeddings: FakeEmbeddings
) -> None:
    asked = {
        "guardrailIdentifier": "gr123",
        "guardrailVersion": "2",
        "source": "INPUT",
        "content": [{"text": {"text": "annual leave"}}],
    }
    with Stubber(runtime) as bedrock:
        bedrock.add_response("apply_guardrail", verdict("GUARDRAIL_INTERVENED"), asked)
        retrieved = guarded(made, runtime).retrieve("annual leave", ALICE, 5)

    assert (retrieved.passages, retrieved.guardrail_action) == ((), "INTERVENED")
    assert embeddings.asked == []


def test_search_whose_guardrail_call_is_denied_is_guarded_by_retrieve(
    made: Made, s3vectors: Stubber, runtime: Any, fallback: FakeKnowledgeBase
) -> None:
    fallback.guardrail_action = "INTERVENED"
    with Stubber(runtime) as bedrock:
        bedrock.add_client_error("apply_guardrail", "AccessDeniedException", "no", 403)
        retrieved = guarded(made, runtime).retrieve("annual leave", ALICE, 5)

    assert retrieved.guardrail_action == "INTERVENED"
    assert "ApplyGuardrail answered AccessDeniedException" in str(retrieved.notice)
