"""The catalog that a user's questions go to when they name none, in one session of that user."""

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

# Which catalog a user has selected, in which session.


class Selections(Protocol):
    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        """The catalog's id; None if none is selected, or the selection is over by then."""

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None: ...

    def forget(self, user_id: str, session_id: str) -> None:
        """Also where there is none."""


_LASTS = timedelta(hours=12)  # contract


@dataclass(frozen=True, kw_only=True)
class Selection:
    catalogs: Catalogs
    selections: Selections
    now: Callable[[], datetime] = utc_now

    def select(self, caller: Caller, catalog_id: str) -> Catalog:
        """Raises CatalogNotFound, CatalogDeleting, or NoSession."""
        session_id = _session_of(caller)
        catalog = in_use(self.catalogs, caller.user_id, catalog_id)
        until = self.now() + _LASTS
        self.selections.keep(caller.user_id, session_id, catalog_id, until=until)
        return catalog

    def deselect(self, caller: Caller) -> None:
        """Also where none is selected. Raises NoSession."""
        self.selections.forget(caller.user_id, _session_of(caller))

    def asked(self, caller: Caller, catalog_id: str | None) -> Catalog:
        """
        The catalog that is named, or else selected.

        Raises CatalogNotFound or CatalogDeleting of one that is named, else NoCatalogSelected: one
        that is gone, or going, is selected no more.
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
