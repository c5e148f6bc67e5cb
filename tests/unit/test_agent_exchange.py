"""An agent that is exported and imported is the same; what is none is refused by its fault."""

import json
from typing import Any

import pytest

from stackroom.agents.exchange import exported, imported
from stackroom.errors import ValidationError
from tests.contract.ports.test_agents import TOOLS, an_agent

FILE = exported(an_agent())


def changed(**of_agent: Any) -> str:
    return json.dumps({**FILE, "agent": {**FILE["agent"], **of_agent}})


def test_what_is_exported_is_imported() -> None:
    definition, tools = imported(json.dumps(FILE))

    assert tools == TOOLS
    agent = an_agent()
    assert dict(definition) == {
        name: getattr(agent, name) for name in ("name", "description", "model", "system_prompt")
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no JSON"),
        ("[]", "the whole: "),
        (json.dumps({**FILE, "version": 2}), "version: "),
        (changed(name=""), "agent.name: "),
        (changed(name="a\u202eb"), "agent.name: "),
        (changed(user_id="bob"), "agent.user_id: "),
        (changed(available_tools=[FILE["agent"]["available_tools"][1]] * 2), "the same id"),
        (changed(available_tools=[{"id": "../x", "name": "a", "type": "http"}]), "available_tools"),
        (changed(system_prompt="x" * 300_000), "larger than 200 KB"),
    ],
)
def test_what_is_no_agent_is_refused_by_its_fault(text: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        imported(text)
