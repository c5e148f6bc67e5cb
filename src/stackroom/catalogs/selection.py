"""The catalog for questions that name none, selected in one session of one user."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from stackroom.access.identity import Caller
from stackroom.access.tenancy import in_use
from stackroom.clock import utc_now
from stackroom.errors import CatalogDeleting, CatalogNotFound, NoCatalogSelected, NoSession
from stackroom.model.records import Catalog
from stackroom.model.repositories import Catalogs

# The catalog that a user has selected, in a session.


class Selections(Protocol):
    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        """Return the catalog's id; None if none is selected or the selection has expired."""

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None: ...

    def forget(self, user_id: str, session_id: str) -> None:
        """Delete the selection, if there is one."""


_LASTS = timedelta(hours=12)  # contract


@dataclass(frozen=True, kw_only=True)
class Selection:
    catalogs: Catalogs
    selections: Selections
    now: Callable[[], datetime] = utc_now

    def select(self, caller: Caller, catalog_id: str) -> Catalog:
        """Select the catalog. Raises CatalogNotFound, CatalogDeleting, or NoSession."""
        session_id = _session_of(caller)
        catalog = in_use(self.catalogs, caller.user_id, catalog_id)
        until = self.now() + _LASTS
        self.selections.keep(caller.user_id, session_id, catalog_id, until=until)
        return catalog

    def deselect(self, caller: Caller) -> None:
        """Delete the selection, if there is one. Raises NoSession."""
        self.selections.forget(caller.user_id, _session_of(caller))

    def asked(self, caller: Caller, catalog_id: str | None) -> Catalog:
        """
        Return the named catalog, or else the selected one.

        Raises CatalogNotFound or CatalogDeleting for a named one, else NoCatalogSelected: a
        selected catalog that is gone, or being deleted, is selected no more.
        """
        if catalog_id is not None:
            return in_use(self.catalogs, caller.user_id, catalog_id)
        if caller.session_id is None:
            raise NoCatalogSelected
        selected = self.selections.get(caller.user_id, caller.session_id, at=self.now())
        if selected is None:
            raise NoCatalogSelected
        try:
            return in_use(self.catalogs, caller.user_id, selected)
        except (CatalogNotFound, CatalogDeleting) as error:
            self.deselect(caller)
            raise NoCatalogSelected from error


def _session_of(caller: Caller) -> str:
    if caller.session_id is None:
        raise NoSession
    return caller.session_id
