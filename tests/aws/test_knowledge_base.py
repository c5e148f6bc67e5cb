"""The Bedrock adapter against botocore's own model of `Retrieve`."""

from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.access.search_filter_argument import conditions
from stackroom.access.tenancy import Tenant
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase, rendered
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.retrieve_options import RerankingSettings, RetrieveOptions
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import AllOf, AnyOf, Compares, Comparison, Exists, Filter, Has
from stackroom.model.passages import Passage, Search

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`

ALICE = Has("user_id", "alice")


def expected(filter_: dict[str, Any]) -> dict[str, Any]:
    return {
        "knowledgeBaseId": "KB12345678",
        "retrievalQuery": {"text": "annual leave"},
        "retrievalConfiguration": {
            "vectorSearchConfiguration": {"numberOfResults": 5, "filter": filter_}
        },
    }


def a_result(**members: Any) -> dict[str, Any]:
    return {
        "content": {"type": "TEXT", "text": "30 days"},
        "location": {"type": "S3", "s3Location": {"uri": "s3://docs/alice/cat-1/a.pdf"}},
        "score": 0.75,
        **members,
    }


def test_results_become_passages_with_score_uri_page_and_attributes(
    client: Any, stubber: Stubber
) -> None:
    """A guardrail goes with the question, and pages are counted from one."""
    metadata = {"user_id": "alice", "x-amz-bedrock-kb-document-page-number": 0.0}
    guarded = {"guardrailConfiguration": {"guardrailId": "gr123", "guardrailVersion": "DRAFT"}}
    stubber.add_response(
        "retrieve",
        {"retrievalResults": [a_result(metadata=metadata)], "guardrailAction": "INTERVENED"},
        expected({"equals": {"key": "user_id", "value": "alice"}}) | guarded,
    )

    guardrail = Guardrail(id="gr123", version="DRAFT")
    knowledge_base = BedrockKnowledgeBase(client, "KB12345678", guardrail=guardrail, first_page=0)
    retrieved = knowledge_base.retrieve("annual leave", ALICE, 5)

    assert retrieved.guardrail_action == "INTERVENED"
    assert retrieved.passages == (
        Passage(
            text="30 days",
            score=0.75,
            similarity=0.75,
            uri="s3://docs/alice/cat-1/a.pdf",
            page=1,
            attributes=metadata,
        ),
    )


def test_the_largest_filter_keeps_bedrocks_bounds_and_passes_its_model(
    client: Any, stubber: Stubber
) -> None:
    asked = conditions({key: ["a", "b", 3, 4.5, True] for key in ("x", "y", "z")})
    whole = Tenant("alice", "cat-1").filter(asked)
    stubber.add_response("retrieve", {"retrievalResults": []}, expected(dict(rendered(whole))))

    BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", whole, 5)

    groups = [group["orAll"] for group in rendered(whole)["andAll"] if "orAll" in group]
    assert len(rendered(whole)["andAll"]) == 5
    assert [len(group) for group in groups] == [5, 5, 5]
    assert all(set(member) == {"equals"} for group in groups for member in group)


def a_page(*texts: str, **members: Any) -> dict[str, Any]:
    results = [{"content": {"text": text}, "score": 0.5} for text in texts]
    return {"retrievalResults": results, **members}


def test_pages_are_read_until_there_are_as_many_as_asked_for(client: Any, stubber: Stubber) -> None:
    asked = expected({"equals": {"key": "user_id", "value": "alice"}})
    first = a_page("a", "b", nextToken="t1", guardrailAction="INTERVENED")
    stubber.add_response("retrieve", first, asked)
    second = a_page("c", "d", nextToken="t2", guardrailAction="NONE")
    stubber.add_response("retrieve", second, {**asked, "nextToken": "t1"})
    stubber.add_response("retrieve", a_page("e", "f", nextToken="t3"), {**asked, "nextToken": "t2"})

    retrieved = BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", ALICE, 5)

    assert [each.text for each in retrieved.passages] == ["a", "b", "c", "d", "e"]
    assert retrieved.guardrail_action == "INTERVENED"
    assert retrieved.notice is None


@pytest.mark.parametrize(
    ("pages", "found", "notice"),
    [
        ([a_page("a", nextToken="t1"), a_page("b")], "ab", None),
        (
            [a_page("a", nextToken="t1"), a_page(nextToken="t2")],
            "a",
            "stopped at an empty page",
        ),
        (
            [a_page("a", nextToken="t1"), a_page("b", nextToken="t1")],
            "ab",
            "stopped at a page that named itself as the next",
        ),
        (
            [a_page("a", nextToken=f"t{at}") for at in range(11)],
            "aaaaaaaaaa",
            "stopped after 10 pages",
        ),
    ],
)
def test_pages_end(
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    pages: list[dict[str, Any]],
    found: str,
    notice: str | None,
) -> None:
    remaining = iter(pages)
    monkeypatch.setattr(client, "retrieve", lambda **_: next(remaining))

    retrieved = BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", ALICE, 20)

    assert "".join(each.text for each in retrieved.passages) == found
    assert retrieved.notice == notice


def test_managed_knowledge_base_sources_come_from_its_own_metadata_keys(
    client: Any, stubber: Stubber
) -> None:
    """And what the uploader calls by another kind's words is an attribute like others."""
    metadata = {
        "user_id": "alice",
        "_source_uri": "s3://docs/alice/cat-1/a.pdf",
        "_data_source_id": "DS12345678",
        "_language_code": "en",
        "x-amz-bedrock-kb-source-uri": "s3://docs/bob/secret.txt",
        "x-amz-bedrock-kb-document-page-number": 7,
    }
    location = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}
    found = a_result(metadata=metadata, location=location, documentId="doc-1")
    stubber.add_response("retrieve", {"retrievalResults": [found]})
    options = RetrieveOptions(is_managed=True, has_cosine_scores=False)

    retrieved = BedrockKnowledgeBase(client, "KB12345678", options=options).retrieve("q", ALICE, 5)

    best = retrieved.passages[0]
    assert best.uri == "s3://docs/alice/cat-1/a.pdf"
    assert (best.custom_id, best.page) == ("doc-1", None)
    assert best.attributes == {
        "user_id": "alice",
        "x-amz-bedrock-kb-source-uri": "s3://docs/bob/secret.txt",
        "x-amz-bedrock-kb-document-page-number": 7,
    }


RERANKING = RerankingSettings.model_validate(
    {"modelArn": "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"}
)


@pytest.mark.parametrize(
    ("options", "search", "relevances"),
    [
        (RetrieveOptions(search_type="HYBRID"), Search.HYBRID, [None, None]),
        (RetrieveOptions(has_cosine_scores=False), Search.SEMANTIC, [None, None]),
        (RetrieveOptions(reranking=RERANKING), Search.SEMANTIC, [0.75, 1.0]),
    ],
)
def test_non_cosine_scores_are_no_similarity_and_reranked_are_relevance(
    client: Any,
    stubber: Stubber,
    options: RetrieveOptions,
    search: Search,
    relevances: list[float | None],
) -> None:
    stubber.add_response("retrieve", {"retrievalResults": [a_result(), a_result(score=1.2)]})

    retrieved = BedrockKnowledgeBase(client, "KB12345678", options=options).retrieve("q", ALICE, 5)

    assert (retrieved.search, retrieved.is_reranked) == (search, options.reranking is not None)
    assert [each.relevance for each in retrieved.passages] == relevances
    assert [each.similarity for each in retrieved.passages] == [None, None]


@pytest.mark.parametrize(
    ("options", "condition", "why"),
    [
        (None, Exists("city", is_there=True), "can't filter by whether there is 'city'"),
        (
            RetrieveOptions(is_managed=True, has_cosine_scores=False),
            AnyOf((Compares("city", Comparison.STARTS_WITH, "R"), ALICE)),
            "knows no startsWith",
        ),
    ],
)
def test_filter_that_retrieve_cannot_express_is_refused(
    client: Any, options: RetrieveOptions | None, condition: Filter, why: str
) -> None:
    knowledge_base = BedrockKnowledgeBase(client, "KB12345678", options=options)

    with pytest.raises(SearchRefused, match=why):
        knowledge_base.retrieve("q", AllOf((ALICE, condition)), 5)


@pytest.mark.parametrize("members", [{"score": "0.75"}, {"content": {"text": 30}}])
def test_passage_that_does_not_follow_the_api_model_is_not_shown(
    client: Any, monkeypatch: pytest.MonkeyPatch, members: dict[str, Any]
) -> None:
    answer = {"retrievalResults": [a_result(), a_result(**members)]}
    monkeypatch.setattr(client, "retrieve", lambda **_: answer)

    with pytest.raises(KnowledgeBaseUnavailable, match="AnswerNotUnderstood"):
        BedrockKnowledgeBase(client, "KB12345678").retrieve("q", ALICE, 5)


def test_nothing_is_searched_if_a_fixed_filter_has_no_room_for_the_tenant(client: Any) -> None:
    wide = AnyOf((AllOf((Has("year", 1), Has("city", "Rome"))), Has("year", 2)))
    knowledge_base = BedrockKnowledgeBase(
        client, "KB12345678", options=RetrieveOptions(fixed_filter=wide)
    )

    with pytest.raises(KnowledgeBaseUnavailable, match="Retrieve answered nothing"):
        knowledge_base.retrieve("q", ALICE, 5)
