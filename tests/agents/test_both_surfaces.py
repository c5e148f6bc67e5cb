"""Behind the gateway and in an agent's process, a tool answers the same, word for word."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from stackroom import errors
from stackroom.tools.tools import TOOLS
from tests.agents.conftest import Surfaces
from tests.agents.twins import call_in_process
from tests.functions.tools import Answer, GatewayContext, Tools, encoded

FILE = encoded("Annual leave is thirty days for everyone.")

# How a catalog is before the call, the tool, its arguments, what comes of it. CAT and DOC stand for
# the ids of the catalog and of the document in it.
Row = tuple[str, str, dict[str, Any], str]
_FILE = {"catalog_id": "CAT", "filename": "b.txt"}
_WORKS: list[Row] = [
    ("none", "create_catalog", {"catalog_name": "Travel", "description": "notes"}, "success"),
    ("pending", "list_catalogs", {}, "success"),
    (
        "empty",
        "upload_to_catalog",
        {"catalog_id": "CAT", "filename": "b.txt", "file_content": FILE, "metadata": {"a": "b"}},
        "success",
    ),
    ("pending", "list_catalog_documents", {"catalog_id": "CAT"}, "success"),
    ("pending", "delete_catalog_document", {"catalog_id": "CAT", "document_id": "DOC"}, "success"),
    ("pending", "download_from_catalog", {"catalog_id": "CAT", "document_id": "DOC"}, "success"),
    ("indexed", "get_indexing_status", {"catalog_id": "CAT"}, "success"),
    ("indexed", "select_catalog", {"catalog_id": "CAT"}, "success"),
    ("selected", "query_catalog", {"query": "How long is annual leave?"}, "success"),
    ("pending", "delete_catalog", {"catalog_id": "CAT", "confirm": True}, "success"),
    ("none", "feedback", {"question": "Leave?", "helpful": True, "page": 2}, "success"),
    ("pending", "list_feedback", {"catalog_id": "CAT"}, "success"),
    ("none", "list_events", {"limit": 5}, "success"),
    ("pending", "get_usage", {"month": "2026-11"}, "success"),
    ("pending", "update_catalog", {"catalog_id": "CAT", "catalog_name": "Trips"}, "success"),
]
# The same in the types that clients and models write it in.
_READ: list[Row] = [
    (
        "empty",
        "upload_to_catalog",
        {"file_content": ["null"], "metadata": "{}", **_FILE},
        "success",
    ),
    (
        "none",
        "feedback",
        {"question": "Leave?", "helpful": "true", "file": "null", "page": "2", "note": "undefined"},
        "success",
    ),
    ("none", "list_events", {"after": "null", "catalog_id": "null", "limit": "5"}, "success"),
]
_REFUSED: list[Row] = [
    ("empty", "upload_to_catalog", {"file_content": "test", **_FILE}, "VALIDATION_ERROR"),
    ("none", "create_catalog", {"catalog_name": "a/b"}, "INVALID_NAME"),
    ("none", "query_catalog", {"query": "?"}, "NO_CATALOG_SELECTED"),
    ("deleting", "select_catalog", {"catalog_id": "CAT"}, "CATALOG_DELETING"),
]
# What Strands' own model of a function's signature would have let through, turned or dropped.
_WRONG: list[tuple[str, dict[str, Any]]] = [
    ("create_catalog", {}),
    ("feedback", {"question": "Leave?", "helpful": "yes"}),
    ("create_catalog", {"catalog_name": "a", "tool_context": {"invocation_state": {}}}),
    ("list_catalogs", {"user_id": "alice"}),
    ("delete_catalog", {"catalog_id": "cat-000000000000000000000000", "confirm": "true"}),
    ("query_catalog", {"query": ["?"], "filter": {"user_id": "alice"}}),
]


OF_NO_GROUPS = {"user_id": "alice", "groups": "admins"}
# For one user: the world of these tests has time for one run. The calls change nothing.
_INDEXED = ("indexed", "selected")


def prepared(tools: Tools, state: str) -> Mapping[str, str]:
    if state == "none":
        return {}
    named = {"CAT": tools.create()}
    if state in ("pending", "deleting"):
        named["DOC"] = tools.upload(named["CAT"], "a.txt")
    if state in _INDEXED:
        text = "Annual leave is thirty days for everyone."
        named["DOC"] = tools.index(named["CAT"], "a.txt", text)
    if state == "selected":
        assert tools.call("select_catalog", catalog_id=named["CAT"])["status"] == "success"
    if state == "deleting":
        deleted = tools.call("delete_catalog", catalog_id=named["CAT"], confirm=True)
        assert deleted["status"] == "success"
    return named


def outcome_of(answer: Answer) -> str:
    return str(answer["metadata"].get("error_code", answer["status"]))


def alike(answer: Answer, tools: Tools) -> Any:
    """The answer without what two users' calls at two moments can't have in common."""
    text = json.dumps(answer).replace(tools.user, "USER")
    text = re.sub(r"\b(cat|doc|rcpt)-[0-9a-zA-Z]+(-\w+)?", r"\1-ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?", "MOMENT", text)
    text = re.sub(r"(policy=|\\\"policy\\\": \\\"|\"policy\": \")[\w+/=]+", r"\1P", text)
    text = re.sub(r"(?i)(x-amz-(?:signature|date)[\"=: ]+)\w+", r"\1S", text)
    return json.loads(text)


@pytest.mark.parametrize(
    ("state", "tool", "arguments", "outcome"),
    [*_WORKS, *_READ, *_REFUSED],
    ids=lambda each: each if isinstance(each, str) else "-",
)
def test_a_call_is_answered_alike(
    surfaces: Surfaces, state: str, tool: str, arguments: dict[str, Any], outcome: str
) -> None:
    gateway, in_process = surfaces.gateway, surfaces.in_process
    named = prepared(gateway, state)
    answers = [gateway.call(tool, **_with(named, arguments))]
    if state in _INDEXED:
        in_process = in_process.of(gateway.user)
    else:
        named = prepared(in_process, state)
    answers.append(in_process.call(tool, **_with(named, arguments)))

    assert [outcome_of(each) for each in answers] == [outcome, outcome]
    assert alike(answers[1], in_process) == alike(answers[0], gateway)


def _with(named: Mapping[str, str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: named.get(each, each) if isinstance(each, str) else each
        for name, each in arguments.items()
    }


def test_the_rows_are_of_every_tool() -> None:
    assert {tool for _, tool, _, _ in _WORKS} == {each.name for each in TOOLS}


def test_arguments_that_are_no_object_are_refused_in_the_same_words(surfaces: Surfaces) -> None:
    """The gateway's interceptor refuses them before a function could; this is behind it."""
    for given in (["catalog_id"], '{"catalog_id": "cat-1"}'):
        context = GatewayContext(headers={"x-user-sub": "gates"}, tool="catalogs___list_catalogs")
        gateway = surfaces.gateway.raw(given, context)

        assert outcome_of(gateway) == "VALIDATION_ERROR"
        assert call_in_process("list_catalogs", given, {"user_id": "gates"}) == gateway


def test_wrong_arguments_are_refused_in_the_same_words(surfaces: Surfaces) -> None:
    for tool, arguments in _WRONG:
        gateway = surfaces.gateway.call(tool, **arguments)
        in_process = surfaces.in_process.call(tool, **arguments)

        assert outcome_of(gateway) == "VALIDATION_ERROR", arguments
        assert in_process == gateway
    assert surfaces.in_process.call("list_catalogs")["metadata"]["catalog_count"] == 0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (errors.KnowledgeBaseThrottled("Retrieve"), "THROTTLED"),
        (RuntimeError("arn:aws:secret"), "UNAVAILABLE"),
    ],
)
def test_fault_is_reported_alike_on_both_surfaces(
    surfaces: Surfaces, error: Exception, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("stackroom.catalogs.listing.Listing.catalogs_of", broken)

    gateway = surfaces.gateway.call("list_catalogs")
    in_process = surfaces.in_process.call("list_catalogs")

    assert outcome_of(gateway) == outcome
    assert in_process == gateway


def test_without_a_session_nothing_is_selected_on_either(surfaces: Surfaces) -> None:
    answers = []
    for tools in (surfaces.gateway, surfaces.in_process):
        named = prepared(tools, "empty")
        without = tools.of(tools.user, session=None)
        answers.append(without.call("select_catalog", catalog_id=named["CAT"]))

    assert outcome_of(answers[0]) == "MISSING_IDENTITY"
    assert answers[1] == answers[0]


def test_a_call_without_a_user_is_refused_in_the_gateway_s_words(surfaces: Surfaces) -> None:
    context = GatewayContext(headers={}, tool="catalogs___list_catalogs")
    gateway = surfaces.gateway.raw({}, context)

    assert outcome_of(gateway) == "MISSING_IDENTITY"
    for state in ({}, {"user_id": "../bob"}, {"user_id": ["alice"]}, OF_NO_GROUPS):
        assert call_in_process("list_catalogs", {}, state) == gateway
