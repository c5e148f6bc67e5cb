"""Draws the state machine from the definition that is deployed."""

import json
from collections.abc import Iterator
from typing import Any

from statemachines.generate import DEFINITION

_SHAPES = {
    "Task": "[{}]",
    "Choice": "{{{}}}",
    "Wait": "([{}])",
    "Pass": "[{}]",
    "Succeed": "((({})))",
    "Fail": "((({})))",
}
_BROKEN = ("RecordFailure", "RunBroke", "RunSuperseded", "UnknownOutcome")


def state_machine() -> str:
    """Return a Mermaid chart, without the transitions from every task to the failure's record."""
    machine = json.loads(DEFINITION.read_text("utf-8"))
    shown = {name: each for name, each in machine["States"].items() if name not in _BROKEN}
    lines = ["```mermaid", "flowchart TB"]
    lines += [f"    {name}{_shape(name, each)}" for name, each in shown.items()]
    lines += [line for name, each in shown.items() for line in _transitions(name, each, shown)]
    return "\n".join([*lines, "```"])


def _shape(name: str, state: dict[str, Any]) -> str:
    return _SHAPES[state["Type"]].format(name)


def _transitions(name: str, state: dict[str, Any], shown: dict[str, Any]) -> Iterator[str]:
    if state.get("Next") in shown:
        yield f"    {name} --> {state['Next']}"
    for rule in state.get("Choices", ()):
        yield f"    {name} -- {rule['StringEquals']} --> {rule['Next']}"
