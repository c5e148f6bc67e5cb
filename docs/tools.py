"""docs/tools.md: every tool that agents find, what it takes, and what can go wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.tables import table
from functions.tool_targets import TARGETS
from stackroom.access.tool import Tool
from stackroom.tools.calls import REFUSALS, UNAVAILABLE

TOOLS = Path(__file__).with_name("tools.md")

_HEAD = """# The tools that agents find

Made by `make tools` from the definitions in src/stackroom/tools and
src/stackroom/search. At the gateway a tool's name begins with its target's, and three
underscores: `catalogs___create_catalog`. Whose documents a call reaches follows from the access
token; no tool takes a user. A chat front end can show the catalog tools by
[tools-config.json](tools-config.json), made by the same command.

An argument that is null or empty is as good as left out. So OpenAI's [strict mode][strict] can be
on: [tools-strict.json](tools-strict.json) has the tools as it takes them, for `tools` of the
Responses API. `filter` and `metadata` are lists there, `[{"name": "domain", "value": "finance"}]`.
What a model then asks for is called at the gateway as it is, by the same name and arguments. A
client that makes such schemas itself, of what the gateway lists, can give these two nothing: strict
mode has no object whose names its caller chooses.

[strict]: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas

"""
_ANSWERS = """
## Answers

A catalog tool answers `{"content": [{"text": ...}], "status": "success", "metadata": {...}}`. The
text has every id that the next call needs, for many frameworks show a model nothing else. What
can't be done has `"status": "error"`, a text that begins with "Error: ", and in `metadata` an
`error_code` and `error_details`. What is throttled says there in `retry_after_seconds` when to call
again, where that is known
([scaling.md](scaling.md#when-more-questions-come-than-bedrock-takes)). `NO_RESULTS` names in
`nearest` up to three sources of what was found:

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
    rows = [
        (f"`{name}`", member["type"], "yes" if name in required else "", member["description"])
        for name, member in schema.get("properties", {}).items()
    ]
    arguments = table(("argument", "type", "required", "what it is"), rows)
    return f"### {tool.name}\n\n{tool.description}\n\n{arguments}\n"


if __name__ == "__main__":
    TOOLS.write_text(tools(), "utf-8")
