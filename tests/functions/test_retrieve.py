"""The retrieve function as the gateway calls it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.stub import Stubber
from moto import mock_aws

from functions.retrieve import handler as function
from stackroom.aws import session
from stackroom.search.budget import Budget, Priority
from stackroom.search.search import Retrieval
from tests.aws.stores import (
    ENVIRONMENT,
    create_tables,
)
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.functions.printed import Printed
from tests.functions.tools import GatewayContext

KNOWLEDGE = "knowledge___knowledge_base_retrieve"
EQUALS_ALICE = {"equals": {"key": "user_id", "value": "alice"}}


@dataclass
class Context(GatewayContext):
    headers: dict[str, str] | None = field(default_factory=lambda: {"X-User-Sub": "alice"})
    tool: str = KNOWLEDGE


def test_answer_has_exactly_the_agreed_shape(knowledge_base: FakeKnowledgeBase) -> None:
    attributes = {"domain": "hr", "uploaded_at": "2026-02-03T10:30:00Z"}
    knowledge_base.put("annual leave is 30 days", page=4, score=0.9, attributes=attributes)

    response = function.handler({"query": "annual leave"}, Context())

    assert response["metadata"].pop("query_latency_ms") >= 0
    assert json.loads(json.dumps(response)) == {
        "success": True,
        "results": [
            {
                "content": "annual leave is 30 days",
                "source": {
                    "document_id": "doc-handbook.txt",
                    "filename": "handbook.txt",
                    "uri": "s3://docs/alice/cat-1/handbook.txt",
                    "page": 4,
                    "page_first": None,
                    "page_last": None,
                    "section": None,
                    "catalog_id": "cat-1",
                    "knowledge_base_id": "KB1",
                },
                "score": 0.9,
                "metadata": {"domain": "hr", "uploaded_at": "2026-02-03T10:30:00Z"},
            }
        ],
        "metadata": {
            "total_results": 1,
            "omitted_results": 0,
            "total_tokens": 6,
            "knowledge_bases_queried": ["KB1"],
            "guardrail_action": "NONE",
            "search": "semantic",
            "relevance": "strong",
        },
    }


def test_caller_comes_from_the_header_and_never_from_arguments(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    knowledge_base.put("annual leave is 30 days", user_id="alice")
    context = Context(headers={"x-user-sub": "bob"})

    honest = function.handler({"query": "annual leave"}, context)
    forged = function.handler({"query": "annual leave", "user_id": "alice"}, context)

    assert honest["results"] == []
    assert (forged["results"], forged["errorType"]) == ([], "ValidationError")


def test_half_a_character_and_nan_are_answered_with_valid_json(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    knowledge_base.put("annual\ud800leave", attributes={"share": float("nan")})
    odd: list[dict[str, Any]] = [
        {"query": "\ud800"},
        {"query": "q", "\udfff": 1},
        {"query": "q", "filter": {"\ud800": 1}},
        {"query": "q", "top_k": float("inf")},
    ]

    refused = [function.handler(each, Context()) for each in odd]
    found = function.handler({"query": "annual leave"}, Context())

    assert {each["errorType"] for each in refused} == {"ValidationError"}
    [result] = found["results"]
    assert result["content"] == "annual\N{REPLACEMENT CHARACTER}leave"
    assert result["metadata"]["share"] is None
    for each in (*refused, found):
        assert json.dumps(each, ensure_ascii=False, allow_nan=False).encode()


def test_internal_fault_is_logged_and_answered_without_its_details(
    monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    def break_down() -> Retrieval:
        raise RuntimeError("table kb-catalog of account 123456789012")

    monkeypatch.setattr(function, "retrieval", break_down)

    response = function.handler({"query": "annual leave"}, Context())

    assert response["errorType"] == "RetrievalFailed"
    assert "123456789012" not in json.dumps(response)
    assert printed.line("broke")["level"] == "ERROR"


def test_search_is_logged_and_counted_without_its_words(
    knowledge_base: FakeKnowledgeBase, printed: Printed
) -> None:
    """The line also counts withheld passages and says why another way of searching was used."""
    knowledge_base.put("annual leave is 30 days")
    knowledge_base.put("annual leave of bob", user_id="alice", key="bob/cat-1/plan.txt")
    knowledge_base.notice = "searched through Retrieve: the index is BUILDING"
    function.cache_tally.count(hit=True)
    function.cache_tally.count(hit=False)

    response = function.handler({"query": "annual leave"}, Context())

    assert [each["content"] for each in response["results"]] == ["annual leave is 30 days"]
    assert response["metadata"]["withheld_results"] == 1
    line = printed.line("retrieved")
    assert line["total_results"] == 1
    assert line["search_notices"] == {"KB1": knowledge_base.notice}
    counted = {each.name: each.values for each in printed.figures() if each.name != "ToolLatency"}
    assert counted == {
        "RetrieveResults": (1.0,),
        "SearchNotices": (1.0,),
        "PassagesWithheld": (1.0,),
        "EmbeddingCacheHits": (1.0,),
        "EmbeddingCacheMisses": (1.0,),
    }
    assert "annual" not in printed.log.getvalue() + str(printed.out)


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Configure the function by its environment, on moto and a stub of Bedrock."""
    environment = {
        **ENVIRONMENT,
        "KB_POOL": '[{"knowledge_base_id": "KB12345678", "data_source_id": "DS12345678"}]',
        "RETRIEVE_LEAST_SCORE": "0.5",
        "RETRIEVE_MAX_TOKENS": "100",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        function.retrieval.cache_clear()
        session.client.cache_clear()
        create_tables(session.client("dynamodb"))
        yield
        function.retrieval.cache_clear()
        session.client.cache_clear()


@pytest.mark.parametrize(
    ("switch", "asked"),
    [
        ("on", [EQUALS_ALICE, {"listContains": {"key": "allowed_groups", "value": "Café, Köln"}}]),
        ("off", [EQUALS_ALICE]),
        (None, [EQUALS_ALICE]),
    ],
)
def test_shared_documents_are_searched_if_the_environment_allows(
    deployed: None, monkeypatch: pytest.MonkeyPatch, switch: str | None, asked: list[Any]
) -> None:
    if switch is not None:
        monkeypatch.setenv("RETRIEVE_SHARING", switch)
    headers = {"x-user-sub": "alice", "x-user-groups": "Caf%C3%A9%2C%20K%C3%B6ln"}
    sent: list[Any] = []
    client = session.client("searches")
    client.meta.events.register(
        "provide-client-params.bedrock-agent-runtime.Retrieve",
        lambda params, **_: sent.append(params["retrievalConfiguration"]),
    )

    with Stubber(client) as bedrock:
        for _ in asked:
            bedrock.add_response("retrieve", {"retrievalResults": []})
        response = function.handler({"query": "annual leave"}, Context(headers=headers))

    assert response["success"] is True
    filters = [each["vectorSearchConfiguration"]["filter"] for each in sent]
    assert sorted(filters, key=str) == sorted(asked, key=str)


def test_budget_comes_from_environment_and_invalid_one_is_refused_by_name(
    deployed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRIEVE_PRIORITIZE_BY", "balanced")
    budget = function.retrieval().retrieval.budget
    function.retrieval.cache_clear()
    monkeypatch.setenv("RETRIEVE_MAX_TOKENS", "100001")

    assert budget == Budget(max_tokens=100, prioritize_by=Priority.BALANCED)
    with pytest.raises(ValueError, match="retrieve_max_tokens"):
        function.retrieval()


def test_only_shortened_answers_are_marked(knowledge_base: FakeKnowledgeBase) -> None:
    knowledge_base.put("whole", score=0.9, attributes={"truncated": "1950", "domain": "hr"})
    knowledge_base.put("Part of it. " * 40, score=0.8, attributes={"truncated": False})
    knowledge_base.put("left out", score=0.7)

    cut = function.handler({"query": "q", "max_tokens": 104}, Context())
    whole = function.handler({"query": "q"}, Context())

    # 102 tokens are room for 405 characters: 33 times 12, and the last space is not shown.
    beginning = ("Part of it. " * 33).rstrip() + "..."
    assert [each["content"] for each in cut["results"]] == ["whole", beginning]
    assert [each["metadata"] for each in cut["results"]] == [{"domain": "hr"}, {"truncated": True}]
    members = ("truncated", "total_results", "omitted_results", "total_tokens")
    assert [cut["metadata"][name] for name in members] == [True, 2, 1, 102]
    assert [each["metadata"] for each in whole["results"]] == [{"domain": "hr"}, {}, {}]
    assert "truncated" not in whole["metadata"]
