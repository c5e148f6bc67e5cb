"""
What a tool that asks a knowledge base is called: by its name, in letters that models take; and its
id.
"""

import re
import secrets
import string
from collections.abc import Collection
from datetime import datetime

from anyascii import anyascii

from stackroom.agent import Agent, AgentTool
from stackroom.errors import ToolNameTaken

# Converse takes names of [a-zA-Z0-9_-]{1,64} [API reference: ToolSpecification].
LONGEST = 64
ALLOWED = f"1 to {LONGEST} of the letters a-z and A-Z, digits, '_' and '-'"
_PREFIX = "search_"
_BASE_36 = string.digits + string.ascii_lowercase
_FORM = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def tool_name_of(knowledge_base: str, *, taken: Collection[str] = ()) -> str:
    """Of a knowledge base of that name: `search_` and the name; a number follows if it is taken."""
    lowered = re.sub(r"\s+", "_", knowledge_base.strip().lower())
    name = _PREFIX + re.sub(r"[^a-z0-9_-]", "", anyascii(lowered).lower().replace(" ", "_"))
    return unique(name[:LONGEST], taken=taken)


def new_tool_id(now: datetime) -> str:
    """`tool_kb_{epoch ms}_{7 base36}`, by contract."""
    milliseconds = int(now.timestamp() * 1000)
    return f"tool_kb_{milliseconds}_" + "".join(secrets.choice(_BASE_36) for _ in range(7))


def require_free(agent: Agent, tool: AgentTool) -> None:
    """
    A model calls a tool by its name; Strands takes no two that differ by `-` and `_` alone.

    Raises ToolNameTaken.
    """
    others = (each for each in agent.available_tools if each.id != tool.id)
    if any(alike(each.name) == alike(tool.name) for each in others):
        raise ToolNameTaken(tool.name)


def unique(name: str, *, taken: Collection[str]) -> str:
    """The name, with the least number behind it, from 2 on, that nobody has, nor one like it."""
    number, free, known = 1, name, {alike(each) for each in taken}
    while alike(free) in known:
        number += 1
        free = f"{name[: LONGEST - len(str(number)) - 1]}_{number}"
    return free


def is_tool_name(name: str) -> bool:
    return _FORM.fullmatch(name) is not None


def alike(name: str) -> str:
    """Names of one agent's tools must differ in this."""
    return name.replace("-", "_")
