"""The tools for catalogs themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stackroom.access.identity import Caller
from stackroom.documents.model import Catalog
from stackroom.tools.arguments import CreateCatalog, ListCatalogs, SelectCatalog, token_of
from stackroom.tools.definition import CatalogTool, Display, Rendered
from stackroom.tools.texts import counted, day, iso, megabytes, shown, size

if TYPE_CHECKING:
    from stackroom.catalogs.listing import CatalogPage
    from stackroom.tools.definition import Services

NONE = "none"  # deselects


def _create(services: Services, asked: CreateCatalog, caller: Caller) -> Catalog:
    return services.creation.create(
        caller.user_id, asked.catalog_name, description=asked.description
    )


def _created(catalog: Catalog) -> Rendered:
    return Rendered(
        f"Created catalog '{shown(catalog.name)}' (ID: {catalog.catalog_id}). "
        "Ready for document uploads.",
        {
            "catalog_id": catalog.catalog_id,
            "catalog_name": catalog.name,
            "data_source_id": catalog.data_source_id,
            "s3_prefix": catalog.s3_prefix,
        },
    )


CREATE_CATALOG = CatalogTool(
    name="create_catalog",
    description=(
        "Create a catalog, an empty named collection of the signed-in user's documents. Returns"
        " its id, which uploads and questions need."
    ),
    arguments=CreateCatalog,
    use=_create,
    render=_created,
    display=Display(name="Create Catalog", running="Creating catalog", complete="Catalog created"),
)


def _list(services: Services, asked: ListCatalogs, caller: Caller) -> CatalogPage:
    return services.listing.catalogs_of(caller.user_id, after=asked.next_token)


def _listed(page: CatalogPage) -> Rendered:
    lines = [f"Found {counted(page.total, 'catalog')}:"]
    if not page.total:
        lines = ["Found 0 catalogs. Use create_catalog to make one."]
    for number, each in enumerate(page.catalogs, start=1):
        lines += [
            f"{number}. **{shown(each.name)}** ({each.catalog_id})",
            f"   - {counted(each.document_count, 'document')}, {size(each.total_bytes)}",
            f"   - Status: {each.status}",
            f"   - Last updated: {day(each.updated_at)}",
        ]
    token = token_of(page.next) if page.next else None
    if token:
        lines.append(f"There are more: call list_catalogs with next_token {token}.")
    return Rendered(
        "\n".join(lines),
        {
            "catalog_count": page.total,
            "catalogs": [
                {
                    "catalog_id": each.catalog_id,
                    "catalog_name": each.name,
                    "document_count": each.document_count,
                    "total_size_mb": megabytes(each.total_bytes),
                    "indexing_status": str(each.status),
                    "last_updated": iso(each.updated_at),
                }
                for each in page.catalogs
            ],
            "next_token": token,
        },
    )


LIST_CATALOGS = CatalogTool(
    name="list_catalogs",
    description=(
        "List the signed-in user's catalogs by name, each with its id, how many documents it has,"
        " their size and whether they are indexed."
    ),
    arguments=ListCatalogs,
    use=_list,
    render=_listed,
    display=Display(name="List Catalogs", running="Listing catalogs", complete="Listed catalogs"),
)


def _select(services: Services, asked: SelectCatalog, caller: Caller) -> Catalog | None:
    if asked.catalog_id == NONE:
        services.selection.deselect(caller)
        return None
    return services.selection.select(caller, asked.catalog_id)


def _selected(catalog: Catalog | None) -> Rendered:
    if catalog is None:
        return Rendered(
            "Catalog deselected. Specify catalog_id when querying.",
            {"catalog_id": None, "catalog_name": None, "document_count": None, "active": False},
        )
    return Rendered(
        f"Selected catalog '{shown(catalog.name)}' for queries. "
        "Ask me anything about your documents!",
        {
            "catalog_id": catalog.catalog_id,
            "catalog_name": catalog.name,
            "document_count": catalog.document_count,
            "active": True,
        },
    )


SELECT_CATALOG = CatalogTool(
    name="select_catalog",
    description=(
        "Select the catalog that query_catalog asks from now on, in this session, for at most 12"
        " hours. Other sessions of the user are left alone."
    ),
    arguments=SelectCatalog,
    use=_select,
    render=_selected,
    display=Display(
        name="Select Catalog", running="Selecting catalog", complete="Catalog selected"
    ),
)
