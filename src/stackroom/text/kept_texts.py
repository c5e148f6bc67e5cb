"""The stored texts of documents, and the removal of those that nobody needs any more."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, get_args

from stackroom.errors import Unavailable
from stackroom.model.bucket import DocumentBucket, FileVersion
from stackroom.model.keys import TextName
from stackroom.model.records import Document, DocumentStatus
from stackroom.model.repositories import Documents
from stackroom.text.ocr import OcrEngine
from stackroom.text.text_ids import text_id_of

if TYPE_CHECKING:
    from stackroom.text.document_text import DocumentText

logger = logging.getLogger(__name__)


class DocumentTexts(Protocol):
    def put(self, name: TextName, text: "DocumentText") -> None: ...

    def names(self, user_id: str, catalog_id: str, document_id: str) -> Sequence[TextName]:
        """Return the names of all texts of a document."""

    def remove(self, names: Iterable[TextName]) -> None:
        """Remove each with its places; safe to repeat."""


@dataclass(frozen=True, kw_only=True)
class TextKeeping:
    texts: DocumentTexts
    documents: Documents
    bucket: DocumentBucket

    def tidy(self, user_id: str, catalog_id: str, document_id: str, key: str) -> None:
        """
        Remove the texts of a document that no passage can be of any more; its file is `key`.

        Nothing waits for it: what can't be removed now the reconciler removes
        (reconciler/text_audit.py).
        """
        try:
            self.texts.remove(self.unneeded(user_id, catalog_id, document_id, key))
        except Unavailable:
            logger.warning("texts not removed", exc_info=True)

    def unneeded(
        self, user_id: str, catalog_id: str, document_id: str, key: str | None
    ) -> Sequence[TextName]:
        """
        Return the texts of a document that no passage can be of any more; its file is `key`, which
        is None where no file can be its.

        The texts are listed first and the object is looked at last, so that whatever text is
        written of a version that comes meanwhile is not among them. All are needed while record and
        object are not of the same content, or the text of this version is yet to come.
        """
        listed = self.texts.names(user_id, catalog_id, document_id)
        if not listed:
            return ()
        document = self.documents.get(catalog_id, document_id)
        kept = _kept(document, None if key is None else self.bucket.version_of(key))
        return [each for each in listed if kept is not None and each.text_id not in kept]


def _kept(document: Document | None, found: FileVersion | None) -> frozenset[str] | None:
    """Return the ids of the texts that are needed; None if that can't be told."""
    if found is None:
        is_gone = document is None or document.status is DocumentStatus.DELETING
        return frozenset() if document is None or is_gone else document.text_ids
    if document is None or document.unread or document.status is DocumentStatus.DELETING:
        return None
    if document.etag != found.etag:
        return None
    if document.version_id == found.version_id:
        return document.text_ids
    # The same bytes were uploaded again, and the record keeps its version and text. If it fails
    # later, it may still take the text of the new version.
    of_found = {text_id_of(found, document.filename, ocr) for ocr in get_args(OcrEngine)}
    return document.text_ids | of_found
