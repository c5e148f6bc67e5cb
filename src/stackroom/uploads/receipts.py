"""
What the receipt of a removal says as long as nothing is known but that it was asked for.

A receipt can be written from the document's record alone, so that it doesn't matter who does, or
how often: the record names it before it is kept, and says `deleting` only after.
"""

import hashlib
from datetime import UTC, datetime

from stackroom.model import Document, Receipt

_TIME = "%Y%m%dT%H%M%S%fZ"


def receipt_id_of(document: Document, asked_at: datetime) -> str:
    """Ids sort by the time of asking."""
    version = f"{document.document_id}\x00{document.version}"
    seal = hashlib.sha256(version.encode()).hexdigest()[:8]
    return f"rcpt-{asked_at.astimezone(UTC).strftime(_TIME)}-{seal}"


def receipt_of(document: Document, user_id: str) -> Receipt:
    """The receipt that the record names, open."""
    assert document.receipt_id is not None, "a removal's record names its receipt"
    asked_at = datetime.strptime(document.receipt_id.split("-")[1], _TIME).replace(tzinfo=UTC)
    return Receipt(
        receipt_id=document.receipt_id,
        user_id=user_id,
        catalog_id=document.catalog_id,
        document_id=document.document_id,
        filename=document.filename,
        asked_at=asked_at,
        searchable_before=document.indexed_at,
    )
