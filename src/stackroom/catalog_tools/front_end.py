"""tools-config.json: how a chat front end shows the catalog tools, and guides its model."""

import json

from stackroom.catalog_tools.tools import TOOLS
from stackroom.formats import MAX_FILE_BYTES, SUPPORTED

_GUIDANCE = (
    "Give each catalog a descriptive name, so that list_catalogs tells them apart.",
    f"Upload {', '.join(SUPPORTED)} files of at most {MAX_FILE_BYTES // 1024**2} MB each, and ask"
    " get_indexing_status until they are ready.",
    "Select a catalog first with select_catalog, then ask with query_catalog.",
    "Cite the files, pages and sections that an answer names under Sources.",
    "Delete documents that are outdated, or replace them with replace=true.",
)


def tools_config() -> str:
    """The text of the file: the group of tools, and each tool in the order of TOOLS."""
    group = {
        "id": "knowledge_base_tools",
        "name": "Knowledge Base",
        "description": f"Create, manage, and query personal document catalogs ({len(TOOLS)} tools)",
        "category": "knowledge",
        "icon": "\N{BOOKS}",
        "enabled": True,
        "isDynamic": True,
        "tags": ["knowledge", "documents", "research", "rag"],
        "systemPromptGuidance": "\n".join(
            f"{number}. {practice}" for number, practice in enumerate(_GUIDANCE, start=1)
        ),
        "tools": [
            {
                "id": tool.name,
                "name": tool.display.name,
                "description": tool.description,
                "displayName": {
                    "name": tool.display.name,
                    "running": tool.display.running,
                    "complete": tool.display.complete,
                },
            }
            for tool in TOOLS
        ],
    }
    return json.dumps(group, indent=2, ensure_ascii=False) + "\n"
