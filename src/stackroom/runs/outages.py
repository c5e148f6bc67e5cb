"""
Failures that Bedrock gives no reason for: whose fault they are, and when they are tried again.

A file that our own inspection reads well fails through no fault of its own, so it is postponed
rather than failed: for a day, with pauses as long as Bedrock has failed over it so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from stackroom.clock import Pace
from stackroom.model.records import SERVICE_FAILURE, UNEXPLAINED_FAILURE, Catalog, Document
from stackroom.model.repositories import Inspected
from stackroom.text.gaps import UNREAD

_FAILS_ALONE = (
    "Bedrock failed over the file for a day, while it took others, and gave no reason; "
    "save it in another way, then drop it again"
)
_POSTPONED = "Bedrock fails at the moment; the file is tried again by itself, after "
# All in seconds on AWS: how long a failure of a file that reads well is postponed, and what a pause
# lasts.
_PATIENCE = 86_400.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 60.0, 3600.0


@dataclass(frozen=True, kw_only=True)
class Unexplained:
    """
    What a document's failure counts as, if nobody explains it. `is_together`: Bedrock fails over
    several documents at once and takes none. `reason` is told once it `may_be_postponed` no more.
    """

    reason: str = UNEXPLAINED_FAILURE
    may_be_postponed: bool = False
    is_together: bool = False

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        document: Document,
        inspected: Inspected | None,
        statuses: Sequence[str],
        *,
        at: datetime,
        pace: Pace,
    ) -> Self:
        """
        `statuses` are Bedrock's words on all documents of the same look; `inspected` is None once
        the result is kept no more.
        """
        since = document.failing_since or at
        reads_well = _reads_well(inspected) if inspected else document.text_id is not None
        patience = timedelta(seconds=pace.here(_PATIENCE))
        is_alone = catalog.indexed_at is not None and catalog.indexed_at > since
        sound = _FAILS_ALONE if is_alone else SERVICE_FAILURE
        return cls(
            reason=sound if reads_well else UNEXPLAINED_FAILURE,
            may_be_postponed=reads_well and at - since < patience,
            is_together=statuses.count("FAILED") > 1 and "INDEXED" not in statuses,
        )


NOT_POSTPONED = Unexplained()


def postponed(document: Document, *, at: datetime, pace: Pace) -> dict[str, object]:
    """Return what changes in the record of a document that is `pending` until it is tried again."""
    since = document.failing_since or at
    shortest, longest = (
        timedelta(seconds=pace.here(each)) for each in (_SHORTEST_PAUSE, _LONGEST_PAUSE)
    )
    retry_at = at + min(max(shortest, at - since), longest)
    return {
        "status_reason": f"{_POSTPONED}{retry_at:%Y-%m-%d %H:%M} UTC",
        "failing_since": since,
        "retry_at": retry_at,
    }


def _reads_well(inspected: Inspected) -> bool:
    return inspected.reason is None and UNREAD not in inspected.gaps
