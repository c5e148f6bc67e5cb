"""docs/tools.md: the tools for agents, their arguments and error codes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.tables import table
from functions.tool_targets import TARGETS
from stackroom.access.tool import Tool
from stackroom.tools.calls import REFUSALS, UNAVAILABLE

TOOLS = Path(__file__).with_name("tools.md")

_HEAD = """# Tools for agents

`make tools` writes this page from the definitions in src/stackroom/tools and src/stackroom/search.
At the gateway a tool's name is its target's, three underscores and its own:
`catalogs___create_catalog`. The access token decides whose documents a call reaches; no tool takes
a user.

Two files in this folder have the same tools in other forms: [tools-config.json](tools-config.json)
for chat front ends, and [tools-strict.json](tools-strict.json) for OpenAI's [strict mode][strict],
as `tools` of the Responses API. In strict mode `filter` and `metadata` are lists,
`[{"name": "domain", "value": "finance"}]`, and a model's call goes to the gateway unchanged. A
client that derives strict schemas from the gateway's own list can't use these two arguments.

Arguments are strings unless a type is named, and optional unless *required*. Null means left
out; so do `""`, `"null"`, `"None"` and `"undefined"`, but not for `confirm` and `replace`. Numbers,
booleans and objects may come as text.

[strict]: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas

"""
_ANSWERS = """
## Answers

A catalog tool answers `{"content": [{"text": ...}], "status": "success", "metadata": {...}}`. The
text contains every id that the next call needs, because many frameworks show models only the text.
On failure `status` is `"error"`, the text begins with "Error: ", and `metadata` has `error_code`
and `error_details`; if throttled, also `retry_after_seconds` where that is known
([scaling.md](scaling.md#when-more-questions-come-than-bedrock-takes)); with `NO_RESULTS`, also up
to three sources in `nearest`.

"""


def tools() -> str:
    targets = [
        f"## Target `{target}`\n\n{''.join(_described(tool) for tool in found)}"
        for target, found in TARGETS.items()
    ]
    codes: dict[str, str] = {}
    for refusal in (*REFUSALS.values(), UNAVAILABLE):
        codes.setdefault(refusal.code, refusal.details)
    rows = ((f"`{code}`", details) for code, details in codes.items())
    return _HEAD + "".join(targets).rstrip() + "\n" + _ANSWERS + table(("code", "details"), rows)


def _described(tool: Tool[Any]) -> str:
    schema: Mapping[str, Any] = tool.definition()["inputSchema"]
    required = schema.get("required", [])
    arguments = "".join(
        f"- {_marked(name, member['type'], name in required)}: {member['description']}\n"
        for name, member in schema.get("properties", {}).items()
    )
    return f"### {tool.name}\n\n{tool.description}\n\n{arguments}\n"


def _marked(name: str, kind: str, is_required: bool) -> str:
    marks = [*([] if kind == "string" else [kind]), *(["*required*"] if is_required else [])]
    return f"`{name}` ({', '.join(marks)})" if marks else f"`{name}`"


if __name__ == "__main__":
    TOOLS.write_text(tools(), "utf-8")
