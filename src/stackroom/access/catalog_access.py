"""Whose a catalog is. Somebody else's is as unknown as one that never was."""

from stackroom.documents.model import Catalog, CatalogStatus
from stackroom.documents.repositories import Catalogs
from stackroom.errors import CatalogDeleting, CatalogNotFound


def owned(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """The user's catalog of this id. Raises CatalogNotFound."""
    catalog = catalogs.get(catalog_id)
    if catalog is None or catalog.user_id != user_id:
        raise CatalogNotFound(catalog_id)
    return catalog


def in_use(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """The same, if it is to stay. Raises CatalogNotFound or CatalogDeleting."""
    catalog = owned(catalogs, user_id, catalog_id)
    if catalog.status is CatalogStatus.DELETING:
        raise CatalogDeleting(catalog.name, catalog.deleting_since)
    return catalog
