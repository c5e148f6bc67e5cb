"""Who calls, as the gateway hands it over; without a doubtless answer there is no caller."""

from types import SimpleNamespace
from typing import Any

import pytest

from stackroom.access.identity import Caller, identity_headers, tool_call
from stackroom.errors import MissingIdentity
from stackroom.model.keys import Location, is_user_id, locate


def a_context(tool: str = "knowledge___search", **headers: str) -> SimpleNamespace:
    propagated = {name.replace("_", "-"): value for name, value in headers.items()}
    custom: dict[str, Any] = {
        "bedrockAgentCoreToolName": tool,
        "bedrockAgentCorePropagatedHeaders": propagated,
    }
    return SimpleNamespace(client_context=SimpleNamespace(custom=custom))


def test_a_call_names_its_tool_without_the_target_and_its_caller() -> None:
    context = a_context("knowledge___knowledge_base_retrieve", x_user_sub="alice")

    call = tool_call(context)

    assert call.tool == "knowledge_base_retrieve"
    assert call.caller == Caller(user_id="alice", groups=())
    assert tool_call({"client_context": {"custom": context.client_context.custom}}) == call
    # The target ends at the first three underscores.
    assert tool_call(a_context("docs___read___all", x_user_sub="alice")).tool == "read___all"


def test_header_names_match_in_any_case_and_contradicting_ones_are_ignored() -> None:
    context = a_context(X_USER_Sub="alice", X_User_GROUPS="staff, legal")
    doubtful = a_context(**{"x-user-sub": "alice", "x-user-groups": "a", "X-User-Groups": "b"})

    assert tool_call(context).caller == Caller(user_id="alice", groups=("staff", "legal"))
    assert tool_call(doubtful).caller == Caller(user_id="alice", groups=())


@pytest.mark.parametrize(
    ("groups", "session"),
    [((), None), (("staff", "a,b", "recht & steuern", "法務", "50%", " padded "), "s.1_2")],
)
def test_any_group_name_and_a_session_survive_the_headers(
    groups: tuple[str, ...], session: str | None
) -> None:
    caller = Caller(user_id="alice", groups=groups, session_id=session)
    headers = identity_headers(caller)
    custom = {"bedrockAgentCoreToolName": "t___u", "bedrockAgentCorePropagatedHeaders": headers}

    assert tool_call({"client_context": {"custom": custom}}).caller == caller
    assert all(value.isascii() and value.isprintable() and value for value in headers.values())


def test_a_function_invoked_past_its_policy_by_another_arn_knows_no_user() -> None:
    arn = "arn:aws:lambda:us-east-1:111122223333:function:stackroom-retrieve"
    context = a_context(x_user_sub="alice")

    context.invoked_function_arn = arn
    assert tool_call(context).caller.user_id == "alice"

    context.invoked_function_arn = f"{arn}:$LATEST"
    with pytest.raises(MissingIdentity):
        tool_call(context)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-session-id": ""},
        {"x-session-id": "a b"},
        {"x-session-id": "../alice"},
        {"x-session-id": "x" * 129},
        {"x-session-id": "s1", "X-Session-Id": "s2"},
    ],
)
def test_ambiguous_session_header_counts_as_no_session(headers: dict[str, str]) -> None:
    call = tool_call(a_context(**{"x-user-sub": "alice", **headers}))

    assert call.caller == Caller(user_id="alice", session_id=None)


@pytest.mark.parametrize(
    "context",
    [
        None,
        SimpleNamespace(client_context=None),
        SimpleNamespace(client_context=SimpleNamespace(custom={})),
        {"client_context": {"custom": {"bedrockAgentCoreToolName": "knowledge___search"}}},
        a_context(x_user_sub=""),
        a_context(x_user_sub="../bob"),
        a_context("search", x_user_sub="alice"),
        a_context("___search", x_user_sub="alice"),
        a_context("knowledge___", x_user_sub="alice"),
        a_context(**{"x-user-sub": "alice", "X-User-Sub": "mallory"}),
    ],
)
def test_call_without_one_unambiguous_user_is_refused(context: object) -> None:
    with pytest.raises(MissingIdentity, match="no verified user"):
        tool_call(context)


@pytest.mark.parametrize("user_id", ["a.b+c@example.org", "x" * 128])
def test_a_subject_that_names_one_folder_is_a_user_id(user_id: str) -> None:
    assert is_user_id(user_id)
    assert isinstance(locate(f"{user_id}/research/report.pdf"), Location)


@pytest.mark.parametrize(
    "user_id",
    ["", ".", "..", "a/b", "_pagemaps", "!rejected", " alice", "alice ", "alice\n", "é", "x" * 129],
)
def test_a_subject_that_could_leave_its_folder_is_no_user_id(user_id: str) -> None:
    location = locate(f"{user_id}/research/report.pdf")

    assert not is_user_id(user_id)
    assert not (isinstance(location, Location) and location.user_id == user_id)
