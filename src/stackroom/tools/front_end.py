"""tools-config.json: how a chat front end shows the catalog tools, and guides its model."""

import json

from stackroom.tools.tools import TOOLS

# The customer's words, to the letter. More formats are taken than these.
_GUIDANCE = """\
Knowledge Base Best Practices:

1. **Creating catalogs**: Use descriptive names for organization
2. **Uploading**: Supported formats are PDF, DOCX, TXT, MD, CSV (max 50MB)
3. **Querying**: Select a catalog first, then ask natural language questions
4. **Citations**: Responses include source documents and page references
5. **Maintenance**: Delete outdated documents to keep results relevant"""


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
        "systemPromptGuidance": _GUIDANCE,
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
