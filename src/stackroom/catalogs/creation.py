"""A catalog's name and description: set when it is created, and changed later."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.access.tenancy import in_use
from stackroom.clock import utc_now
from stackroom.errors import (
    CatalogDeleting,
    CatalogNameInvalid,
    CatalogNameTaken,
    CatalogNotFound,
    RecordChanged,
)
from stackroom.model.keys import catalog_id_of, catalog_name_problem
from stackroom.model.records import Catalog, CatalogStatus
from stackroom.model.repositories import CatalogRegister


@dataclass(frozen=True, kw_only=True)
class Creation:
    catalogs: CatalogRegister
    now: Callable[[], datetime] = utc_now

    def create(self, user_id: str, name: str, *, description: str = "") -> Catalog:
        """
        Create a catalog. Raises CatalogNameInvalid, CatalogNameTaken, CatalogDeleting if the one of
        that name is being deleted, or LimitReached.
        """
        self._require_free(user_id, name)
        now, catalog_id = self.now(), catalog_id_of(user_id, name)
        wanted = Catalog(
            catalog_id=catalog_id,
            user_id=user_id,
            name=name,
            description=description,
            s3_prefix=f"{user_id}/{catalog_id}/",
            created_at=now,
            updated_at=now,
        )
        opened = self.catalogs.open(wanted)
        if opened != wanted:  # made by somebody else at the same moment
            raise CatalogNameTaken(opened.name)
        return opened

    def update(
        self,
        user_id: str,
        catalog_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> Catalog:
        """
        Change the given fields. The catalog keeps its id, and the folder of its first name. Raises
        CatalogNotFound, CatalogDeleting, CatalogNameInvalid or CatalogNameTaken.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        changed = catalog.model_copy(
            update={
                "name": catalog.name if name is None else name,
                "description": catalog.description if description is None else description,
                "updated_at": self.now(),
            }
        )
        if changed.name != catalog.name:
            self._require_free(user_id, changed.name, but=catalog_id)
        try:
            self.catalogs.describe(
                catalog_id,
                name=changed.name,
                description=changed.description,
                at=changed.updated_at,
            )
        except RecordChanged as error:  # it was deleted meanwhile
            raise CatalogNotFound(catalog_id) from error
        return changed

    def _require_free(self, user_id: str, name: str, *, but: str = "") -> None:
        """
        Raise if another catalog has the name, or had it first, because files that are dropped into
        its folder belong to that one. Two renamings at the same moment may still end with the same
        name.
        """
        if problem := catalog_name_problem(name):
            raise CatalogNameInvalid(problem)
        wanted = catalog_id_of(user_id, name)
        for each in self.catalogs.of_user(user_id):
            has_it = catalog_id_of(user_id, each.name) == wanted
            if each.catalog_id == but or not (has_it or each.catalog_id == wanted):
                continue
            if each.status is CatalogStatus.DELETING:
                raise CatalogDeleting(each.name, each.deleting_since)
            raise CatalogNameTaken(each.name) if has_it else CatalogNameTaken(name, now=each.name)
