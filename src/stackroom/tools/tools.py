"""All catalog tools, in the order in which they are listed everywhere."""

from typing import Any

from stackroom.tools.definition import CatalogTool
from stackroom.tools.of_catalogs import CREATE_CATALOG, LIST_CATALOGS, SELECT_CATALOG
from stackroom.tools.of_deletions import DELETE_CATALOG, DELETE_CATALOG_DOCUMENT
from stackroom.tools.of_documents import DOWNLOAD_FROM_CATALOG, LIST_CATALOG_DOCUMENTS
from stackroom.tools.of_questions import GET_INDEXING_STATUS, QUERY_CATALOG
from stackroom.tools.of_uploads import UPLOAD_TO_CATALOG

TOOLS: tuple[CatalogTool[Any, Any], ...] = (
    CREATE_CATALOG,
    LIST_CATALOGS,
    UPLOAD_TO_CATALOG,
    LIST_CATALOG_DOCUMENTS,
    DELETE_CATALOG_DOCUMENT,
    SELECT_CATALOG,
    QUERY_CATALOG,
    DELETE_CATALOG,
    GET_INDEXING_STATUS,
    DOWNLOAD_FROM_CATALOG,
)

BY_NAME = {tool.name: tool for tool in TOOLS}
