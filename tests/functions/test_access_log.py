"""Tests of the audit line and metrics of both functions that agents call."""

from collections.abc import Callable
from typing import Any

import pytest

import functions.retrieve.handler as retrieve
from stackroom.access.access_log import EVENT
from stackroom.errors import KnowledgeBaseUnavailable
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.functions.printed import Figure, Printed
from tests.functions.tools import GatewayContext, Tools

ALICE = {"x-user-sub": "alice", "x-session-id": "session-1"}
OF_NOBODY = {"x-user-groups": "admins"}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(knowledge_base: FakeKnowledgeBase, printed: Printed) -> Ask:
    """Calls the tool and returns the audit line."""

    def ask(
        event: object,
        headers: dict[str, str] | None = ALICE,
        tool: str = "knowledge_base_retrieve",
    ) -> dict[str, Any]:
        retrieve.handler(event, GatewayContext(headers=headers, tool=f"knowledge___{tool}"))
        return printed.line(EVENT)

    return ask


def test_search_logs_its_caller_and_the_returned_documents(
    knowledge_base: FakeKnowledgeBase, ask: Ask
) -> None:
    knowledge_base.put("annual leave is 30 days", filename="a.txt", score=0.9)
    knowledge_base.put("annual leave is paid", filename="b.txt", score=0.8)
    knowledge_base.put("annual leave is over", filename="a.txt", score=0.7)
    knowledge_base.put("annual leave", filename="c.txt", score=0.1)
    knowledge_base.put("annual leave", user_id="alice", key="bob/cat-1/plan.txt", score=1.0)

    line = ask({"query": "annual leave", "top_k": 3, "catalog_id": None})

    members = ("tool", "outcome", "user_id", "session_id", "document_ids")
    assert [line[each] for each in members] == [
        "knowledge_base_retrieve",
        "success",
        "alice",
        "session-1",
        "doc-a.txt doc-b.txt",
    ]
    assert line["latency_ms"] >= 0
    assert "annual" not in str(line)


@pytest.mark.parametrize(
    ("event", "headers", "tool", "identity"),
    [
        ({"query": "x"}, None, "knowledge_base_retrieve", ("MissingIdentity", None)),
        ({"query": "x"}, OF_NOBODY, "knowledge_base_retrieve", ("MissingIdentity", None)),
        ({"query": ""}, ALICE, "knowledge_base_retrieve", ("ValidationError", "alice")),
        ({"query": "x"}, ALICE, "delete_catalog", ("ValidationError", "alice")),
        (
            {"query": "x", "knowledge_base_id": "KB9"},
            ALICE,
            "knowledge_base_retrieve",
            ("KnowledgeBaseNotFound", "alice"),
        ),
    ],
)
def test_refused_search_asks_no_store_and_logs_no_fault(
    knowledge_base: FakeKnowledgeBase,
    ask: Ask,
    printed: Printed,
    event: object,
    headers: dict[str, str] | None,
    *,
    tool: str,
    identity: tuple[str, str | None],
) -> None:
    line = ask(event, headers, tool)

    assert (line["outcome"], line.get("user_id")) == identity
    assert line["document_ids"] == ""
    assert line["tool"] in ("knowledge_base_retrieve", "unknown")
    assert len(printed.figures("ToolLatency")) == 1
    assert printed.figures("ToolFaults") == []
    assert knowledge_base.filters == []


def test_logged_ids_are_shortened_and_stay_on_one_line(ask: Ask) -> None:
    line = ask({"query": "x", "catalog_id": "cat-\n\u202e1" + "x" * 500, "document_id": 5})

    assert line["catalog_id"] == "cat-1" + "x" * 95
    assert "document_id" not in line


def test_internal_fault_is_counted_with_its_latency(
    knowledge_base: FakeKnowledgeBase, ask: Ask, printed: Printed
) -> None:
    knowledge_base.failure = KnowledgeBaseUnavailable("Retrieve", "ServiceUnavailable")

    line = ask({"query": "annual leave"})

    [latency] = printed.figures("ToolLatency")
    assert line["outcome"] == "RetrievalFailed"
    assert (latency.unit, latency.dimensions) == (
        "Milliseconds",
        {"service": "retrieve", "tool": "knowledge_base_retrieve", "outcome": "RetrievalFailed"},
    )
    assert printed.figures("ToolFaults") == [
        Figure(name="ToolFaults", values=(1.0,), unit="Count", dimensions={"service": "retrieve"})
    ]


def test_catalog_tool_calls_log_user_and_documents_without_text(
    tools: Tools, printed: Printed
) -> None:
    catalog_id = tools.create("Secret name")
    document_id = tools.index(catalog_id, "leave.txt", "Annual leave is thirty secret days.")
    named = {"catalog_id": catalog_id, "document_id": document_id}

    tools.call("query_catalog", query="How secret is annual leave?", catalog_id=catalog_id)
    tools.call("download_from_catalog", **named)
    tools.call("list_catalog_documents", catalog_id=catalog_id)
    tools.call("delete_catalog", catalog_id=catalog_id)

    lines = {line["tool"]: line for line in printed.lines(EVENT)}
    assert {tool: line["document_ids"] for tool, line in lines.items()} == {
        "create_catalog": "",
        "upload_to_catalog": "",
        "query_catalog": document_id,
        "download_from_catalog": document_id,
        "list_catalog_documents": "",
        "delete_catalog": "",
    }
    who = {(line["user_id"], line["session_id"], line["catalog_id"]) for line in lines.values()}
    assert who == {("alice", "session-1", catalog_id)}
    outcomes = {tool: line["outcome"] for tool, line in lines.items()}
    assert outcomes.pop("delete_catalog") == "CONFIRMATION_REQUIRED"
    assert set(outcomes.values()) == {"success"}
    assert min(line["latency_ms"] for line in lines.values()) >= 0
    assert not any("ecret" in str(line) for line in printed.lines())
