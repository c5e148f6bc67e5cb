"""What a look at an object came to, for whoever asked for it."""

from dataclasses import dataclass
from enum import StrEnum

from stackroom.keys import Location


class Outcome(StrEnum):
    REGISTERED = "registered"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"
    DELETING = "deleting"
    FORGOTTEN = "forgotten"
    IGNORED = "ignored"


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """What became of a key; `catalog_id` is set if the catalog needs a run."""

    outcome: Outcome
    catalog_id: str | None = None
    document_id: str | None = None
    receipt_id: str | None = None  # of the removal, if it is one
    reason: str | None = None


def answer(
    outcome: Outcome,
    place: Location,
    *,
    wanted: bool,
    receipt_id: str | None = None,
    reason: str | None = None,
) -> Reconciled:
    """`wanted`: a run must go after this."""
    return Reconciled(
        outcome=outcome,
        catalog_id=place.catalog_id if wanted else None,
        document_id=place.document_id,
        receipt_id=receipt_id,
        reason=reason,
    )
