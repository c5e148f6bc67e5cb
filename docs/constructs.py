"""
The arguments of the importable constructs, in docs/agents.md: from signatures and docstrings.

    make docs       writes them anew; a test fails when they are out of step

A docstring tells of an argument in a paragraph that begins with its name and a colon.
"""

import inspect
import re
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from docs.tables import table
from stackroom_constructs import (
    AgentDefinitionProps,
    AgentNetwork,
    BatchAgent,
    BedrockKnowledgeBase,
    ImplicitFilter,
    InteractiveAgent,
    KnowledgeBaseCreation,
    MetadataAttribute,
    OpenSearchKnowledgeBase,
    OpenSearchServerlessStore,
    PgvectorKnowledgeBase,
    RdsStore,
    Reranking,
    RetrievalTool,
    VectorIndexKnowledgeBase,
)

PAGE = Path(__file__).with_name("agents.md")
CLASSES: tuple[type, ...] = (
    BatchAgent,
    InteractiveAgent,
    AgentDefinitionProps,
    AgentNetwork,
    BedrockKnowledgeBase,
    KnowledgeBaseCreation,
    OpenSearchServerlessStore,
    RdsStore,
    VectorIndexKnowledgeBase,
    PgvectorKnowledgeBase,
    OpenSearchKnowledgeBase,
    Reranking,
    ImplicitFilter,
    MetadataAttribute,
    RetrievalTool,
)
_FIRST, _LAST = "<!-- arguments -->", "<!-- /arguments -->"
_ARGUMENT = re.compile(r"(?P<name>[a-z_]+): (?P<text>.+)")
# Every construct has them, and they mean the same everywhere.
_OF_CONSTRUCTS = ("self", "scope", "construct_id")


def arguments() -> str:
    """What stands between the marks."""
    parts = ((f"### {each.__name__}", _summary(each), arguments_of(each)) for each in CLASSES)
    return "\n\n".join(part for each in parts for part in each if part)


def with_arguments(page: str) -> str:
    """The page with its tables as they are now, at its end if it has no place for them."""
    if _FIRST not in page:
        page = f"{page.rstrip()}\n\n## Arguments\n\n{_FIRST}\n{_LAST}\n"
    before, _, rest = page.partition(_FIRST)
    _, _, after = rest.partition(_LAST)
    return f"{before}{_FIRST}\n{arguments()}\n{_LAST}{after}"


def arguments_of(described: type) -> str:
    """A row for each argument. Raises LookupError for one that no docstring tells of."""
    texts = _texts(described)
    rows = []
    for name, each in _parameters(described).items():
        if name not in texts:
            raise LookupError(f"the docstring of {described.__name__} doesn't tell of {name}")
        rows.append((f"`{name}`", _type(each.annotation), _default(each.default), texts[name]))
    return table(("argument", "type", "default", "what it is"), rows).rstrip()


def _parameters(described: type) -> Mapping[str, inspect.Parameter]:
    # Of the method: a class of the CDK has a metaclass that takes anything.
    found = dict(inspect.signature(described.__init__).parameters)  # type: ignore[misc]
    for name, each in tuple(found.items()):
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            [handed_on] = typing.get_args(each.annotation)  # Unpack of a TypedDict
            above = _parameters(described.__base__)  # type: ignore[arg-type]  # not object: it takes none
            del found[name]
            found |= {key: above[key] for key in handed_on.__annotations__}
    return {name: each for name, each in found.items() if name not in _OF_CONSTRUCTS}


def _texts(described: type) -> Mapping[str, str]:
    """By argument; a class tells of those that it has beside its parents'."""
    found: dict[str, str] = {}
    for each in reversed(described.__mro__):
        name = ""
        for line in inspect.cleandoc(each.__dict__.get("__doc__") or "").splitlines():
            begun = _ARGUMENT.fullmatch(line)
            if begun:
                name = begun["name"]
                found[name] = begun["text"]
            elif name and line.startswith("    "):
                found[name] += f" {line.strip()}"
            else:
                name = ""
    return {name: text.replace("|", "\\|") for name, text in found.items()}


def _summary(described: type) -> str:
    """The first paragraph, unless the docstring begins with an argument."""
    first = inspect.cleandoc(described.__doc__ or "").split("\n\n")[0]
    return "" if _ARGUMENT.match(first) else " ".join(first.split())


def _type(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(each) for each in inner if each is not type(None))
    if origin is Mapping:
        return origin.__name__
    if origin is not None:
        return f"{origin.__name__} of {' and '.join(_type(e) for e in inner if e is not Ellipsis)}"
    return str(annotation.__name__)


def _default(value: Any) -> str:
    match value:
        case inspect.Parameter.empty:
            return "required"
        case str() | int() | float() if value != "":
            return f"`{value}`"
        case Enum():
            return f"`{value.name}`"
        case _:
            return ""  # what it means is in the words beside it


if __name__ == "__main__":
    PAGE.write_text(with_arguments(PAGE.read_text("utf-8")), "utf-8")
