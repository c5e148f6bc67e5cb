"""Documents of a catalog that somebody watches."""

from datetime import UTC, datetime, timedelta

from stackroom.model.records import Document, DocumentStatus

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_document(
    name: str, status: DocumentStatus, *, reason: str | None = None, age: float = 0
) -> Document:
    at = NOON - timedelta(seconds=age)
    return Document(
        catalog_id="cat-1",
        document_id=f"doc-{name}",
        filename=name,
        s3_key=f"ada/home/{name}",
        status=status,
        status_reason=reason,
        uploaded_at=at,
        updated_at=at,
    )


def some(status: DocumentStatus, count: int, *, reason: str | None = None) -> list[Document]:
    return [
        a_document(f"{status}-{number:04}.txt", status, reason=reason, age=number)
        for number in range(count)
    ]
