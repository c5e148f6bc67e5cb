"""Another try for what failed, without uploading it again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.access.tenancy import owned
from stackroom.clock import utc_now
from stackroom.documents.model import CatalogStatus, Document, DocumentStatus
from stackroom.documents.repositories import Catalogs, Documents
from stackroom.errors import DocumentNotFound, RecordChanged
from stackroom.runs.run_requests import RunRequests

_TRIES = 6


@dataclass(frozen=True, kw_only=True)
class Retried:
    """What is tried again, and what isn't: the documents that were asked for, and why not."""

    again: tuple[Document, ...] = ()
    refused: tuple[tuple[Document, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Retrying:
    catalogs: Catalogs
    documents: Documents
    requests: RunRequests
    now: Callable[[], datetime] = utc_now

    def retry(
        self, user_id: str, catalog_id: str, document_ids: Iterable[str] | None = None
    ) -> Retried:
        """
        Have these documents tried again, or all that failed; only those that failed are.

        Safe to repeat. Raises CatalogNotFound or DocumentNotFound before anything is changed.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        asked_for = self._asked_for(catalog_id, document_ids)
        if catalog.status is CatalogStatus.DELETING:
            return Retried(
                refused=tuple((each, "its catalog is being deleted") for each in asked_for)
            )
        again: list[Document] = []
        refused: list[tuple[Document, str]] = []
        for document in asked_for:
            moved, why_not = self._move(document)
            if why_not is None:
                again.append(moved)
            else:
                refused.append((moved, why_not))
        # What waits already is asked for again, too: a crash may have come between the two.
        if again or any(each.is_unfinished for each, _ in refused):
            self.requests.ask(catalog_id)
        return Retried(again=tuple(again), refused=tuple(refused))

    def _asked_for(self, catalog_id: str, document_ids: Iterable[str] | None) -> list[Document]:
        if document_ids is None:
            return list(self.documents.failed_in(catalog_id))
        found = []
        for document_id in dict.fromkeys(document_ids):
            document = self.documents.get(catalog_id, document_id)
            if document is None:
                raise DocumentNotFound(document_id)
            found.append(document)
        return found

    def _move(self, document: Document) -> tuple[Document, str | None]:
        """The document as it is then; and why it isn't tried again, if it isn't."""
        seen: Document | None = document
        for _ in range(_TRIES):
            if seen is None:
                return document, "it has been removed meanwhile"
            if why_not := _why_not(seen):
                return seen, why_not
            pending = seen.moved(DocumentStatus.PENDING, at=self.now())
            try:
                return self.documents.save(pending.model_copy(update={"attempts": 0})), None
            except RecordChanged:
                seen = self.documents.get(document.catalog_id, document.document_id)
        return document, "others kept changing its record; try again"


def _why_not(document: Document) -> str | None:
    if document.status is not DocumentStatus.FAILED:
        return f"it has not failed: it is {document.status}"
    if document.is_rejected:
        return f"another try would end the same, drop a mended file: {document.status_reason}"
    return None
