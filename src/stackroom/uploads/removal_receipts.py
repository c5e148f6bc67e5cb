"""
The receipt of a removal, made from the document's record alone.

So it doesn't matter who writes it, or how often: the record names it before it is kept.
"""

import hashlib
from datetime import UTC, datetime

from stackroom.model.records import Document, Receipt

_TIME = "%Y%m%dT%H%M%S%fZ"
_LOST = "-lost"


def receipt_id_of(document: Document, asked_at: datetime, *, is_lost: bool = False) -> str:
    """Ids sort by the time of asking, and say of what nobody asked for that it was lost."""
    version = f"{document.document_id}\x00{document.version}"
    seal = hashlib.sha256(version.encode()).hexdigest()[:8]
    return f"rcpt-{asked_at.astimezone(UTC).strftime(_TIME)}-{seal}{_LOST if is_lost else ''}"


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
        s3_key=document.s3_key,
        asked_at=asked_at,
        searchable_before=document.indexed_at,
        lost=document.receipt_id.endswith(_LOST),
    )
