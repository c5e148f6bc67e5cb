"""Behind the gateway and in an agent's process, a tool answers the same, word for word."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from stackroom import errors
from stackroom.tools.tools import TOOLS
from tests.agents.conftest import Surfaces
from tests.agents.twins import call_in_process
from tests.functions.tools import Answer, GatewayContext, Tools, encoded

FILE = encoded("Annual leave is thirty days for everyone.")

# How a catalog is before the calls; and the calls, the last of which may change it: the tool, its
# arguments, what comes of it. CAT and DOC stand for the ids of the catalog and its document.
Row = tuple[str, dict[str, Any], str]
_NAMED = {"catalog_id": "CAT"}
_DOCUMENT = {"catalog_id": "CAT", "document_id": "DOC"}
_FILE = {"catalog_id": "CAT", "filename": "b.txt"}
CALLS: Mapping[str, Sequence[Row]] = {
    "none": (
        ("query_catalog", {"query": "?"}, "NO_CATALOG_SELECTED"),
        ("list_events", {"limit": 5}, "success"),
        ("feedback", {"question": "Leave?", "helpful": True, "page": 2}, "success"),
        # In the types that clients and models write.
        ("feedback", {"question": "?", "helpful": "true", "file": "null", "page": "2"}, "success"),
        ("create_catalog", {"catalog_name": "a/b"}, "INVALID_NAME"),
        ("create_catalog", {"catalog_name": "Travel", "description": "notes"}, "success"),
    ),
    "empty": (
        ("upload_to_catalog", {"file_content": "test", **_FILE}, "VALIDATION_ERROR"),
        ("upload_to_catalog", {"file_content": ["null"], "metadata": "{}", **_FILE}, "success"),
        ("upload_to_catalog", {"file_content": FILE, "metadata": {"a": "b"}, **_FILE}, "success"),
    ),
    "pending": (
        ("list_catalogs", {}, "success"),
        ("list_catalog_documents", _NAMED, "success"),
        ("list_feedback", _NAMED, "success"),
        ("get_usage", {"month": "2026-11"}, "success"),
        ("download_from_catalog", _DOCUMENT, "success"),
        ("update_catalog", {**_NAMED, "catalog_name": "Trips"}, "success"),
        ("delete_catalog_document", _DOCUMENT, "success"),
        ("delete_catalog", {**_NAMED, "confirm": True}, "success"),
        ("select_catalog", _NAMED, "CATALOG_DELETING"),
    ),
    # For one user: the world of these tests has time for one run. These calls change nothing.
    "indexed": (
        ("get_indexing_status", _NAMED, "success"),
        ("select_catalog", _NAMED, "success"),
        ("query_catalog", {"query": "How long is annual leave?"}, "success"),
    ),
}
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


def prepared(tools: Tools, state: str) -> Mapping[str, str]:
    if state == "none":
        return {}
    named = {"CAT": tools.create()}
    if state == "pending":
        named["DOC"] = tools.upload(named["CAT"], "a.txt")
    if state == "indexed":
        text = "Annual leave is thirty days for everyone."
        named["DOC"] = tools.index(named["CAT"], "a.txt", text)
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


@pytest.mark.parametrize("state", CALLS)
def test_a_call_is_answered_alike(surfaces: Surfaces, state: str) -> None:
    gateway, in_process = surfaces.gateway, surfaces.in_process
    named = prepared(gateway, state)
    if state == "indexed":
        in_process, too = in_process.of(gateway.user), named
    else:
        too = prepared(in_process, state)

    for tool, arguments, outcome in CALLS[state]:
        answer = gateway.call(tool, **_with(named, arguments))
        other = in_process.call(tool, **_with(too, arguments))

        assert [outcome_of(each) for each in (answer, other)] == [outcome, outcome], tool
        assert alike(other, in_process) == alike(answer, gateway), tool


def _with(named: Mapping[str, str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: named.get(each, each) if isinstance(each, str) else each
        for name, each in arguments.items()
    }


def test_the_rows_are_of_every_tool() -> None:
    called = {tool for rows in CALLS.values() for tool, _, outcome in rows if outcome == "success"}
    assert called == {each.name for each in TOOLS}


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


def test_a_call_without_a_user_is_refused_in_the_gateway_s_words(surfaces: Surfaces) -> None:
    context = GatewayContext(headers={}, tool="catalogs___list_catalogs")
    gateway = surfaces.gateway.raw({}, context)

    assert outcome_of(gateway) == "MISSING_IDENTITY"
    for state in ({}, {"user_id": "../bob"}, {"user_id": ["alice"]}, OF_NO_GROUPS):
        assert call_in_process("list_catalogs", {}, state) == gateway
