"""What a tool that asks a knowledge base is called: by its name, in letters that models take."""

import re
from collections.abc import Collection

from anyascii import anyascii

# Converse takes names of [a-zA-Z0-9_-]{1,64} [API reference: ToolSpecification].
LONGEST = 64
ALLOWED = f"1 to {LONGEST} of the letters a-z and A-Z, digits, '_' and '-'"
_PREFIX = "search_"
_FORM = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def tool_name_of(knowledge_base: str, *, taken: Collection[str] = ()) -> str:
    """Of a knowledge base of that name: `search_` and the name; a number follows if it is taken."""
    lowered = re.sub(r"\s+", "_", knowledge_base.strip().lower())
    name = _PREFIX + re.sub(r"[^a-z0-9_-]", "", anyascii(lowered).lower().replace(" ", "_"))
    return unique(name[:LONGEST], taken=taken)


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
