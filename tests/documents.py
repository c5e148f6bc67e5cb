"""A document's record for tests that need one and care for few of its fields."""

from datetime import UTC, datetime
from typing import Any

from stackroom.model import Document, DocumentStatus


def a_document(**fields: Any) -> Document:
    at = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
    values: dict[str, Any] = {
        "catalog_id": "cat-1",
        "document_id": "doc-1",
        "filename": "report.pdf",
        "s3_key": "alice/research/report.pdf",
        "status": DocumentStatus.PENDING,
        "uploaded_at": at,
        "updated_at": at,
    }
    return Document(**{**values, **fields})
