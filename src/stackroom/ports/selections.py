"""Which catalog a user has selected, in which session."""

from datetime import datetime
from typing import Protocol


class Selections(Protocol):
    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        """The catalog's id; None if none is selected, or the selection is over by then."""
        ...

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None: ...

    def forget(self, user_id: str, session_id: str) -> None:
        """Also where there is none."""
        ...
