"""The retrieve function as the gateway calls it."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber
from moto import mock_aws

from functions.retrieve import handler as function
from stackroom.aws import session
from stackroom.aws.place_maps import S3PlaceMaps
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.place_map import PlaceMap
from stackroom.retrieval.budget import Budget, Priority
from stackroom.retrieval.search import Retrieval
from tests import lambda_context
from tests.aws.stores import CONTROL_TABLE, create_tables
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps

EQUALS_ALICE = {"equals": {"key": "user_id", "value": "alice"}}


def _custom(headers: dict[str, str], tool: str) -> dict[str, Any]:
    return {
        "bedrockAgentCoreToolName": tool,
        "bedrockAgentCorePropagatedHeaders": headers,
    }


@dataclass
class Context(lambda_context.Context):
    """As the gateway calls: with the headers that it passes on, if any."""

    function_name: str = "retrieve"
    headers: dict[str, str] | None = field(default_factory=lambda: {"X-User-Sub": "alice"})
    tool: str = "knowledge___knowledge_base_retrieve"

    @property
    def client_context(self) -> SimpleNamespace | None:
        if self.headers is None:
            return None
        return SimpleNamespace(custom=_custom(self.headers, self.tool))


@pytest.fixture
def knowledge_base(monkeypatch: pytest.MonkeyPatch) -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    retrieval = Retrieval(
        pool={"KB1": knowledge_base}, catalogs=FakeCatalogs(), place_maps=FakePlaceMaps()
    )
    monkeypatch.setattr(function, "retrieval", lambda: retrieval)
    return knowledge_base


Printed = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """The lines of log and metrics, parsed; the logger would keep an earlier test's stdout."""
    log = io.StringIO()
    monkeypatch.setattr(function.logger.registered_handler, "stream", log)
    return lambda: [
        json.loads(line) for line in (log.getvalue() + capsys.readouterr().out).splitlines()
    ]


def test_an_answer_has_exactly_the_agreed_shape(knowledge_base: FakeKnowledgeBase) -> None:
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
        },
    }


def test_what_is_cut_says_so_and_nothing_else_does(knowledge_base: FakeKnowledgeBase) -> None:
    knowledge_base.put("whole", score=0.9, attributes={"truncated": "1950", "domain": "hr"})
    knowledge_base.put("Part of it. " * 40, score=0.8, attributes={"truncated": False})
    knowledge_base.put("left out", score=0.7)

    cut = function.handler({"query": "q", "max_tokens": 104}, Context())
    whole = function.handler({"query": "q"}, Context())

    # 102 tokens are room for 405 characters: 33 times 12, and the last space is not shown.
    beginning = ("Part of it. " * 33).rstrip() + "..."
    assert [each["content"] for each in cut["results"]] == ["whole", beginning]
    assert [each["metadata"] for each in cut["results"]] == [{"domain": "hr"}, {"truncated": True}]
    told = ("truncated", "total_results", "omitted_results", "total_tokens")
    assert [cut["metadata"][name] for name in told] == [True, 2, 1, 102]
    assert [each["metadata"] for each in whole["results"]] == [{"domain": "hr"}, {}, {}]
    assert "truncated" not in whole["metadata"]


@pytest.mark.parametrize("headers", [None, {}, {"x-user-sub": " "}, {"x-user-groups": "admins"}])
def test_a_call_without_a_verified_user_is_refused_before_any_search(
    knowledge_base: FakeKnowledgeBase, headers: dict[str, str] | None
) -> None:
    response = function.handler(
        {"query": "annual leave", "user_id": "alice"}, Context(headers=headers)
    )

    assert (response["success"], response["errorType"]) == (False, "MissingIdentity")
    assert knowledge_base.filters == []


@pytest.mark.parametrize(
    "tool",
    ["delete_catalog", "retrieve", "knowledge_base_retrieve___x", "KNOWLEDGE_BASE_RETRIEVE"],
)
def test_a_call_for_another_tool_is_refused_before_any_search(
    knowledge_base: FakeKnowledgeBase, tool: str
) -> None:
    response = function.handler({"query": "annual leave"}, Context(tool=f"knowledge___{tool}"))

    assert (response["success"], response["errorType"]) == (False, "ValidationError")
    assert response["error"] == (
        f"{tool!r} is no tool of this function. Allowed: knowledge_base_retrieve"
    )
    assert knowledge_base.filters == []


def test_the_caller_is_the_header_whatever_the_arguments_say(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    knowledge_base.put("annual leave is 30 days", user_id="alice")
    context = Context(headers={"x-user-sub": "bob"})

    honest = function.handler({"query": "annual leave"}, context)
    forged = function.handler({"query": "annual leave", "user_id": "alice"}, context)

    assert honest["results"] == []
    assert (forged["results"], forged["errorType"]) == ([], "ValidationError")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "query: Field required. Allowed: What to look for"),
        ({"query": ""}, "query: is empty. Allowed: What to look for"),
        ({"query": "x" * 1001}, "query: String should have at most 1000 characters"),
        ({"query": "q", "top_k": 0}, "top_k: Input should be greater than or equal to 1. Allowed"),
        ({"query": "q", "top_k": 21}, "an integer from 1 to 20"),
        ({"query": "q", "top_k": True}, "top_k: must be a number"),
        ({"query": "q", "min_score": 1.1}, "a number from 0 to 1"),
        ({"query": "q", "min_score": float("nan")}, "a number from 0 to 1"),
        ({"query": "q", "max_tokens": 100_001}, "an integer from 1 to 100,000"),
        (
            {"query": "q", "prioritize_by": "newest"},
            "prioritize_by: Input should be 'similarity', 'recency' or 'balanced'. Allowed: Which",
        ),
        ({"query": "q", "filter": "user_id=bob"}, "filter: must be an object"),
        ({"query": "q", "filter": {"user_id": "bob"}}, "filter: may not name 'user_id'"),
        ({"query": "q", "filter": {"catalog_id": "c"}}, "filter: may not name 'catalog_id'"),
        ({"query": "q", "filter": {"a": {"b": {"c": 1}}}}, "filter: 'a' must be text"),
        ({"query": "q", "filter": {"a": 1, "b": 1, "c": 1, "d": 1}}, "at most 3 keys"),
        (
            {"query": "q", "retrievalFilter": {}},
            "retrievalFilter: no such argument. Allowed: query",
        ),
        (["annual leave"], "the arguments must be an object"),
    ],
)
def test_wrong_arguments_are_named_with_what_is_allowed(
    knowledge_base: FakeKnowledgeBase, arguments: Any, problem: str
) -> None:
    response = function.handler(arguments, Context())

    assert (response["success"], response["results"]) == (False, [])
    assert response["errorType"] == "ValidationError"
    assert problem in response["error"]
    assert knowledge_base.filters == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "\ud800"},
        {"query": "q", "\udfff": 1},
        {"query": "q", "filter": {"\ud800": 1}},
        {"query": "q", "top_k": float("inf")},
    ],
)
def test_half_a_character_or_no_number_in_the_arguments_gets_an_answer_that_can_be_sent(
    knowledge_base: FakeKnowledgeBase, arguments: Any
) -> None:
    response = function.handler(arguments, Context())

    assert response["errorType"] == "ValidationError"
    assert json.dumps(response, ensure_ascii=False, allow_nan=False).encode()


def test_half_a_character_in_a_passage_is_shown_as_one_that_is_unknown(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    knowledge_base.put("annual\ud800leave", attributes={"share": float("nan")})

    response = function.handler({"query": "annual leave"}, Context())

    [result] = response["results"]
    assert result["content"] == "annual\N{REPLACEMENT CHARACTER}leave"
    assert result["metadata"]["share"] is None
    assert json.dumps(response, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    "absent",
    [
        {},
        dict.fromkeys(
            ("top_k", "min_score", "filter", "catalog_id", "max_tokens", "prioritize_by")
        ),
    ],
)
@pytest.mark.parametrize("blank", ["", " "])
def test_missing_null_and_empty_arguments_take_the_defaults(
    knowledge_base: FakeKnowledgeBase, absent: dict[str, None], blank: str
) -> None:
    knowledge_base.put("annual leave is 30 days")

    response = function.handler(
        {"query": " annual leave ", "knowledge_base_id": blank, **absent}, Context()
    )

    assert response["metadata"]["total_results"] == 1


def test_numbers_that_a_model_wrote_as_text_or_float_are_taken(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    for n in range(3):
        knowledge_base.put(f"annual leave {n}", score=0.5)

    response = function.handler({"query": "q", "top_k": 2.0, "min_score": "0.5"}, Context())

    assert response["metadata"]["total_results"] == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"catalog_id": "cat-x"}, "Catalog 'cat-x' not found"),
        ({"knowledge_base_id": "KB9"}, "Knowledge base 'KB9' not found"),
    ],
)
def test_what_is_not_the_callers_is_not_found(
    knowledge_base: FakeKnowledgeBase, arguments: dict[str, str], error: str
) -> None:
    response = function.handler({"query": "annual leave", **arguments}, Context())

    assert (response["errorType"], response["error"]) == ("KnowledgeBaseNotFound", error)


@pytest.mark.parametrize(
    ("failure", "error_type"),
    [
        (KnowledgeBaseThrottled("Retrieve"), "Throttled"),
        (KnowledgeBaseUnavailable("Retrieve", "AccessDeniedException"), "RetrievalFailed"),
    ],
)
def test_all_knowledge_bases_failing_is_an_error_that_names_them(
    knowledge_base: FakeKnowledgeBase, failure: Any, error_type: str
) -> None:
    knowledge_base.failure = failure

    response = function.handler({"query": "annual leave"}, Context())

    assert (response["success"], response["errorType"]) == (False, error_type)
    assert response["metadata"]["failed_knowledge_bases"] == [
        {"knowledge_base_id": "KB1", "reason": str(failure)}
    ]


def test_a_fault_of_our_own_is_logged_and_answered_without_its_details(
    monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    def break_down() -> Retrieval:
        raise RuntimeError("table kb-catalog of account 123456789012")

    monkeypatch.setattr(function, "retrieval", break_down)

    response = function.handler({"query": "annual leave"}, Context())

    assert response["errorType"] == "RetrievalFailed"
    assert "123456789012" not in json.dumps(response)
    assert "broke" in [line.get("message") for line in printed()]


def test_a_search_is_logged_and_counted_without_its_words(
    knowledge_base: FakeKnowledgeBase, printed: Printed
) -> None:
    knowledge_base.put("annual leave is 30 days")

    function.handler({"query": "annual leave"}, Context())
    lines = printed()

    logged = next(line for line in lines if line.get("message") == "retrieved")
    assert (logged["total_results"], len(logged["query_hash"])) == (1, 16)
    assert counted("RetrieveResults", lines) == [1.0]
    assert "annual" not in json.dumps(lines)


def test_passages_of_somebody_elses_documents_are_counted_and_not_shown(
    knowledge_base: FakeKnowledgeBase, printed: Printed
) -> None:
    knowledge_base.put("annual leave is 30 days", user_id="alice", key="bob/cat-1/plan.txt")

    response = function.handler({"query": "annual leave"}, Context())

    assert (response["success"], response["results"]) == (True, [])
    assert response["metadata"]["withheld_results"] == 1
    assert counted("PassagesWithheld", printed()) == [1.0]


def test_a_search_in_another_way_than_is_configured_is_counted(
    knowledge_base: FakeKnowledgeBase, printed: Printed
) -> None:
    knowledge_base.put("annual leave is 30 days")
    knowledge_base.notice = "searched through Retrieve: the index is BUILDING"

    response = function.handler({"query": "annual leave"}, Context())

    assert response["metadata"]["search_notices"] == {"KB1": knowledge_base.notice}
    assert counted("SearchNotices", printed()) == [1.0]


def counted(figure: str, lines: list[dict[str, Any]]) -> Any:
    [value] = [line[figure] for line in lines if "_aws" in line and figure in line]
    return value


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The function as configured by its environment, DynamoDB and S3 by moto, Bedrock stubbed."""
    environment = {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "KB_POOL": '[{"knowledge_base_id": "KB12345678", "data_source_id": "DS12345678"}]',
        "KB_CATALOG_TABLE": "catalog",
        "KB_CONTROL_TABLE": CONTROL_TABLE,
        "KB_DOCS_BUCKET": "docs",
        "RETRIEVE_MIN_SCORE": "0.5",
        "RETRIEVE_MAX_TOKENS": "100",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        function.retrieval.cache_clear()
        session.client.cache_clear()
        create_tables(session.client("dynamodb"))
        yield environment
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
def test_what_is_shared_is_searched_where_the_environment_says_so(
    deployed: Any, monkeypatch: pytest.MonkeyPatch, switch: str | None, asked: list[Any]
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


def test_the_function_searches_with_what_its_environment_says(deployed: Any) -> None:
    s3 = session.client("s3")
    s3.create_bucket(Bucket="docs")
    place_map = PlaceMap.of("e", [Page(6, "Annual leave is 30 days.")])
    assert place_map is not None
    S3PlaceMaps(s3, "docs").put("doc-1", place_map)
    metadata = {"user_id": "alice", "document_id": "doc-1", "filename": "handbook.pdf"}
    location = {"type": "S3", "s3Location": {"uri": "s3://docs/alice/hr/handbook.pdf"}}
    place: dict[str, Any] = {"metadata": metadata, "location": location}
    found = [
        {"content": {"text": "Annual leave is 30 days."}, "score": 0.6, **place},
        {"content": {"text": "Annual report."}, "score": 0.4, **place},
    ]

    with Stubber(session.client("searches")) as bedrock:
        bedrock.add_response("retrieve", {"retrievalResults": found})
        response = function.handler({"query": "annual leave"}, Context())

    assert [result["content"] for result in response["results"]] == ["Annual leave is 30 days."]
    source = response["results"][0]["source"]
    assert (source["page"], source["page_first"], source["page_last"]) == (6, 6, 6)
    assert response["metadata"]["knowledge_bases_queried"] == ["KB12345678"]


def test_the_budget_is_the_environment_s(deployed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRIEVE_PRIORITIZE_BY", "balanced")

    assert function.retrieval().budget == Budget(max_tokens=100, prioritize_by=Priority.BALANCED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RETRIEVE_PRIORITIZE_BY", "newest"),
        ("RETRIEVE_MAX_TOKENS", "0"),
        ("RETRIEVE_MAX_TOKENS", "100001"),
    ],
)
def test_a_budget_that_is_none_is_refused_by_name(
    deployed: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ValueError, match=name.lower()):
        function.retrieval()


INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"


@pytest.fixture
def directly(deployed: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    """As configured to ask an index itself, by service that is asked."""
    [member] = json.loads(deployed["KB_POOL"])
    monkeypatch.setenv("KB_POOL", json.dumps([{**member, "index": INDEX}]))
    monkeypatch.setenv("RETRIEVE_VIA", "s3vectors")
    monkeypatch.setenv("EMBEDDING_DIMENSIONS", "2")
    session.client("s3").create_bucket(Bucket="docs")
    function.embedded.taken()
    services = ("s3vectors", "embeddings", "searches")
    stubbed = {service: Stubber(session.client(service)) for service in services}
    for each in stubbed.values():
        each.activate()
    yield stubbed
    for each in stubbed.values():
        each.assert_no_pending_responses()


def an_index(mode: str) -> dict[str, Any]:
    searchable = {"metadataKey": "AMAZON_BEDROCK_TEXT", "language": "en", "status": "ACTIVE"}
    index = {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "indexArn": INDEX,
        "creationTime": datetime(2026, 11, 1, tzinfo=UTC),
        "dataType": "float32",
        "dimension": 2,
        "distanceMetric": "cosine",
        "indexMode": mode,
        "metadataConfiguration": {"textSearchConfigurations": [searchable]},
    }
    return {"index": index}


def a_vector(text: str) -> dict[str, Any]:
    metadata = {
        "AMAZON_BEDROCK_TEXT": text,
        "x-amz-bedrock-kb-source-uri": "s3://docs/alice/hr/handbook.txt",
        "user_id": "alice",
        "document_id": "doc-1",
        "filename": "handbook.txt",
    }
    matched = [{"metadataKey": "AMAZON_BEDROCK_TEXT", "score": 3.0}]
    scores = {"fused": 0.03, "vectorDistance": 0.2, "bm25Scores": matched}
    return {"key": "1", "metadata": metadata, "scores": scores}


def test_an_index_is_asked_itself_and_a_question_embedded_once(
    directly: dict[str, Stubber], printed: Printed
) -> None:
    body = json.dumps({"embedding": [0.6, 0.8]}).encode()
    directly["s3vectors"].add_response("get_index", an_index("ENHANCED"))
    directly["embeddings"].add_response(
        "invoke_model",
        {"body": StreamingBody(io.BytesIO(body), len(body)), "contentType": "application/json"},
    )
    answer = {"vectors": [a_vector("annual leave is 30 days")], "distanceMetric": "cosine"}
    for _ in range(2):
        directly["s3vectors"].add_response("query_vectors", answer)

    responses = [function.handler({"query": "annual leave"}, Context()) for _ in range(2)]

    told = [each["results"][0]["content"] for each in responses]
    assert told == ["annual leave is 30 days"] * 2
    assert {each["metadata"]["search"] for each in responses} == {"hybrid"}
    assert [each["metadata"]["embedding_cached"] for each in responses] == [False, True]
    lines = [line for line in printed() if "EmbeddingCacheHits" in line]
    assert [line["EmbeddingCacheMisses"] for line in lines] == [[1.0], [0.0]]
    assert [line["EmbeddingCacheHits"] for line in lines] == [[0.0], [1.0]]


def test_an_index_that_can_not_be_asked_costs_no_answer_and_the_log_says_why(
    directly: dict[str, Stubber], printed: Printed
) -> None:
    metadata = {"user_id": "alice", "document_id": "doc-1", "filename": "handbook.txt"}
    found = {
        "content": {"text": "annual leave is 30 days"},
        "score": 0.8,
        "location": {"type": "S3", "s3Location": {"uri": "s3://docs/alice/hr/handbook.txt"}},
        "metadata": metadata,
    }
    directly["s3vectors"].add_response("get_index", an_index("CLASSIC"))
    directly["searches"].add_response("retrieve", {"retrievalResults": [found]})

    response = function.handler({"query": "annual leave"}, Context())

    why = "searched through Retrieve: it is in CLASSIC mode, not ENHANCED"
    lines = printed()
    [line] = [each for each in lines if each.get("message") == "retrieved"]
    assert [each["content"] for each in response["results"]] == ["annual leave is 30 days"]
    assert response["metadata"]["search"] == "semantic+text"
    assert line["search_notices"] == {"KB12345678": why}
    assert "EmbeddingCacheHits" not in str(lines)
