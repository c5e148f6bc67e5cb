"""A new catalog, by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import CatalogDeleting, CatalogNameInvalid, CatalogNameTaken
from stackroom.model.keys import catalog_id_of, catalog_name_problem
from stackroom.model.records import Catalog, CatalogStatus
from stackroom.model.repositories import CatalogRegister


@dataclass(frozen=True, kw_only=True)
class Creation:
    catalogs: CatalogRegister
    now: Callable[[], datetime] = utc_now

    def create(self, user_id: str, name: str, *, description: str = "") -> Catalog:
        """
        Raises CatalogNameInvalid, CatalogNameTaken, CatalogDeleting if the one of that name is on
        its way out, or CatalogLimitReached.
        """
        if problem := catalog_name_problem(name):
            raise CatalogNameInvalid(problem)
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
        if opened == wanted:
            return opened
        if opened.status is CatalogStatus.DELETING:
            raise CatalogDeleting(opened.name, opened.deleting_since)
        raise CatalogNameTaken(opened.name)
