"""All catalog tools, in the order in which they are listed everywhere."""

from typing import Any

from stackroom.catalog_tools.definition import CatalogTool
from stackroom.catalog_tools.of_catalogs import (
    CREATE_CATALOG,
    DELETE_CATALOG,
    LIST_CATALOGS,
    SELECT_CATALOG,
)
from stackroom.catalog_tools.of_documents import (
    DELETE_CATALOG_DOCUMENT,
    DOWNLOAD_FROM_CATALOG,
    LIST_CATALOG_DOCUMENTS,
    UPLOAD_TO_CATALOG,
)
from stackroom.catalog_tools.of_questions import GET_INDEXING_STATUS

TOOLS: tuple[CatalogTool[Any, Any], ...] = (
    CREATE_CATALOG,
    LIST_CATALOGS,
    UPLOAD_TO_CATALOG,
    LIST_CATALOG_DOCUMENTS,
    DELETE_CATALOG_DOCUMENT,
    SELECT_CATALOG,
    DELETE_CATALOG,
    GET_INDEXING_STATUS,
    DOWNLOAD_FROM_CATALOG,
)

BY_NAME = {tool.name: tool for tool in TOOLS}
