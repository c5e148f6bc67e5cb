"""The catalog tools as an agent calls them in its own process: by a model, in Strands' loop."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strands import Agent

from examples.agent.scripted import Call, Script, ScriptedModel
from stackroom_agents.catalog_tools import catalog_tools
from stackroom_agents.tool_context import AgentServices
from tests.functions.tools import Answer, Tools

SESSION = "session-1"


def call_in_process(
    tool: str,
    given: object,
    invocation_state: Mapping[str, Any],
    services: AgentServices | None = None,
) -> Answer:
    """Call a catalog tool in process, as `called` does."""
    return called(Call(tool, given), catalog_tools(services), invocation_state)


def called(call: Call, tools: Sequence[Any], invocation_state: Mapping[str, Any]) -> Answer:
    """The result of one call, as the agent's history has it, but for the id of the call."""

    def script() -> Script:
        return (yield call)

    agent = Agent(model=ScriptedModel(script()), tools=[*tools], callback_handler=None)
    agent("go on", invocation_state=dict(invocation_state))
    [result] = [
        block["toolResult"]
        for message in agent.messages
        for block in message["content"]
        if "toolResult" in block
    ]
    answer: Answer = json.loads(json.dumps(result, allow_nan=False))
    assert answer.pop("toolUseId")
    return answer


@dataclass(frozen=True, kw_only=True)
class Twins(Tools):
    def of(self, user: str, session: str | None = SESSION) -> "Twins":
        return Twins(pipeline=self.pipeline, user=user, session=session)

    def call(self, tool: str, **arguments: object) -> Answer:
        return call_in_process(tool, arguments, {"user_id": self.user, "session_id": self.session})
