"""Tests of the function that searches a whole collection, as a gateway calls it."""

import json
from dataclasses import dataclass, field
from typing import Any

import pydantic
import pytest

from functions.opensearch_retrieve import handler as function
from stackroom.model.filters import AllOf, Has
from stackroom.model.passages import Passage
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.functions.printed import Printed
from tests.functions.tools import GatewayContext

ENTRY = {
    "knowledgeBaseId": "finance-docs",
    "name": "finance-docs",
    "description": "The finance documents.",
    "vectorStoreType": "OPENSEARCH_SERVERLESS",
    "collectionEndpoint": "https://abc.us-east-1.aoss.amazonaws.com",
    "tenancy": "shared",
}


@dataclass
class Context(GatewayContext):
    function_name: str = "opensearch_retrieve"
    headers: dict[str, str] | None = field(default_factory=dict)
    tool: str = "opensearch___knowledge_base_retrieve"


@pytest.fixture
def knowledge_base(monkeypatch: pytest.MonkeyPatch) -> FakeKnowledgeBase:
    made = FakeKnowledgeBase()
    linked = LinkedKnowledgeBase(
        knowledge_base_id="finance-docs", knowledge_base=made, limit=5, min_score=0.55
    )
    retrieval = LinkedRetrieval(linked=(linked,))
    monkeypatch.setattr(function, "retrieval", lambda: retrieval)
    return made


def _put(knowledge_base: FakeKnowledgeBase, score: float, **attributes: object) -> None:
    number = len(knowledge_base.passages)
    passage = Passage(
        text=f"Ledgers close in May, says {number}.",
        score=score,
        similarity=score,
        uri=f"s3://docs/{number}.pdf",
        page=3,
        attributes=attributes,
    )
    knowledge_base.passages.append(passage)


def call(event: Any, **context: Any) -> dict[str, Any]:
    answered: dict[str, Any] = function.handler(event, Context(**context))
    json.dumps(answered)
    return answered


def test_result_has_content_score_metadata_and_source_for_any_caller(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    about = {"domain": "finance", "taxonomy": "GL", "source": "s3://docs/0.pdf", "chunk_id": "c-7"}
    _put(knowledge_base, 0.9, **about)

    answer = call({"query": "when do ledgers close?"})

    mallorys = {"x-user-sub": "mallory", "x-user-groups": "board"}
    assert call({"query": "ledgers?"}, headers=mallorys)["results"] == answer["results"]
    [result] = answer["results"]
    assert answer["success"] is True
    assert (result["content"], result["score"]) == ("Ledgers close in May, says 0.", 0.9)
    assert result["metadata"] == about
    assert result["source"]["uri"] == "s3://docs/0.pdf"
    assert (result["source"]["filename"], result["source"]["page"]) == ("0.pdf", 3)
    assert answer["metadata"]["total_results"] == 1


def test_filter_top_k_and_score_threshold_limit_the_results(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    in_gl = {"domain": "finance", "taxonomy": "GL"}
    for score in (0.56, 0.55, 0.5499, 0.0):
        _put(knowledge_base, score, **in_gl)
    _put(knowledge_base, 0.99, domain="finance", taxonomy="AP")

    answers = [call({"query": "ledgers", "top_k": top_k, "filter": in_gl}) for top_k in (1, 4)]

    scores = [[each["score"] for each in answer["results"]] for answer in answers]
    assert scores == [[0.56], [0.56, 0.55]]
    condition = AllOf((Has("domain", "finance"), Has("taxonomy", "GL")))
    assert knowledge_base.filters == [condition] * 2


def test_invalid_arguments_are_named_and_only_the_gateway_may_call(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    wrong: list[tuple[Any, str]] = [
        ({"query": " "}, "query: is empty"),
        ({"query": "x", "top_k": 21}, "top_k"),
        ({"query": "x", "filter": {"user_id": "bob"}}, "filter"),
        ({"query": "x", "user_id": "bob"}, "user_id: no such argument"),
        ("x", "the arguments are a text; send a JSON object"),
    ]
    others: list[tuple[dict[str, Any], str]] = [
        ({"headers": None}, "MissingIdentity"),
        ({"tool": "opensearch___delete_catalog"}, "ValidationError"),
        ({"invoked_function_arn": "arn:aws:lambda:us-east-1:1:function:f:1"}, "MissingIdentity"),
    ]

    for arguments, named in wrong:
        answer = call(arguments)
        assert (answer["success"], answer["errorType"]) == (False, "ValidationError")
        assert named in answer["error"]
    for context, error in others:
        answer = call({"query": "x"}, **context)
        assert (answer["success"], answer["errorType"]) == (False, error)
    assert knowledge_base.filters == []


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [ENTRY, {**ENTRY, "knowledgeBaseId": "other"}],
        [{**ENTRY, "tenancy": "user"}],
        [{key: value for key, value in ENTRY.items() if key != "collectionEndpoint"}],
    ],
)
def test_function_does_not_start_with_invalid_configuration(
    entries: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNOWLEDGE_BASES_CONFIG", json.dumps(entries))

    with pytest.raises(pydantic.ValidationError):
        call({"query": "x"})


def test_question_text_is_never_logged(
    knowledge_base: FakeKnowledgeBase, printed: Printed, capsys: pytest.CaptureFixture[str]
) -> None:
    _put(knowledge_base, 0.9)

    call({"query": "the spymaster's leave"})
    call({"query": "the spymaster's leave", "top_k": 99})

    assert printed.line("retrieved")["total_results"] == 1
    assert printed.line("refused")["error_type"] == "ValidationError"
    assert "spymaster" not in printed.log.getvalue() + capsys.readouterr().out
