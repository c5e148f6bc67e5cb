"""
The gateway's targets, one function each, and the tools of each.

`python -m functions.tool_targets` regenerates infra/tool_schemas/, from which CDK creates the
targets and the policies over their tools, docs/tools-config.json for chat front ends, and
docs/tools-strict.json for OpenAI's strict mode. tests/contract/test_golden_files.py and
test_tool_schemas.py fail when that is due.
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
# Targets of an existing gateway of the user's, each in a stack of its own.
STANDALONE: Mapping[str, tuple[Tool[Any], ...]] = {"opensearch": (RETRIEVE_FOR_EVERYONE,)}
SCHEMAS = Path(__file__).parents[1] / "infra" / "tool_schemas"
TOOLS_CONFIG = Path(__file__).parents[1] / "docs" / "tools-config.json"
STRICT_TOOLS = TOOLS_CONFIG.with_name("tools-strict.json")


def schema_file(target: str) -> str:
    """Return the text of infra/tool_schemas/{target}.json."""
    tools = {**TARGETS, **STANDALONE}[target]
    return json.dumps([tool.definition() for tool in tools], indent=2) + "\n"


def strict_tools() -> str:
    """Return the text of docs/tools-strict.json."""
    strict = [strict_tool(tool, target=name) for name, tools in TARGETS.items() for tool in tools]
    return json.dumps(strict, indent=2) + "\n"


if __name__ == "__main__":
    for name in (*TARGETS, *STANDALONE):
        (SCHEMAS / f"{name}.json").write_text(schema_file(name), "utf-8")
    TOOLS_CONFIG.write_text(tools_config(), "utf-8")
    STRICT_TOOLS.write_text(strict_tools(), "utf-8")
