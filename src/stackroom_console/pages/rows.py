"""A catalog's documents as its page shows them: how far each is, and what can be done about it."""

from dataclasses import dataclass
from datetime import datetime

from stackroom.catalog_tools.texts import minute
from stackroom.catalogs.progress import CatalogProgress
from stackroom.formats import extension_of
from stackroom.ingestion.estimates import DocumentEstimate
from stackroom.model import Document, DocumentStatus

_MENDED = "Another try would end the same: mend the file, and upload it again."
_RETRY = "Mend the file and upload it again; if nothing is wrong with it, try again as it is."


@dataclass(frozen=True, kw_only=True)
class Row:
    """`told` is how far it is, `advice` what its owner can do."""

    document_id: str
    filename: str
    size: int
    uploaded_at: datetime
    state: str
    told: str
    advice: str = ""
    receipt_id: str | None = None
    may_be_retried: bool = False
    may_be_opened: bool = False
    is_shown_by_browsers: bool = False
    may_be_deleted: bool = True


def rows_of(
    documents: tuple[Document, ...], progress: CatalogProgress, *, speed: float
) -> tuple[Row, ...]:
    estimates = {each.document.document_id: each for each in progress.unready}
    return tuple(_row(each, estimates.get(each.document_id), speed) for each in documents)


def _row(document: Document, estimate: DocumentEstimate | None, speed: float) -> Row:
    is_failed = document.status is DocumentStatus.FAILED
    is_going = document.status is DocumentStatus.DELETING
    return Row(
        document_id=document.document_id,
        filename=document.filename,
        size=document.size,
        uploaded_at=document.uploaded_at,
        state=str(document.shown_status),
        told=_told(document, estimate, speed),
        advice=(_MENDED if document.is_rejected else _RETRY) if is_failed else "",
        receipt_id=document.receipt_id if is_going else None,
        may_be_retried=is_failed and not document.is_rejected,
        may_be_opened=document.is_counted,
        is_shown_by_browsers=extension_of(document.filename) == "pdf",
        may_be_deleted=not is_going,
    )


def _told(document: Document, estimate: DocumentEstimate | None, speed: float) -> str:
    match document.status:
        case DocumentStatus.UPLOADING if document.is_to_come and document.upload_until:
            until = minute(document.upload_until)
            return f"waits for its file until {until}; upload it again if that was broken off"
        case DocumentStatus.FAILED:
            return f"{document.status_reason}." if document.status_reason else ""
        case DocumentStatus.INDEXED:
            return "searchable"
        case DocumentStatus.DELETING:
            return "being removed"
        case DocumentStatus.UPLOADING | DocumentStatus.PENDING | DocumentStatus.INDEXING:
            return _waiting(estimate, speed)


def _waiting(estimate: DocumentEstimate | None, speed: float) -> str:
    """Of a large catalog not every document is looked at."""
    if estimate is None:
        return ""
    again = f"try {estimate.attempt}" if estimate.attempt and estimate.attempt > 1 else ""
    parts = (str(estimate.stage), again, estimate.remaining(speed))
    return ", ".join(filter(None, parts))
