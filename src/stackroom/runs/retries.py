"""Retry documents that failed, or that were indexed, without another upload."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.access.tenancy import in_use, owned
from stackroom.clock import utc_now
from stackroom.errors import DocumentNotFound, RecordChanged
from stackroom.model.bucket import DocumentBucket, FileVersion
from stackroom.model.records import Catalog, CatalogStatus, DataSourceType, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents, InspectionRequests
from stackroom.runs.run_leases import RunRequests
from stackroom.text.inspection import Inspections
from stackroom.text.ocr import OcrEngine
from stackroom.text.text_ids import text_id_of

_TRIES = 6
# A sync only takes what has changed since the last one [Bedrock user guide:
# kb-data-source-sync-ingest].
SKIPPED = (
    "its catalog is read by ingestion jobs, which leave out a file that has not changed; upload it"
    " again to have it read anew"
)
_BEING_DELETED = "its catalog is being deleted"
_AT_ONCE = 25  # records per page, so that shown progress is updated every second


class _Refused(Exception):
    """A refusal to try a document again; `str()` of it is the reason."""


@dataclass(frozen=True, kw_only=True)
class RetryResult:
    """
    The documents that are tried again, and those that aren't with the reasons. For a whole catalog,
    `examined` counts the documents that were read.
    """

    again: tuple[Document, ...] = ()
    refused: tuple[tuple[Document, str], ...] = ()
    examined: int = 0


@dataclass(frozen=True, kw_only=True)
class Retrying:
    catalogs: Catalogs
    documents: Documents
    requests: RunRequests
    now: Callable[[], datetime] = utc_now

    def retry(
        self, user_id: str, catalog_id: str, document_ids: Iterable[str] | None = None
    ) -> RetryResult:
        """
        Retry these documents, or all that failed. Only failed documents, and those that wait for
        Bedrock to recover, are tried again. Safe to repeat. Raises CatalogNotFound or
        DocumentNotFound before anything is changed.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        if document_ids is None:
            asked_for = list(self.documents.failed_in(catalog_id))
        else:
            asked_for = _named(self.documents, catalog_id, document_ids)

        def change(document: Document) -> Document:
            if catalog.status is CatalogStatus.DELETING:
                raise _Refused(_BEING_DELETED)
            if document.retry_at is None and document.status is not DocumentStatus.FAILED:
                raise _Refused(f"it has not failed: it is {document.status}")
            return self._pending(document)

        result = _changed(self.documents, asked_for, change)
        if catalog.status is not CatalogStatus.DELETING:
            self._ask(catalog_id, result)
        return result

    def ingest_again(self, user_id: str, catalog_id: str, document_id: str) -> RetryResult:
        """
        Ingest one document again as it is stored, indexed or failed. Searches find an indexed
        document as before until its new passages are there. Safe to repeat. Raises CatalogNotFound,
        CatalogDeleting or DocumentNotFound.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        settled = (DocumentStatus.FAILED, DocumentStatus.INDEXED)

        def change(document: Document) -> Document:
            if document.status is DocumentStatus.INDEXED and _is_crawled(catalog):
                raise _Refused(SKIPPED)
            if document.retry_at is None and document.status not in settled:
                raise _Refused(f"it has not been indexed, nor failed: it is {document.status}")
            return self._pending(document)

        found = _named(self.documents, catalog_id, [document_id])
        result = _changed(self.documents, found, change)
        self._ask(catalog_id, result)
        return result

    def _pending(self, document: Document) -> Document:
        if document.retry_at is None and document.needs_mending:  # else it is tried at once instead
            raise _Refused(
                f"another try would end the same, drop a mended file: {document.status_reason}"
            )
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        return self.documents.save(pending.model_copy(update={"attempts": 0}))

    def _ask(self, catalog_id: str, result: RetryResult) -> None:
        """
        Ask for a run, also for documents that wait already: a crash may have come between the two.
        """
        if result.again or any(each.is_unfinished for each, _ in result.refused):
            self.requests.ask(catalog_id)


@dataclass(frozen=True, kw_only=True)
class Rereading:
    """
    Has documents read anew from their stored files.

    Another version of the reader makes another text of the same file, or reads what an older one
    could not. Searches find an indexed document as before until the new text is in.
    """

    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    results: Inspections
    requests: InspectionRequests
    ocr: OcrEngine = "none"
    now: Callable[[], datetime] = utc_now

    def reread(
        self, user_id: str, catalog_id: str, document_ids: Iterable[str] | None = None
    ) -> Iterator[RetryResult]:
        """
        Have these documents read anew, or those of the catalog that have no text by this reader.

        Yields the results page by page, and is safe to repeat: a document that waits for its text
        is asked for again. Raises CatalogNotFound or DocumentNotFound before anything is changed.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        if document_ids is not None:
            named = _named(self.documents, catalog_id, document_ids)
            yield self._reread(catalog, named, examined=len(named))
            return
        page = self.documents.page(catalog_id, after=None, limit=_AT_ONCE)
        while True:
            outdated = [each for each in page.documents if _is_outdated(each, self.ocr)]
            yield self._reread(catalog, outdated, examined=len(page.documents))
            if page.next is None:
                return
            page = self.documents.page(catalog_id, after=page.next, limit=_AT_ONCE)

    def _reread(
        self, catalog: Catalog, documents: Sequence[Document], *, examined: int
    ) -> RetryResult:
        def change(document: Document) -> Document:
            if why_not := _why_not(catalog, document):
                raise _Refused(why_not)
            found = self.bucket.version_of(document.s3_key)
            if found is None:
                raise _Refused("its file is gone")
            if found.etag != document.etag:
                raise _Refused("its file was replaced, and is read anyway")
            waiting = self._waiting(document, found)
            if self.bucket.version_of(document.s3_key) != found:
                raise RecordChanged(document.document_id)  # it would await an earlier text
            self.requests.ask(waiting.s3_key)
            return waiting

        return _changed(self.documents, documents, change, examined=examined)

    def _waiting(self, document: Document, found: FileVersion) -> Document:
        """
        Return the document as saved, waiting for the text of the stored version: the same file may
        have been uploaded again since.
        """
        if document.unread and document.version_id == found.version_id:
            return document
        # The upload handler must not take an earlier reading for the one that is asked for.
        self.results.forget(document.document_id)
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        changes: dict[str, object] = {"unread": True, "text_id": None, "text_tokens": None}
        changes |= {"version_id": found.version_id, "attempts": 0}
        return self.documents.save(pending.model_copy(update=changes))


def _is_outdated(document: Document, ocr: OcrEngine) -> bool:
    """Return True if a file that can be read has no text, or a text by another reader."""
    if _why_no_text(document) is not None:
        return False
    version = FileVersion(document.etag, document.version_id)
    return document.text_id != text_id_of(version, document.filename, ocr)


def _why_not(catalog: Catalog, document: Document) -> str | None:
    if catalog.status is CatalogStatus.DELETING:
        return _BEING_DELETED
    if why_no_text := _why_no_text(document):
        return why_no_text
    return SKIPPED if _is_crawled(catalog) else None


def _why_no_text(document: Document) -> str | None:
    if document.status is DocumentStatus.DELETING:
        return "it is being deleted"
    if document.status is DocumentStatus.UPLOADING:
        return "it has yet to be uploaded"
    if document.is_rejected:
        return f"it was rejected, drop a mended file: {document.status_reason}"
    return None


def _is_crawled(catalog: Catalog) -> bool:
    return catalog.source is not None and catalog.source.type is DataSourceType.S3


def _named(documents: Documents, catalog_id: str, document_ids: Iterable[str]) -> list[Document]:
    """Return the documents with these ids. Raises DocumentNotFound."""
    found = []
    for document_id in dict.fromkeys(document_ids):
        document = documents.get(catalog_id, document_id)
        if document is None:
            raise DocumentNotFound(document_id)
        found.append(document)
    return found


def _changed(
    documents: Documents,
    asked_for: Iterable[Document],
    change: Callable[[Document], Document],
    *,
    examined: int = 0,
) -> RetryResult:
    """
    Save each document as `change` returns it, unless that raises _Refused; try again if others have
    saved.
    """
    again: list[Document] = []
    refused: list[tuple[Document, str]] = []
    for document in asked_for:
        seen: Document | None = document
        for _ in range(_TRIES):
            if seen is None:
                refused.append((document, "it has been removed meanwhile"))
                break
            try:
                again.append(change(seen))
                break
            except _Refused as why_not:
                refused.append((seen, str(why_not)))
                break
            except RecordChanged:
                seen = documents.get(document.catalog_id, document.document_id)
        else:
            refused.append((document, "others kept changing its record; try again"))
    return RetryResult(again=tuple(again), refused=tuple(refused), examined=examined)
