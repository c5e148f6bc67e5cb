"""Direct calls that a task leaves at work, told to the run's next task and taken over by it."""

from collections.abc import Iterable
from datetime import datetime

from stackroom.ingestion.direct_calls import Call
from stackroom.ingestion.shared_work import SharedWork
from stackroom.model import Document, DocumentStatus
from stackroom.ports.documents import Documents
from stackroom.runs.progress import CallAtWork


def handed_on(calls: Iterable[Call]) -> tuple[CallAtWork, ...]:
    return tuple(
        CallAtWork(
            accepted_at=call.accepted_at,
            began=call.began,
            documents=tuple(
                (each.catalog_id, each.document_id) for each in call.documents.values()
            ),
            is_large=call.is_large,
        )
        for call in calls
    )


def taken_over(
    left: Iterable[CallAtWork], work: SharedWork, documents: Documents, *, at: datetime
) -> list[Call]:
    """Those that have something to settle yet; their documents are in hand again."""
    calls = []
    for each in left:
        found = _of_call(each, work, documents)
        if found:
            calls.append(
                Call(
                    documents={document.document_id: document for document in found},
                    accepted_at=each.accepted_at,
                    began=each.began,
                    look_at=at,
                    looked_at=each.began,
                    size=len(found),
                    is_large=each.is_large,
                )
            )
    return calls


def _of_call(left: CallAtWork, work: SharedWork, documents: Documents) -> list[Document]:
    found = []
    for catalog_id, document_id in left.documents:
        if work.adopt(catalog_id, document_id) is None:
            continue
        document = documents.get(catalog_id, document_id)
        # What is pending waits for a call of its own, whatever becomes of this one.
        is_pending = document is not None and document.status is DocumentStatus.PENDING
        if document is None or not document.is_open or is_pending:
            work.let_go(catalog_id, document_id)
        else:
            found.append(document)
    return found
