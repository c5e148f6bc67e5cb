"""When users have signed out everywhere: what they had begun before is over."""

from datetime import datetime
from typing import Protocol


class SignOuts(Protocol):
    def get(self, user_id: str) -> datetime | None:
        """The latest such moment; None if there was none."""
        ...

    def keep(self, user_id: str, at: datetime) -> None:
        """Unless a later one is kept already."""
        ...
