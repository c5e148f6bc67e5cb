"""Records for tests that need some and care for few of their fields."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from stackroom.model.caps import CapReached
from stackroom.model.records import CapKind, Catalog, Document, DocumentStatus, Receipt

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
NEAR = CapReached(
    user_id="alice",
    month="2026-02",
    cap=CapKind.BYTES,
    percent=80,
    used=Decimal(4),
    limit=Decimal(5),
    at=NOW,
)
REACHED = NEAR.model_copy(update={"percent": 100})


def a_document(number: int = 1, at: datetime = NOW, **fields: Any) -> Document:
    values: dict[str, Any] = {
        "catalog_id": "cat-1",
        "document_id": f"doc-{number:04}",
        "filename": f"Résumé {number}.pdf",
        "s3_key": f"alice/research/Résumé {number}.pdf",
        "size": 5_000_000_000,
        "status": DocumentStatus.PENDING,
        "uploaded_at": at,
        "updated_at": at,
    }
    return Document(**{**values, **fields})


def a_catalog(
    number: int = 1, user_id: str = "alice", at: datetime = NOW, **fields: Any
) -> Catalog:
    values: dict[str, Any] = {
        "catalog_id": f"cat-{user_id}-{number}",
        "user_id": user_id,
        "name": f"Research {number}",
        "s3_prefix": f"{user_id}/Research {number}/",
        "created_at": at,
        "updated_at": at,
    }
    return Catalog(**{**values, **fields})


def a_receipt(number: int = 1, user_id: str = "alice", **fields: Any) -> Receipt:
    values: dict[str, Any] = {
        "receipt_id": f"r-{number:04}",
        "user_id": user_id,
        "catalog_id": "cat-1",
        "document_id": f"doc-{number}",
        "filename": "Résumé.pdf",
        "asked_at": NOW,
    }
    return Receipt(**{**values, **fields})
