"""Who used which tool on what, when, with what outcome: a line for each call, never any text."""

from dataclasses import dataclass
from typing import Protocol

EVENT = "catalog accessed"


@dataclass(frozen=True, kw_only=True)
class Access:
    """`outcome` is "success" or the error's code; what was named may be nobody's."""

    tool: str
    outcome: str
    latency_ms: int
    user_id: str | None = None
    session_id: str | None = None
    catalog_id: str | None = None
    document_id: str | None = None


class AccessLog(Protocol):
    def __call__(self, access: Access) -> None: ...
