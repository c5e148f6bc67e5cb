"""
Every argument of every tool, wrong in every way: made from the schemas that the gateway has.

Left out are those that a tool takes all the same: what is empty takes the default where there is
one, and what reads as a number, a boolean or an object is one (tests/unit/test_tool_arguments.py).
"""

import base64
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
# Texts of many lines, or base64, or any characters: their own cases are below.
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
    for what, argument, changes in _SPECIAL.get(tool, ()):
        yield Bad(tool=tool, argument=argument, what=what, arguments={**good, **changes})
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


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _file(name: str, content: bytes) -> dict[str, object]:
    return {"filename": name, "file_content": _encoded(content)}


def _labels(**labels: object) -> dict[str, object]:
    return {"metadata": labels}


_PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
_SPECIAL: Mapping[str, tuple[tuple[str, str, Mapping[str, object]], ...]] = {
    "upload_to_catalog": (
        ("base64 that is none", "file_content", {"file_content": "not base64!"}),
        ("a word", "file_content", {"file_content": "test"}),
        ("a word that decodes to letters", "file_content", {"file_content": "User"}),
        ("words", "file_content", {"file_content": "This is a short file"}),
        ("a year", "file_content", {"file_content": "2026"}),
        ("nothing in base64", "file_content", {"file_content": "===="}),
        ("a word as replace", "replace", {"replace": "null"}),
        ("the text true as replace", "replace", {"replace": "true"}),
        ("a picture as PDF", "file_content", _file("bad.pdf", _PNG)),
        ("5 MB", "file_content", {"file_content": _encoded(bytes(5 * 2**20))}),
        ("no file type", "filename", {"filename": "bad"}),
        ("a link for a sidecar", "filename", {"filename": "a.metadata.json", "file_content": ""}),
        ("a link up a path", "filename", {"filename": "../bad.txt", "file_content": ""}),
        ("401 bytes of other letters", "filename", {"filename": "é" * 199 + ".txt"}),
        ("replace as text", "replace", {"replace": "false"}),
        ("a reserved name", "metadata", _labels(user_id="x")),
        ("over 1 KB", "metadata", _labels(domain="x" * 1024)),
        ("a list of texts", "metadata", {"metadata": ["domain"]}),
    ),
    "create_catalog": (("a slash", "catalog_name", {"catalog_name": "a/b"}),),
    "delete_catalog": (
        ("the text true", "confirm", {"confirm": "true"}),
        ("the text null", "confirm", {"confirm": "null"}),
        ("nothing", "confirm", {"confirm": None}),
        ("false", "confirm", {"confirm": False}),
    ),
    "list_catalogs": (
        ("no token", "next_token", {"next_token": "xyz"}),
        ("a token with NUL", "next_token", {"next_token": "a\0b"}),
    ),
    "list_catalog_documents": (
        ("no token", "next_token", {"next_token": "../x"}),
        ("a catalog that isn't there", "catalog_id", {"catalog_id": "cat-1a2b"}),
    ),
    "select_catalog": (("nearly none", "catalog_id", {"catalog_id": "None"}),),
    "feedback": (("a line break", "file", {"file": "a\nb.txt"}),),
    "query_catalog": (("21", "num_results", {"num_results": 21}),),
    "knowledge_base_retrieve": (
        ("21", "top_k", {"top_k": 21}),
        ("an owner", "filter", {"filter": {"user_id": "x"}}),
        ("nothing", "filter", {"filter": {"a": None}}),
        ("a name twice", "filter", {"filter": [{"name": "a", "value": "x"}] * 2}),
    ),
}
