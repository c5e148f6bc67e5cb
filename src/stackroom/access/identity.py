"""
Who calls, and which tool: read from what the AgentCore Gateway puts beside a tool's arguments.

The event of a Lambda target holds the tool's arguments and nothing else. Tool name and headers
arrive in `context.client_context.custom`, and the identity headers among them were written by our
interceptor from a verified token (stackroom.access.interception). An argument can be invented by a
model, these can't, as long as the function's resource policy lets only the gateway call it.
[assumed: gateway.identity-headers]
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from stackroom.errors import MissingIdentity
from stackroom.model.keys import is_user_id

USER_HEADER = "x-user-sub"
GROUPS_HEADER = "x-user-groups"
SESSION_HEADER = "x-session-id"
IDENTITY_HEADERS = (USER_HEADER, GROUPS_HEADER, SESSION_HEADER)

_TOOL_NAME = "bedrockAgentCoreToolName"
_HEADERS = "bedrockAgentCorePropagatedHeaders"
_SEPARATOR = "___"  # between target and tool; target names can't hold an underscore

# Cognito's are UUIDs. It begins with a letter or digit, so that "-" can stand for "no session".
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NO_GROUPS = ","
_NO_SESSION = "-"
_COLONS_OF_A_FUNCTION = 6  # arn:aws:lambda:REGION:ACCOUNT:function:NAME


@dataclass(frozen=True)
class Caller:
    """`session_id` outlives a refresh of the token; None where the issuer tells none."""

    user_id: str
    groups: tuple[str, ...] = ()
    session_id: str | None = None


@dataclass(frozen=True)
class ToolCall:
    tool: str
    caller: Caller


def is_session_id(text: str) -> bool:
    return _SESSION_ID.fullmatch(text) is not None


def identity_headers(caller: Caller) -> dict[str, str]:
    """
    What carries a caller from the interceptor to a function; `tool_call` reads it.

    Group names are percent-encoded: Cognito allows commas and any script in them, headers don't.
    Without groups the value is a lone comma, without a session a lone hyphen, for an empty value
    might not displace the one that a client sent (how the gateway treats empty values is documented
    nowhere).
    """
    groups = ",".join(quote(group, safe="") for group in caller.groups)
    return {
        USER_HEADER: caller.user_id,
        GROUPS_HEADER: groups or _NO_GROUPS,
        SESSION_HEADER: caller.session_id or _NO_SESSION,
    }


def tool_call(context: object) -> ToolCall:
    """
    The tool and the caller of this invocation.

    Raises `MissingIdentity` when any of it is absent or ambiguous: a direct invocation has no
    client context, or a forged one, and a target without its header allow-list has no headers; none
    may pass as some default user. A session that is absent or ambiguous is no session.
    """
    tool = called_tool(context)
    custom = _member(_member(context, "client_context"), "custom")
    headers = _lowered(_member(custom, _HEADERS))
    user_id = _only(headers.get(USER_HEADER, ()))
    if not is_user_id(user_id):
        raise MissingIdentity
    encoded = _only(headers.get(GROUPS_HEADER, ())).split(",")
    groups = tuple(unquote(name.strip()) for name in encoded if name.strip())
    session = _only(headers.get(SESSION_HEADER, ()))
    session_id = session if is_session_id(session) else None
    return ToolCall(tool=tool, caller=Caller(user_id=user_id, groups=groups, session_id=session_id))


def called_tool(context: object) -> str:
    """
    The tool of this invocation, for a function that is everybody's whom the gateway lets call.

    Raises `MissingIdentity` when nothing says so: only the gateway does.
    """
    if _is_qualified(_text(_member(context, "invoked_function_arn"))):
        raise MissingIdentity
    custom = _member(_member(context, "client_context"), "custom")
    target, _, tool = _text(_member(custom, _TOOL_NAME)).partition(_SEPARATOR)
    if not target or not tool:
        raise MissingIdentity
    return tool


def _is_qualified(function_arn: str) -> bool:
    """
    Whether a version or an alias was invoked, or `$LATEST` by that name. The gateway invokes the
    function itself, and the resource policy that keeps everyone else out is the function's alone:
    "Lambda does not support adding policies to version $LATEST".
    https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html
    """
    return function_arn.count(":") > _COLONS_OF_A_FUNCTION


def _member(owner: object, name: str) -> object:
    """awslambdaric gives objects with dicts inside, other callers of a handler dicts alone."""
    if isinstance(owner, Mapping):
        return owner.get(name)
    return getattr(owner, name, None)


def _lowered(headers: object) -> dict[str, tuple[str, ...]]:
    """Values by lower-cased name: headers arrive in the casing of whoever set them."""
    lowered: dict[str, tuple[str, ...]] = {}
    if isinstance(headers, Mapping):
        for name, value in headers.items():
            lowered[str(name).lower()] = (*lowered.get(str(name).lower(), ()), _text(value).strip())
    return lowered


def _only(values: Iterable[str]) -> str:
    """The one value; with two that differ, one of them may be forged, so neither counts."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
