"""
Documents read anew, from the files that lie there.

A reader of another version makes another text of the same file; so does one that reads what an
older one could not. What is indexed is found as it was until the new text is in.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stackroom.access.tenancy import owned
from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.model.bucket import DocumentBucket, FileVersion
from stackroom.model.records import (
    Catalog,
    CatalogStatus,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import Catalogs, Documents, InspectionRequests
from stackroom.runs.retry_failed import SKIPPED, documents_named
from stackroom.text.inspection import text_id_of
from stackroom.text.ocr import OcrEngine

_AT_ONCE = 25  # records of a page, so that whoever shows the progress hears of it every second
_TRIES = 6


@dataclass(frozen=True, kw_only=True)
class Reread:
    """The documents that are read anew, and those that are not, out of those `looked_at`."""

    again: tuple[Document, ...] = ()
    refused: tuple[tuple[Document, str], ...] = ()
    looked_at: int = 0


class KeptResults(Protocol):
    def forget(self, document_id: str) -> None:
        """Have nobody find what an inspection found; safe to repeat."""


@dataclass(frozen=True, kw_only=True)
class Rereading:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    results: KeptResults
    requests: InspectionRequests
    ocr: OcrEngine = "none"
    now: Callable[[], datetime] = utc_now

    def reread(
        self, user_id: str, catalog_id: str, document_ids: Iterable[str] | None = None
    ) -> Iterator[Reread]:
        """
        Have these documents read anew, or those of the catalog that have no text of this reader's.

        Yields what was done page by page, and is safe to repeat: a document that waits for its text
        is asked for again. Raises CatalogNotFound or DocumentNotFound before anything is changed.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        if document_ids is not None:
            named = documents_named(self.documents, catalog_id, document_ids)
            yield self._reread(catalog, named, looked_at=len(named))
            return
        page = self.documents.page(catalog_id, after=None, limit=_AT_ONCE)
        while True:
            outdated = [each for each in page.documents if _is_outdated(each, self.ocr)]
            yield self._reread(catalog, outdated, looked_at=len(page.documents))
            if page.next is None:
                return
            page = self.documents.page(catalog_id, after=page.next, limit=_AT_ONCE)

    def _reread(self, catalog: Catalog, documents: Sequence[Document], *, looked_at: int) -> Reread:
        again: list[Document] = []
        refused: list[tuple[Document, str]] = []
        for each in documents:
            document, why_not = self._ask(catalog, each)
            if why_not is None:
                again.append(document)
            else:
                refused.append((document, why_not))
        return Reread(again=tuple(again), refused=tuple(refused), looked_at=looked_at)

    def _ask(self, catalog: Catalog, document: Document) -> tuple[Document, str | None]:
        """Return the document as it is then, and why it isn't read anew, if it isn't."""
        seen: Document | None = document
        for _ in range(_TRIES):
            if seen is None:
                return document, "it has been removed meanwhile"
            if why_not := _why_not(catalog, seen):
                return seen, why_not
            found = self.bucket.version_of(seen.s3_key)
            if found is None:
                return seen, "its file is gone"
            if found.etag != seen.etag:
                return seen, "its file was replaced, and is read anyway"
            try:
                waiting = self._waiting(seen, found)
            except RecordChanged:
                seen = self.documents.get(document.catalog_id, document.document_id)
            else:
                self.requests.ask(waiting.s3_key)
                return waiting, None
        return document, "others kept changing its record; try again"

    def _waiting(self, document: Document, found: FileVersion) -> Document:
        """
        Return the document as it is saved, waiting for the text of the version that lies there: the
        same file may have been dropped again since.
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
    """Whether a file that can be read has no text, or one of another reader's."""
    if _why_no_text(document) is not None:
        return False
    version = FileVersion(document.etag, document.version_id)
    return document.text_id != text_id_of(version, document.filename, ocr)


def _why_not(catalog: Catalog, document: Document) -> str | None:
    if catalog.status is CatalogStatus.DELETING:
        return "its catalog is being deleted"
    if why_no_text := _why_no_text(document):
        return why_no_text
    is_crawled = catalog.source is not None and catalog.source.type is DataSourceType.S3
    return SKIPPED if is_crawled else None


def _why_no_text(document: Document) -> str | None:
    if document.status is DocumentStatus.DELETING:
        return "it is being deleted"
    if document.status is DocumentStatus.UPLOADING:
        return "it has yet to be uploaded"
    if document.is_rejected:
        return f"it was rejected, drop a mended file: {document.status_reason}"
    return None
