"""Catalogs of many documents: records as the functions write them; no file lies behind them."""

from collections.abc import Container
from datetime import UTC, datetime, timedelta

from stackroom.app.tool_builder import ToolBuilder
from stackroom.model.keys import document_id_of
from stackroom.model.records import Catalog, Document, DocumentStatus

GAP = "1 of 2 pages looks garbled: 2"


def filled(
    use_cases: ToolBuilder,
    user: str,
    name: str,
    size: int,
    *,
    failed: Container[int] = (),
    waiting: Container[int] = (),
    with_gaps: Container[int] = (),
) -> str:
    """
    A new catalog of the user's; answers its id. The higher a document's number, the larger and the
    older it is.
    """
    catalog, now = use_cases.creation.create(user, name), datetime.now(UTC)
    use_cases.documents.save_all(
        _moved(_document(catalog, each, now, has_gaps=each in with_gaps), each, failed, waiting)
        for each in range(size)
    )
    return catalog.catalog_id


def _moved(
    document: Document, number: int, failed: Container[int], waiting: Container[int]
) -> Document:
    at = document.updated_at
    if number in failed:
        return document.moved(DocumentStatus.FAILED, at=at, reason="it has no text")
    return document.moved(DocumentStatus.PENDING, at=at) if number in waiting else document


def _document(catalog: Catalog, number: int, now: datetime, *, has_gaps: bool) -> Document:
    name = f"report {number:05}.pdf"
    return Document(
        catalog_id=catalog.catalog_id,
        document_id=document_id_of(catalog.catalog_id, name),
        filename=name,
        s3_key=catalog.s3_prefix + name,
        size=123_456 + number,
        etag=f"{number:032x}",
        content_type="application/pdf",
        status=DocumentStatus.INDEXED,
        uploaded_at=now - timedelta(seconds=number),
        updated_at=now,
        present_since=now,
        indexed_at=now,
        gaps=(GAP,) if has_gaps else (),
    )
