"""
Every argument of every tool, wrong in every way: made from the schemas that the gateway has.

Left out are those that a tool takes all the same: what is empty takes the default where there is
one, and what reads as a number, a boolean or an object is one (tests/unit/test_tool_arguments.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from functions.tool_targets import TARGETS

DEFINITIONS: Mapping[str, Mapping[str, Any]] = {
    tool.name: tool.definition() for tools in TARGETS.values() for tool in tools
}
# Longer than any of its type may be; what isn't named here is longer than all the others.
_TOO_LONG = {
    "catalog_name": 101,
    "description": 501,
    "query": 1001,
    "question": 1001,
    "filename": 401,
    "file": 1025,
    "note": 501,
}
_ELSE = 201
_OTHERS: Mapping[str, tuple[object, ...]] = {
    "string": (5, 1.5, True, ["x"], {"x": "y"}),
    "integer": ("many", 1.5, True, [5], {"x": 5}, 0, -1, 21_000_000, 10**30),
    "number": ("high", True, [0.5], {"x": 0.5}, -0.1, 1.1, 10**30),
    "boolean": ("yes", 1, [True], {"x": True}),
    "object": ("x", 5, True, ["x"], [["user_id", "x"]]),
}
# Any number is one to read on after.
_TAKEN = {"after": (0, 21_000_000)}
_HARMFUL = {
    "NUL": "a\0b",
    "an escape": "a\x1b[31mb",
    "a delete": "a\x7fb",
    "an override to the left": "a\u202eb",
}
# Texts of many lines, or base64, or any characters.
_FREE = frozenset({"file_content", "next_token"})
# How a refusal names what it is about, where it doesn't by the argument's name.
_NAMED = {
    "catalog_name": "catalog name",
    "catalog_id": "catalog '",
    "document_id": "document '",
    "filename": "file ",
    "file_content": "file ",
    "confirm": "confirm=true",
    "metadata": "attribute",
    "knowledge_base_id": "knowledge base '",
}


@dataclass(frozen=True, kw_only=True)
class Bad:
    tool: str
    argument: str
    what: str
    arguments: Mapping[str, object]

    def is_named_in(self, text: str) -> bool:
        lowered = text.lower()
        return self.argument in lowered or _NAMED.get(self.argument, self.argument) in lowered

    def __str__(self) -> str:
        return f"{self.tool}({self.argument}): {self.what}"


def cases(tool: str, good: Mapping[str, object]) -> Iterator[Bad]:
    """Return invalid variants of `good`, which are valid arguments of the tool."""
    schema = DEFINITIONS[tool]["inputSchema"]
    for argument, described in schema["properties"].items():
        rest = {name: value for name, value in good.items() if name != argument}
        is_required = argument in schema.get("required", ())
        for what, value in _wrong(tool, argument, described["type"], is_required=is_required):
            given = rest if what == "missing" else {**rest, argument: value}
            yield Bad(tool=tool, argument=argument, what=what, arguments=given)
    yield Bad(tool=tool, argument="frobnicate", what="unknown", arguments={**good, "frobnicate": 1})


def _wrong(
    tool: str, argument: str, kind: str, *, is_required: bool
) -> Iterator[tuple[str, object]]:
    if is_required:
        yield "missing", None
        yield from {"null": None, "empty": "", "blank": " \t"}.items()
    for other in _OTHERS[kind]:
        if other in _TAKEN.get(argument, ()):
            continue
        yield f"{other!r} for a {kind}", other
    if kind != "string":
        return
    length = _TOO_LONG.get(argument, _ELSE)
    if argument != "file_content":
        yield f"{length} characters", "a" * length
    if argument not in _FREE:
        for what, text in _HARMFUL.items():
            yield f"with {what}", text
