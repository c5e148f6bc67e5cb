"""
The caller and the tool of a request, as the AgentCore Gateway sends them beside its arguments.

The event of a Lambda target holds only the tool's arguments. The tool's name and the headers arrive
in `context.client_context.custom`. Our interceptor writes the identity headers among them from a
verified token (stackroom.access.interception). A model can invent an argument but not a header, as
long as the function's resource policy allows only the gateway to call it.
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
    """
    A verified user. `session_id` outlives a refresh of the token; None if the issuer reports none.
    """

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
    Return the headers that carry a caller from the interceptor to a function, for `tool_call` to
    read.

    Group names are percent-encoded: Cognito allows commas and any script in them, headers don't.
    Without groups the value is a lone comma, without a session a lone hyphen: an empty value might
    not replace one that a client sent, since the gateway's handling of empty values is
    undocumented.
    """
    groups = ",".join(quote(group, safe="") for group in caller.groups)
    return {
        USER_HEADER: caller.user_id,
        GROUPS_HEADER: groups or _NO_GROUPS,
        SESSION_HEADER: caller.session_id or _NO_SESSION,
    }


def tool_call(context: object) -> ToolCall:
    """
    Return the tool and the caller of this invocation.

    Raises `MissingIdentity` if any of it is absent or ambiguous: a direct invocation has no client
    context or a forged one, and a target without its header allow-list has no headers. None of
    these may pass as some default user. A session that is absent or ambiguous counts as none.
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
    Return the tool of this invocation, for a function that serves everyone whom the gateway lets
    call.

    Raises `MissingIdentity` if nothing names it, because only the gateway does.
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
    Return True if a version, an alias or `$LATEST` was invoked by name. The gateway invokes the
    function itself, and the resource policy that keeps everyone else out applies to the function
    alone: "Lambda does not support adding policies to version $LATEST".
    https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html
    """
    return function_arn.count(":") > _COLONS_OF_A_FUNCTION


def _member(owner: object, name: str) -> object:
    """
    Return an attribute or a key: awslambdaric passes objects that contain dicts, others only dicts.
    """
    if isinstance(owner, Mapping):
        return owner.get(name)
    return getattr(owner, name, None)


def _lowered(headers: object) -> dict[str, tuple[str, ...]]:
    """Return the values by lower-case name: headers arrive in the case that their sender chose."""
    lowered: dict[str, tuple[str, ...]] = {}
    if isinstance(headers, Mapping):
        for name, value in headers.items():
            lowered[str(name).lower()] = (*lowered.get(str(name).lower(), ()), _text(value).strip())
    return lowered


def _only(values: Iterable[str]) -> str:
    """Return the only value. If two values differ, one of them may be forged, so neither counts."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
