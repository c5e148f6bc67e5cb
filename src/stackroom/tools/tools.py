"""All catalog tools, in the order in which they are listed everywhere."""

import json
from typing import Any

from stackroom.tools import (
    catalog_definitions,
    document_definitions,
    event_definitions,
    question_definitions,
    usage_definitions,
)
from stackroom.tools.definition import CatalogTool

TOOLS: tuple[CatalogTool[Any, Any], ...] = (
    catalog_definitions.CREATE_CATALOG,
    catalog_definitions.LIST_CATALOGS,
    document_definitions.UPLOAD_TO_CATALOG,
    document_definitions.LIST_CATALOG_DOCUMENTS,
    document_definitions.DELETE_CATALOG_DOCUMENT,
    catalog_definitions.SELECT_CATALOG,
    question_definitions.QUERY_CATALOG,
    catalog_definitions.DELETE_CATALOG,
    document_definitions.GET_INDEXING_STATUS,
    document_definitions.DOWNLOAD_FROM_CATALOG,
    question_definitions.FEEDBACK,
    question_definitions.LIST_FEEDBACK,
    event_definitions.LIST_EVENTS,
    usage_definitions.GET_USAGE,
    catalog_definitions.UPDATE_CATALOG,
)

BY_NAME = {tool.name: tool for tool in TOOLS}


# tools-config.json: how a chat front end shows the catalog tools, and guides its model.

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
