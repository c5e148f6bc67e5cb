"""A catalog's documents as its page shows them: how far each is, and what can be done about it."""

from dataclasses import dataclass
from datetime import datetime

from stackroom.catalogs.listing import same_contents
from stackroom.catalogs.progress import CatalogProgress
from stackroom.model.formats import extension_of
from stackroom.model.records import Document, DocumentStatus
from stackroom.runs.estimates import DocumentEstimate, DocumentStage
from stackroom_console.messages import N_, gettext

_MENDED = N_("Fix the file and upload it again.")
_RETRY = N_("Fix the file and upload it again, or retry.")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A document in its catalog's list: its progress, its gaps and advice for its owner."""

    document_id: str
    filename: str
    size: int
    uploaded_at: datetime
    state: str
    progress: str
    advice: str = ""
    receipt_id: str | None = None
    may_be_retried: bool = False
    may_be_opened: bool = False
    is_shown_by_browsers: bool = False
    may_be_deleted: bool = True
    gaps: tuple[str, ...] = ()


def rows_of(
    documents: tuple[Document, ...], progress: CatalogProgress, *, speed: float
) -> tuple[Row, ...]:
    estimates = {each.document.document_id: each for each in progress.unready}
    twins = same_contents(documents)
    return tuple(
        _row(each, estimates.get(each.document_id), speed, twin=twins.get(each.document_id))
        for each in documents
    )


def _row(
    document: Document, estimate: DocumentEstimate | None, speed: float, *, twin: str | None
) -> Row:
    is_failed = document.status is DocumentStatus.FAILED
    is_going = document.status is DocumentStatus.DELETING
    return Row(
        document_id=document.document_id,
        filename=document.filename,
        size=document.size,
        uploaded_at=document.uploaded_at,
        state=state_label(document.shown_status),
        progress="; ".join(filter(None, [_progress(document, estimate, speed), _twin(twin)])),
        advice=gettext(_MENDED if document.needs_mending else _RETRY) if is_failed else "",
        receipt_id=document.receipt_id if is_going else None,
        may_be_retried=is_failed and not document.needs_mending,
        may_be_opened=document.is_counted,
        is_shown_by_browsers=extension_of(document.filename) == "pdf",
        may_be_deleted=not is_going,
        gaps=document.shown_gaps,
    )


# What pages call the statuses of catalogs and of documents.
STATES = (
    N_("empty"),
    N_("ready"),
    N_("uploading"),
    N_("pending"),
    N_("indexing"),
    N_("searchable"),
    N_("failed"),
    N_("deleting"),
)


def state_label(status: str) -> str:
    """Return the status in plain words: users need not know about an index."""
    return "searchable" if status == DocumentStatus.INDEXED else str(status)


def _twin(name: str | None) -> str:
    return gettext("same content as %(name)s") % {"name": name} if name else ""


def _progress(document: Document, estimate: DocumentEstimate | None, speed: float) -> str:
    match document.status:
        case DocumentStatus.UPLOADING if document.is_to_come and document.upload_until:
            return gettext("Waiting for the file; upload it again if the upload was interrupted")
        case DocumentStatus.FAILED | DocumentStatus.PENDING if document.status_reason:
            return f"{document.status_reason}."
        case DocumentStatus.FAILED | DocumentStatus.INDEXED:
            return ""
        case DocumentStatus.DELETING:
            return gettext("being removed from search")
        case DocumentStatus.UPLOADING | DocumentStatus.PENDING | DocumentStatus.INDEXING:
            return _waiting(estimate, speed)


def _waiting(estimate: DocumentEstimate | None, speed: float) -> str:
    """Return the stage and what is left; empty without an estimate, as in a large catalog."""
    if estimate is None:
        return ""
    again = ""
    if estimate.attempt and estimate.attempt > 1:
        again = gettext("attempt %(number)s") % {"number": estimate.attempt}
    parts = (gettext(_STAGES[estimate.stage]), again, estimate.remaining(speed))
    return ", ".join(filter(None, parts))


_STAGES = {
    DocumentStage.EXPECTED: N_("Waiting for the file"),
    DocumentStage.OVER_CAP: N_("Over your limit"),
    DocumentStage.READING: N_("Reading"),
    DocumentStage.POSTPONED: N_("Waiting for Bedrock to recover"),
    DocumentStage.LEFT: N_("Waiting to be processed again"),
    DocumentStage.BEGINNING: N_("Starting"),
    DocumentStage.WAITING: N_("Queued"),
    DocumentStage.INGESTING: N_("Reading and indexing"),
    DocumentStage.REMOVING: N_("Removing"),
    DocumentStage.FOLLOWING: N_("Retrying automatically"),
    DocumentStage.SEARCHABLE: N_("Searchable"),
    DocumentStage.FAILED: N_("Failed"),
}
