"""
Which tools the gateway finds at which target; a target is one function.

`python -m functions.tool_targets` writes infra/tool_schemas/ anew, from which CDK makes the targets
and the policies over their tools, docs/tools-config.json for chat front ends, and
docs/tools-strict.json for OpenAI's strict mode.
tests/contract says when that is due: test_golden_files.py and test_tool_schemas.py.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackroom.access.tool import Tool, strict_tool
from stackroom.search.linked_retrieval import RETRIEVE_FOR_EVERYONE
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE
from stackroom.tools.tools import TOOLS, tools_config

TARGETS: Mapping[str, tuple[Tool[Any], ...]] = {
    "catalogs": TOOLS,
    "knowledge": (KNOWLEDGE_BASE_RETRIEVE,),
}
# Of a gateway of somebody else's, each in a stack of its own.
ALONE: Mapping[str, tuple[Tool[Any], ...]] = {"opensearch": (RETRIEVE_FOR_EVERYONE,)}
SCHEMAS = Path(__file__).parents[1] / "infra" / "tool_schemas"
TOOLS_CONFIG = Path(__file__).parents[1] / "docs" / "tools-config.json"
STRICT_TOOLS = TOOLS_CONFIG.with_name("tools-strict.json")


def schema_file(target: str) -> str:
    """The text of infra/tool_schemas/{target}.json."""
    tools = {**TARGETS, **ALONE}[target]
    return json.dumps([tool.definition() for tool in tools], indent=2) + "\n"


def strict_tools() -> str:
    """The text of docs/tools-strict.json."""
    strict = [strict_tool(tool, target=name) for name, tools in TARGETS.items() for tool in tools]
    return json.dumps(strict, indent=2) + "\n"


if __name__ == "__main__":
    for name in (*TARGETS, *ALONE):
        (SCHEMAS / f"{name}.json").write_text(schema_file(name), "utf-8")
    TOOLS_CONFIG.write_text(tools_config(), "utf-8")
    STRICT_TOOLS.write_text(strict_tools(), "utf-8")
