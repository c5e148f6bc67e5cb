"""
Settling what direct calls did, at the shared CUSTOM data source of a knowledge base.

Bedrock's word counts from the moment when it accepted the call, by its own clock: whatever it says
of an earlier moment is of an earlier version. No later call tries a document again unless we do.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail
from stackroom.settlement.evidence import Investigation, Standing
from stackroom.settlement.rounds import (
    NEVER_TAKEN_UP,
    REMOVAL_DEADLINE,
    is_overdue,
)
from stackroom.settlement.statuses import ABSENT, UNDER_WAY
from stackroom.settlement.verdicts import Decided, verdict

# Seconds from when Bedrock accepted the calls, whose files are at most 50 MB each.
DEADLINE = 2 * 3600.0
# Seconds in which what a direct call has brought may not be seen yet.
_UNSEEN = 120.0


@dataclass(frozen=True, kw_only=True)
class SharedSource:
    investigation: Investigation
    now: Callable[[], datetime] = utc_now

    def decide_on(
        self,
        catalog: Catalog,
        documents: Iterable[Document],
        details: Mapping[str, DocumentDetail],
        *,
        accepted_at: datetime,
    ) -> Decided:
        """What calls accepted then made of these documents; `details` by document id."""
        at = self.now()
        standings = [
            (
                each,
                _standing(
                    each,
                    details.get(each.document_id, NOT_FOUND),
                    accepted_at=accepted_at,
                    at=at,
                ),
            )
            for each in documents
        ]
        evidence = self.investigation.complete(catalog, standings)
        return [(document, verdict(document, known)) for document, known in evidence]


def _standing(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> Standing:
    removal = document.status is not DocumentStatus.INDEXING
    # What was deleted while a call ingested it: nobody has asked Bedrock yet to remove it.
    is_asked_for = not removal or document.attempts > 0
    early = detail.updated_at is not None and detail.updated_at < accepted_at
    overdue = is_overdue(accepted_at, at, DEADLINE)
    if removal and is_asked_for:
        may_change = not is_overdue(accepted_at, at, REMOVAL_DEADLINE)
    else:
        unseen = detail.status in ABSENT and not is_overdue(accepted_at, at, _UNSEEN)
        may_change = unseen or ((detail.status in UNDER_WAY or early) and not overdue)
    return Standing(
        detail=detail,
        is_removal=removal,
        is_out=is_asked_for and detail.status in ABSENT,
        is_current=not early,
        may_change=may_change,
        is_final=True,
        is_overdue=overdue,
        why_never_taken_up=NEVER_TAKEN_UP,
    )
