"""
The arguments of the importable constructs, in docs/agents.md, from signatures and docstrings.

    make docs       writes them; a test fails when they are out of step

A docstring describes an argument in lines that begin with its name, or several names, and a colon.
"""

import inspect
import re
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from aws_cdk import aws_lambda as lambda_

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
# Each with an earlier class; the page only names arguments that are the same there.
CLASSES: Mapping[type, type | None] = {
    BatchAgent: None,
    InteractiveAgent: BatchAgent,
    AgentDefinitionProps: None,
    AgentNetwork: None,
    BedrockKnowledgeBase: None,
    KnowledgeBaseCreation: None,
    OpenSearchServerlessStore: None,
    RdsStore: None,
    VectorIndexKnowledgeBase: BedrockKnowledgeBase,
    PgvectorKnowledgeBase: VectorIndexKnowledgeBase,
    OpenSearchKnowledgeBase: VectorIndexKnowledgeBase,
    Reranking: None,
    ImplicitFilter: None,
    MetadataAttribute: None,
    RetrievalTool: None,
}
_FIRST, _LAST = "<!-- arguments -->", "<!-- /arguments -->"
_ARGUMENT = re.compile(r"(?P<names>[a-z_]+(?:, [a-z_]+)*): (?P<text>.+)")
# Every construct has these, with the same meaning.
_OF_CONSTRUCTS = ("self", "scope", "construct_id")
_PLAIN = (str, int, bool, float)  # the default or the text shows the type


def arguments() -> str:
    """Return the generated part of the page."""
    parts = ((f"### {each.__name__}", _summary(each), arguments_of(each)) for each in CLASSES)
    return "\n\n".join(part for each in parts for part in each if part)


def with_arguments(page: str) -> str:
    """Return the page with its generated part replaced."""
    before, _, rest = page.partition(_FIRST)
    _, _, after = rest.partition(_LAST)
    return f"{before}{_FIRST}\n{arguments()}\n{_LAST}{after}"


def arguments_of(described: type) -> str:
    """Return a list of the arguments. Raises LookupError for one that no docstring describes."""
    rows, like = _rows(described), CLASSES[described]
    known = _rows(like) if like is not None else {}
    lines = [f"- {row}" for names, row in rows.items() if known.get(names) != row]
    if like is not None:
        same = (
            f"`{name}`" for names, row in rows.items() if known.get(names) == row for name in names
        )
        lines.append(f"- As for `{like.__name__}`: {', '.join(same)}.")
    return "\n".join(lines)


def _rows(described: type) -> Mapping[tuple[str, ...], str]:
    """Return a line for each argument, or group of arguments, that the docstrings describe."""
    parameters, texts = _parameters(described), _texts(described)
    rows: dict[tuple[str, ...], str] = {}
    for name in parameters:
        names, text = texts.get(name, ((), ""))
        if not names:
            raise LookupError(f"the docstring of {described.__name__} doesn't tell of {name}")
        signatures = ", ".join(f"`{_signature(parameters[each])}`" for each in names)
        rows[names] = f"{signatures}: {text}"
    return rows


def _signature(parameter: inspect.Parameter) -> str:
    kind = _type(parameter.annotation)
    typed = f"{parameter.name}: {kind}" if kind else parameter.name
    is_required = parameter.default is inspect.Parameter.empty
    return typed if is_required else f"{typed}={_default(parameter.default)}"


def _parameters(described: type) -> Mapping[str, inspect.Parameter]:
    # Of the method: a class of the CDK has a metaclass that takes anything.
    found = dict(inspect.signature(described.__init__).parameters)  # type: ignore[misc]
    for name, each in tuple(found.items()):
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            [passed_on] = typing.get_args(each.annotation)  # Unpack of a TypedDict
            above = _parameters(described.__base__)  # type: ignore[arg-type]  # not object: it takes none
            del found[name]
            found |= {key: above[key] for key in passed_on.__annotations__}
    return {name: each for name, each in found.items() if name not in _OF_CONSTRUCTS}


def _texts(described: type) -> Mapping[str, tuple[tuple[str, ...], str]]:
    """Return the names that share a text, and the text, by argument; parents' are inherited."""
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for each in reversed(described.__mro__):
        names: tuple[str, ...] = ()
        text = ""
        for line in inspect.cleandoc(each.__dict__.get("__doc__") or "").splitlines():
            begun = _ARGUMENT.fullmatch(line)
            if begun:
                names, text = tuple(begun["names"].split(", ")), begun["text"]
            elif names and line.startswith("    "):
                text += f" {line.strip()}"
            else:
                names = ()
            found |= dict.fromkeys(names, (names, text))
    return found


def _summary(described: type) -> str:
    """Return the first paragraph, unless the docstring starts with an argument."""
    first = inspect.cleandoc(described.__doc__ or "").split("\n\n")[0]
    return "" if _ARGUMENT.match(first) else " ".join(first.split())


def _type(annotation: Any) -> str:
    """Return how a signature names the type; nothing for a plain one."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return "|".join(f'"{each}"' for each in inner)
    if origin in (typing.Union, types.UnionType):
        given = [each for each in inner if each is not type(None)]
        return _type(given[0]) if len(given) == 1 else "|".join(map(_name, given))
    return "" if annotation in _PLAIN else _name(annotation)


def _name(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None or origin is Mapping:
        return str((origin or annotation).__name__)
    return f"{origin.__name__}[{','.join('...' if e is Ellipsis else _name(e) for e in inner)}]"


def _default(value: Any) -> str:
    match value:
        case str():
            return f'"{value}"'
        case Enum():
            return value.name
        case lambda_.Architecture():
            return value.name
        case _:
            return str(value)


if __name__ == "__main__":
    PAGE.write_text(with_arguments(PAGE.read_text("utf-8")), "utf-8")
