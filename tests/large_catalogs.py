"""Catalogs of many documents: records as the functions write them; no file lies behind them."""

from datetime import UTC, datetime

from stackroom.documents.keys import document_id_of
from stackroom.documents.model import Catalog, Document, DocumentStatus
from stackroom.wiring.use_cases import UseCases


def filled(use_cases: UseCases, user: str, name: str, size: int) -> str:
    """A new catalog of the user's; answers its id."""
    catalog, now = use_cases.creation.create(user, name), datetime.now(UTC)
    use_cases.deployment.documents.save_all(_document(catalog, each, now) for each in range(size))
    return catalog.catalog_id


def _document(catalog: Catalog, number: int, now: datetime) -> Document:
    name = f"report {number:05}.pdf"
    return Document(
        catalog_id=catalog.catalog_id,
        document_id=document_id_of(catalog.catalog_id, name),
        filename=name,
        s3_key=catalog.s3_prefix + name,
        size=123_456,
        etag=f"{number:032x}",
        content_type="application/pdf",
        status=DocumentStatus.INDEXED,
        uploaded_at=now,
        updated_at=now,
        indexed_at=now,
    )
