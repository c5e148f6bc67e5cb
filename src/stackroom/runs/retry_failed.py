"""Another try for what failed, or was indexed, without uploading it again."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.access.tenancy import in_use, owned
from stackroom.clock import utc_now
from stackroom.errors import DocumentNotFound, RecordChanged
from stackroom.model.records import CatalogStatus, DataSourceType, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents
from stackroom.runs.run_requests import RunRequests

_TRIES = 6
# A sync only takes what has changed since the last one [Bedrock user guide:
# kb-data-source-sync-ingest].
SKIPPED = (
    "its catalog is read by ingestion jobs, which leave out a file that has not changed; upload it"
    " again to have it read anew"
)


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
        Have these documents tried again, or all that failed; only those that failed are, and those
        that wait for Bedrock to recover.

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
            moved, why_not = self._move(document, {DocumentStatus.FAILED})
            if why_not is None:
                again.append(moved)
            else:
                refused.append((moved, why_not))
        # What waits already is asked for again, too: a crash may have come between the two.
        if again or any(each.is_unfinished for each, _ in refused):
            self.requests.ask(catalog_id)
        return Retried(again=tuple(again), refused=tuple(refused))

    def ingest_again(self, user_id: str, catalog_id: str, document_id: str) -> Retried:
        """
        Have one document read, cut and embedded anew as it lies there, indexed or failed: what is
        indexed is found as it was until its new passages are there.

        Safe to repeat. Raises CatalogNotFound, CatalogDeleting or DocumentNotFound.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        [document] = self._asked_for(catalog_id, [document_id])
        is_skipped = catalog.source is not None and catalog.source.type is DataSourceType.S3
        if document.status is DocumentStatus.INDEXED and is_skipped:
            return Retried(refused=((document, SKIPPED),))
        moved, why_not = self._move(document, {DocumentStatus.FAILED, DocumentStatus.INDEXED})
        if why_not is None or moved.is_unfinished:
            self.requests.ask(catalog_id)
        return Retried(refused=((moved, why_not),)) if why_not else Retried(again=(moved,))

    def _asked_for(self, catalog_id: str, document_ids: Iterable[str] | None) -> list[Document]:
        if document_ids is None:
            return list(self.documents.failed_in(catalog_id))
        return documents_named(self.documents, catalog_id, document_ids)

    def _move(
        self, document: Document, allowed: Collection[DocumentStatus]
    ) -> tuple[Document, str | None]:
        """The document as it is then; and why it isn't tried again, if it isn't."""
        seen: Document | None = document
        for _ in range(_TRIES):
            if seen is None:
                return document, "it has been removed meanwhile"
            if why_not := _why_not(seen, allowed):
                return seen, why_not
            pending = seen.moved(DocumentStatus.PENDING, at=self.now())
            try:
                return self.documents.save(pending.model_copy(update={"attempts": 0})), None
            except RecordChanged:
                seen = self.documents.get(document.catalog_id, document.document_id)
        return document, "others kept changing its record; try again"


def documents_named(
    documents: Documents, catalog_id: str, document_ids: Iterable[str]
) -> list[Document]:
    """Raises DocumentNotFound."""
    found = []
    for document_id in dict.fromkeys(document_ids):
        document = documents.get(catalog_id, document_id)
        if document is None:
            raise DocumentNotFound(document_id)
        found.append(document)
    return found


def _why_not(document: Document, allowed: Collection[DocumentStatus]) -> str | None:
    if document.retry_at is not None:
        return None  # it is tried at once instead
    if document.status not in allowed:
        waits_for = "failed" if len(allowed) == 1 else "been indexed, nor failed"
        return f"it has not {waits_for}: it is {document.status}"
    if document.needs_mending:
        return f"another try would end the same, drop a mended file: {document.status_reason}"
    return None
