"""What tenants have had lately of a rate that they all share, and who of them waits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Share:
    """
    One tenant's: how many questions they had `lately`, of which older ones count less, and when
    whoever comes next has their turn behind those who wait; in the past if nobody does.
    """

    lately: float = 0.0
    due: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Turns:
    """
    As it was at the moment `at`: how many questions could be asked at once, when AWS last refused
    one, and each tenant's share, by a digest of who they are. Moments are seconds since 1970.
    """

    version: int = 0
    at: float = 0.0
    free: float = 0.0
    throttled_at: float = 0.0
    shares: Mapping[str, Share] = field(default_factory=dict)


class TurnBook(Protocol):
    """Of one rate. Raises StoreUnavailable or ServiceRefused soon, for somebody waits."""

    def read(self) -> Turns: ...

    def write(self, turns: Turns) -> Turns:
        """Keep it if nobody has written since it was read. Raises RecordChanged."""
        ...
