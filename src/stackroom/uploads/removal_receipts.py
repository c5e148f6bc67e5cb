"""
The receipt of a removal, derived from the document's record alone.

So any writer may save it any number of times: the record names it before it is saved.
"""

import hashlib
from datetime import UTC, datetime

from stackroom.model.records import Document, Receipt

_TIME = "%Y%m%dT%H%M%S%fZ"
_LOST = "-lost"


def receipt_id_of(document: Document, asked_at: datetime, *, is_lost: bool = False) -> str:
    """Return an id that sorts by the time of the request and marks a loss that nobody requested."""
    version = f"{document.document_id}\x00{document.version}"
    seal = hashlib.sha256(version.encode()).hexdigest()[:8]
    return f"rcpt-{asked_at.astimezone(UTC).strftime(_TIME)}-{seal}{_LOST if is_lost else ''}"


def receipt_of(document: Document, user_id: str) -> Receipt:
    """Return the open receipt that the record names."""
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
