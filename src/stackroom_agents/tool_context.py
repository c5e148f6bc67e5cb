"""
The parts that an agent's tools share: the caller, the use cases, the audit line of each call.

The caller comes from the invocation state alone: the program sets it, and no model reads or writes
it.

    agent(prompt, invocation_state={"user_id": "alice", "groups": ["hr"], "session_id": "s-1"})

The program is responsible for it, as an interceptor is for its headers: the values must come from a
token that it has verified, never from a prompt or from an argument of a tool.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from strands import tool
from strands.tools.decorator import DecoratedFunctionTool, FunctionToolMetadata
from strands.types.tools import ToolContext

from stackroom.access.access_log import AccessWriter
from stackroom.access.identity import Caller, is_session_id
from stackroom.access.tool import Tool
from stackroom.errors import MissingIdentity
from stackroom.model.keys import is_user_id
from stackroom.search.results import Response, Searchable
from stackroom.tools.definition import Services

USER_ID = "user_id"
GROUPS = "groups"
SESSION_ID = "session_id"


def caller_of(invocation_state: Mapping[str, Any]) -> Caller:
    """
    Return the caller. An invalid session counts as none, as in `tool_call`.

    Raises MissingIdentity if there is no user, or the groups are no list of names: a text would
    pass as a group for each of its letters.
    """
    user_id = invocation_state.get(USER_ID)
    groups = invocation_state.get(GROUPS) or ()
    session_id = invocation_state.get(SESSION_ID)
    if not isinstance(user_id, str) or not is_user_id(user_id):
        raise MissingIdentity
    if not isinstance(groups, list | tuple) or not all(isinstance(each, str) for each in groups):
        raise MissingIdentity
    is_session = isinstance(session_id, str) and is_session_id(session_id)
    return Caller(user_id, tuple(groups), session_id if is_session else None)


def caller_or_nobody(invocation_state: Mapping[str, Any]) -> Caller | None:
    """
    Return the caller, or None if the state has none, for searches that may not need one.

    Raises MissingIdentity for an invalid caller, so that none of their groups count.
    """
    is_named = any(invocation_state.get(name) is not None for name in (USER_ID, GROUPS))
    return caller_of(invocation_state) if is_named else None


# A name that programs listen to.
logger = logging.getLogger("stackroom_agents.tool_context")
# Writes the line that the function behind the gateway writes, with the record's fields.
report = AccessWriter(logger)


class AgentServices(Services, Protocol):
    """The use cases behind the tools; `stackroom.app.tool_builder` makes each at its first use."""

    @property
    def metered_retrieval(self) -> Searchable: ...


StrandsTool = DecoratedFunctionTool[[ToolContext[Any]], Response]


class _ReadByTheTool(FunctionToolMetadata):
    """Leaves the arguments, which may be no object, to the tool's own definition to parse."""

    def validate_input(self, _input: object) -> dict[str, Any]:
        return {}


def strands_tool(
    definition: Tool[Any], answer: Callable[[ToolContext[Any]], Response]
) -> StrandsTool:
    """Return the tool for Strands; `answer` takes the parameter `tool_context` and no other."""
    made = tool(
        context=True,
        name=definition.name,
        description=definition.description,
        inputSchema={"json": definition.definition()["inputSchema"]},
    )(answer)
    metadata = _ReadByTheTool(answer, "tool_context")
    return DecoratedFunctionTool(made.tool_name, made.tool_spec, answer, metadata)
