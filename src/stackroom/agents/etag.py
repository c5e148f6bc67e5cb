"""What somebody saw when they began to change it: nobody overwrites what they haven't seen."""

import hashlib

from stackroom.agent import Agent, LinkedTool
from stackroom.errors import ChangedMeanwhile

_OF_AGENT = {"name", "description", "model", "system_prompt"}
_LENGTH = 16  # hexadecimal digits; it tells two states of one thing apart, and is no secret


def mark_of(thing: Agent | LinkedTool) -> str:
    """Of an agent without its tools: these come and go by themselves."""
    told = thing.model_dump_json(include=_OF_AGENT if isinstance(thing, Agent) else None)
    return hashlib.sha256(told.encode()).hexdigest()[:_LENGTH]


def require_seen(there: Agent | LinkedTool, wanted: Agent | LinkedTool, seen: str | None) -> None:
    """
    Raises ChangedMeanwhile unless it is as it was `seen`, or as it is wanted already; None is
    whoever changes it regardless.
    """
    if seen is not None and mark_of(there) not in (seen, mark_of(wanted)):
        raise ChangedMeanwhile("agent" if isinstance(there, Agent) else "tool")
