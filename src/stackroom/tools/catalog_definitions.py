"""The tools for catalogs themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from stackroom.access.identity import Caller
from stackroom.access.tenancy import in_use, owned
from stackroom.access.tool import Id, Text
from stackroom.errors import ConfirmationRequired
from stackroom.model.keys import MAX_CATALOG_NAME
from stackroom.model.records import Catalog
from stackroom.tools.definition import (
    CatalogArguments,
    CatalogId,
    CatalogTool,
    Display,
    NextToken,
    Rendered,
    Services,
    token_of,
)
from stackroom.tools.texts import counted, day, iso, megabytes, quotable, size

if TYPE_CHECKING:
    from stackroom.catalogs.deletions import CatalogDeletion
    from stackroom.catalogs.listing import CatalogPage

NONE = "none"  # deselects


def _single_spaced(name: str) -> str:
    """
    Return the name with single spaces: two names that differ in the number of spaces look the same.
    """
    return re.sub(" +", " ", name)


def _single_spaced_if_any(name: str | None) -> str | None:
    return None if name is None else _single_spaced(name)


class CreateCatalog(CatalogArguments):
    # Any text of that length, for what characters a name may have is told by an error of its own.
    catalog_name: Annotated[str, AfterValidator(_single_spaced)] = Field(
        max_length=MAX_CATALOG_NAME,
        description=(
            f"A descriptive name: 1 to {MAX_CATALOG_NAME} letters, digits, spaces and hyphens,"
            " unlike any other of yours, whatever its case."
        ),
    )
    description: Text = Field(
        default="", max_length=500, description="What it is for: at most 500 characters."
    )


class ListCatalogs(CatalogArguments):
    next_token: NextToken = None


class SelectCatalog(CatalogArguments):
    catalog_id: Id = Field(
        description='The id of the catalog to ask from now on, or "none" to select no catalog.'
    )


def _create(services: Services, arguments: CreateCatalog, caller: Caller) -> Catalog:
    return services.creation.create(
        caller.user_id, arguments.catalog_name, description=arguments.description
    )


def _created(catalog: Catalog) -> Rendered:
    return Rendered(
        f"Created catalog '{quotable(catalog.name)}' (ID: {catalog.catalog_id}). "
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


class UpdateCatalog(CatalogArguments):
    catalog_id: CatalogId
    catalog_name: Annotated[str | None, AfterValidator(_single_spaced_if_any)] = Field(
        default=None,
        max_length=MAX_CATALOG_NAME,
        description="Its new name, by the same rules as in create_catalog; without it, the name"
        " stays.",
    )
    description: Text | None = Field(
        default=None,
        max_length=500,
        description="What it is for, in place of what it says now; empty or left out, that stays.",
    )


def _update(services: Services, arguments: UpdateCatalog, caller: Caller) -> Catalog:
    return services.creation.update(
        caller.user_id,
        arguments.catalog_id,
        name=arguments.catalog_name,
        description=arguments.description,
    )


def _updated(catalog: Catalog) -> Rendered:
    return Rendered(
        f"Updated catalog '{quotable(catalog.name)}' ({catalog.catalog_id}).",
        {**_summary(catalog), "description": catalog.description},
    )


UPDATE_CATALOG = CatalogTool(
    name="update_catalog",
    description=(
        "Rename a catalog, or change its description. Its id and its documents stay as they are."
    ),
    arguments=UpdateCatalog,
    use=_update,
    render=_updated,
    display=Display(name="Update Catalog", running="Updating catalog", complete="Catalog updated"),
)


def _list(services: Services, arguments: ListCatalogs, caller: Caller) -> CatalogPage:
    return services.listing.catalogs_of(caller.user_id, after=arguments.next_token)


def _listed(page: CatalogPage) -> Rendered:
    lines = [f"Found {counted(page.total, 'catalog')}:"]
    if not page.total:
        lines = ["Found 0 catalogs. Use create_catalog to make one."]
    for number, each in enumerate(page.catalogs, start=1):
        lines += [
            f"{number}. **{quotable(each.name)}** ({each.catalog_id})",
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
            "catalogs": [_summary(each) for each in page.catalogs],
            "next_token": token,
        },
    )


def _summary(catalog: Catalog) -> dict[str, object]:
    return {
        "catalog_id": catalog.catalog_id,
        "catalog_name": catalog.name,
        "document_count": catalog.document_count,
        "total_size_mb": megabytes(catalog.total_bytes),
        "indexing_status": str(catalog.status),
        "last_updated": iso(catalog.updated_at),
    }


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


def _select(services: Services, arguments: SelectCatalog, caller: Caller) -> Catalog | None:
    if arguments.catalog_id == NONE:
        services.selection.deselect(caller)
        return None
    return services.selection.select(caller, arguments.catalog_id)


def _selected(catalog: Catalog | None) -> Rendered:
    if catalog is None:
        return Rendered(
            "Catalog deselected. Specify catalog_id when querying.",
            {"catalog_id": None, "catalog_name": None, "document_count": None, "active": False},
        )
    return Rendered(
        f"Selected catalog '{quotable(catalog.name)}' for queries. "
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


class DeleteCatalog(CatalogArguments):
    catalog_id: CatalogId
    confirm: bool = Field(
        default=False,
        description="true, without quotes, to delete the catalog and every document in it for"
        " good; by default nothing is deleted, and the answer says what would be.",
    )


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A catalog's deletion, with its progress at the time of the answer."""

    catalog: Catalog
    deletion: CatalogDeletion
    is_gone: bool

    @property
    def shares(self) -> bool:
        """Return True if its data source also serves other catalogs, and stays."""
        source = self.catalog.source
        return source is not None and source.is_shared

    @property
    def what(self) -> str:
        return "Vectors" if self.shares else "Data source and vectors"


def _delete_catalog(services: Services, arguments: DeleteCatalog, caller: Caller) -> Removal:
    catalogs = services.deletions.catalogs
    if not arguments.confirm:
        catalog = in_use(catalogs, caller.user_id, arguments.catalog_id)
        documents = counted(catalog.document_count, "document")
        raise ConfirmationRequired(
            f"Catalog '{quotable(catalog.name)}' ({catalog.catalog_id}) and its {documents}"
            f" ({size(catalog.total_bytes)})"
        )
    catalog = owned(catalogs, caller.user_id, arguments.catalog_id)
    deletion = services.deletions.delete_catalog(caller.user_id, arguments.catalog_id)
    is_gone = deletion.is_asked_for and services.deletions.is_gone(arguments.catalog_id)
    return Removal(catalog=catalog, deletion=deletion, is_gone=is_gone)


def _catalog_deleted(removal: Removal) -> Rendered:
    deletion = removal.deletion
    documents = counted(deletion.documents, "document")
    if not deletion.is_asked_for:
        rest = (
            "Not all of them are asked for yet: call delete_catalog with confirm=true again, and it"
            " goes on."
        )
    elif removal.is_gone:
        rest = f"{removal.what} removed."
    else:
        rest = (
            f"{removal.what} are still being removed; list_catalogs shows the catalog until they"
            " are gone."
        )
    return Rendered(
        f"Deleted catalog '{quotable(removal.catalog.name)}' and all {documents}. {rest}",
        {
            "catalog_id": removal.catalog.catalog_id,
            "documents_deleted": deletion.documents,
            "storage_freed_mb": megabytes(deletion.size),
            "data_source_deleted": removal.is_gone and not removal.shares,
            "vectors_cleanup_initiated": True,
            "receipt_ids_count": len(deletion.receipt_ids),
        },
    )


DELETE_CATALOG = CatalogTool(
    name="delete_catalog",
    description=(
        "Delete a catalog with every document in it, for good. Without confirm nothing is deleted,"
        " and the answer says what would be."
    ),
    arguments=DeleteCatalog,
    use=_delete_catalog,
    render=_catalog_deleted,
    display=Display(name="Delete Catalog", running="Deleting catalog", complete="Catalog deleted"),
)
