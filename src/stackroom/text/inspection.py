"""
Inspect an uploaded file: its one text, its places, what is wrong with it, and what can't be found.

Each version of a file is read once. Its text is what a CUSTOM data source ingests, and what its
passages are found in again. A document waits for that: it is `unread` until its text is written.
Whichever comes second, this or the handler of the upload, has the document taken up: this keeps its
result before it reads the record, and the handler saves the record before it looks for a result.

A file that can't be read goes to Bedrock as it is. A file that was read but shows no text does not,
unless originals go there (runs/direct_calls.py).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from stackroom.concurrency import random_pauses, retried
from stackroom.errors import Illegible, ObjectRefused, RecordChanged, Unreadable
from stackroom.model.bucket import File, Files, FileVersion
from stackroom.model.formats import MAX_FILE_BYTES, unsupported
from stackroom.model.keys import Location, TextName, locate, may_be_document
from stackroom.model.records import Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents, Inspected, InspectionResults
from stackroom.text.document_text import DocumentText, text_of, unseen_in_title
from stackroom.text.extraction.page import Page
from stackroom.text.gaps import UNREAD, gaps_of
from stackroom.text.kept_texts import DocumentTexts, TextKeeping
from stackroom.text.ocr import OcrEngine
from stackroom.text.place_map import Piece
from stackroom.text.text_ids import text_id_of

READS = 3  # of a file, until it is given up
_SAVES = 6  # of a record that the upload handler saves at the same moment
_among_writers = random_pauses(0.03, 1.0)
_OPENING = 1_000  # characters in which a title stands, and what a first page says of the document
_TITLE_BYTES = 700  # of its words: a record of a kilobyte costs one write unit
_LATER = "drop the file again later to have OCR read it"
_WORD = re.compile(r"[^\W_]+")


class Inspections(InspectionResults, Protocol):
    def record(self, document_id: str, etag: str, found: Inspected) -> str | None:
        """
        Save that this version was read, and the result; return the id of the text that was named
        before.
        """

    def forget(self, document_id: str) -> None:
        """Delete the result. Safe to repeat."""


class CatalogRuns(Protocol):
    def ask(self, catalog_id: str) -> None:
        """Have the catalog's open documents taken up."""


class InspectionOutcome(StrEnum):
    IGNORED = "ignored"  # no document, or rejected by its name or size already
    GONE = "gone"
    SOUND = "sound"
    KNOWN = "known"  # its document has a text of the same content
    DEFECTIVE = "defective"
    REFUSED = "refused"  # S3 keeps it from us; its record says so already
    UNDECIDED = "undecided"  # the reader crashed or took too long, each time


@dataclass(frozen=True, kw_only=True)
class InspectionResult:
    outcome: InspectionOutcome
    document_id: str | None = None
    reason: str | None = None
    pages: int = 0
    sections: int = 0


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """
    Inspects files. `extract` returns None if it has to give up; see `extraction.apart`. If there is
    an `ocr`, it is an `ocr.PageOcr`.
    """

    files: Files
    texts: DocumentTexts
    keeping: TextKeeping
    inspections: Inspections
    catalogs: Catalogs
    documents: Documents
    requests: CatalogRuns
    extract: Callable[[bytes, str], tuple[Page, ...] | None]
    ocr: OcrEngine = "none"
    pause: Callable[[int], None] = _among_writers

    def inspect(self, key: str) -> InspectionResult:
        """
        Inspect the object that the key has now, whatever the event said; safe to repeat.

        Raises RecordChanged if object or record kept changing meanwhile; deliver again later.
        """
        location = _location_of(key)
        # A key can name a catalog that it doesn't belong to, by its id or in another spelling; its
        # file must not speak for that catalog's document of the same name.
        if location is None or location.unplaced_reason(self.catalogs.get(location.catalog_id)):
            return InspectionResult(outcome=InspectionOutcome.IGNORED)
        read = list[FileVersion | None]()
        for _ in range(READS):
            try:
                file = self.files.read(key, limit=MAX_FILE_BYTES)
            except ObjectRefused as refused:
                return self._without_text(location, InspectionOutcome.REFUSED, refused.reason)
            version = file.version if file else None
            read.append(version)
            inspected = self._inspect(location, file, is_last=read.count(version) == READS)
            # Another inspection may have read a newer version and written before us: whoever
            # writes last looks again, so that the last word is about the object that is there.
            if inspected is not None and self.files.version_of(key) == version:
                return inspected
        raise RecordChanged(key)

    def _inspect(
        self, location: Location, file: File | None, *, is_last: bool
    ) -> InspectionResult | None:
        """Return None if the reader gave up, and this is not the last time that it may try."""
        if file is None:
            # The version may come back after its text has gone.
            self.inspections.forget(location.document_id)
            return self._without_text(location, InspectionOutcome.GONE)
        if file.body is None:
            return self._without_text(location, InspectionOutcome.IGNORED)
        outcome, found, pieces = self._found(location, file.version, file.body)
        if outcome is InspectionOutcome.UNDECIDED and not is_last:
            return None
        self._keep(location, file.version, found)
        return _result(outcome, location, reason=found.reason, pieces=pieces)

    def _found(
        self, location: Location, version: FileVersion, body: bytes
    ) -> tuple[InspectionOutcome, Inspected, Sequence[Piece]]:
        if (known := self._known(location, version)) is not None:
            return InspectionOutcome.KNOWN, known, ()
        try:
            pages = self.extract(body, location.filename)
        except Unreadable as defect:  # Bedrock may index the file itself all the same
            reason = defect.reason
            illegible = reason if isinstance(defect, Illegible) else None
            found = Inspected(reason=reason, illegible=illegible, gaps=(reason, UNREAD))
            return InspectionOutcome.DEFECTIVE, found, ()
        if pages is None:
            return InspectionOutcome.UNDECIDED, Inspected(gaps=(UNREAD,)), ()
        if self.ocr != "none" and not any(page.text.strip() for page in pages):
            gaps = gaps_of(pages)
            found = Inspected(illegible="; ".join([*gaps, _LATER]), gaps=gaps)
            return InspectionOutcome.UNDECIDED, found, ()
        text = text_of(pages, location.filename)
        found = self._written(location, version, text, pages)
        return InspectionOutcome.SOUND, found, text.places.pieces

    def _without_text(
        self, location: Location, outcome: InspectionOutcome, reason: str | None = None
    ) -> InspectionResult:
        self._tidy(location)
        return _result(outcome, location, reason=reason)

    def _tidy(self, location: Location) -> None:
        ids = (location.user_id, location.catalog_id, location.document_id)
        self.keeping.tidy(*ids, location.key)

    def _known(self, location: Location, version: FileVersion) -> Inspected | None:
        """
        Return what was found of the same content before, if its document has the text of it.

        The document is looked at after the object: once a removal of the content before has begun,
        which may take that text away, its record says so.
        """
        document = self.documents.get(location.catalog_id, location.document_id)
        if document is None or document.text_id is None or document.etag != version.etag:
            return None
        if document.status in (DocumentStatus.DELETING, DocumentStatus.FAILED):
            return None
        is_same = document.version_id == version.version_id
        if is_same and document.text_id != text_id_of(version, location.filename, self.ocr):
            return None  # by an earlier reader
        found = self.inspections.results_for([document]).get(
            document.document_id, Inspected(title_words=document.title_words, gaps=document.gaps)
        )
        return replace(found, text_id=document.text_id, text_tokens=document.text_tokens)

    def _written(
        self, location: Location, version: FileVersion, text: DocumentText, pages: Sequence[Page]
    ) -> Inspected:
        text_id = text_id_of(version, location.filename, self.ocr)
        ids = (location.user_id, location.catalog_id, location.document_id)
        self.texts.put(TextName(*ids, text_id), text)
        return Inspected(
            text_id=text_id,
            text_tokens=text.tokens,
            title_words=title_words_of(pages),
            gaps=text.gaps,
        )

    def _keep(self, location: Location, version: FileVersion, found: Inspected) -> None:
        found = replace(found, version_id=version.version_id)
        before = self.inspections.record(location.document_id, version.etag, found)
        document = retried(
            lambda: self._update_record(location, version, found), tries=_SAVES, pause=self.pause
        )
        is_rejected = document is not None and found.text_id not in (None, document.text_id)
        if before not in (None, found.text_id) or is_rejected:
            self._tidy(location)

    def _update_record(
        self, location: Location, version: FileVersion, found: Inspected
    ) -> Document | None:
        """
        Bring the record of this version up to date: a document that waited for its text is taken
        up. One that is indexed by now gets the words of its title and its gaps. Return the record
        as it is then; None if there is none of this version.
        """
        document = self.documents.get(location.catalog_id, location.document_id)
        if document is None or document.etag != version.etag:
            return None
        if document.unread and document.version_id != version.version_id:
            return None
        if document.unread:
            saved = self.documents.save(found.applied_to(document))
            self.requests.ask(document.catalog_id)
            return saved
        learned = {"title_words": found.title_words, "gaps": found.gaps}
        updated = document.model_copy(update=learned)
        if document.status is DocumentStatus.INDEXED and updated != document:
            self.documents.save(updated)
        if document.status is DocumentStatus.PENDING and document.is_unfinished:
            self.requests.ask(document.catalog_id)  # a crash may have come in between
        return document


def _result(
    outcome: InspectionOutcome,
    location: Location,
    *,
    reason: str | None = None,
    pieces: Sequence[Piece] = (),
) -> InspectionResult:
    return InspectionResult(
        outcome=outcome,
        document_id=location.document_id,
        reason=reason,
        pages=len({piece.page for piece in pieces if piece.page is not None}),
        sections=sum(piece.section is not None for piece in pieces),
    )


def _location_of(key: str) -> Location | None:
    """
    Return where a document is stored; None for an object that is no document, or was rejected by
    its name.
    """
    location = locate(key) if may_be_document(key) else None
    if isinstance(location, Location) and not unsupported(location.filename):
        return location
    return None


def title_words_of(pages: Sequence[Page]) -> str:
    """
    Return the words of a document's title and of its opening, in lower case and each once, as many
    as a record holds.

    A title's numbers are left out: programs write there the date of the file, or its number in a
    register, by which a question for another year finds it [docs/answers.md]. So are words that no
    page shows.
    """
    named = _WORD.findall(" ".join(page.title for page in pages[:1]).lower())
    unseen = unseen_in_title(pages)
    title = " ".join(each for each in named if each.isalpha() and each not in unseen)
    opening = next((page.text.strip() for page in pages if page.text.strip()), "")[:_OPENING]
    words = " ".join(dict.fromkeys(_WORD.findall(f"{title} {opening}".lower())))
    return words.encode()[:_TITLE_BYTES].decode(errors="ignore")
