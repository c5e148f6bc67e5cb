"""
Looking into an uploaded file ourselves.

Bedrock promises no reason for a document that it can't take, and may not tell pages. The
inspection finds what is wrong with a file, in words that its owner can act on, and makes the page
map of a file with pages or headings. It is never in the way of ingestion: what it can't find
out, it leaves open.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.documents.formats import MAX_FILE_BYTES, unsupported
from stackroom.documents.keys import Location, locate, may_be_document, unplaced_reason
from stackroom.documents.model import SERVICE_FAILURE, DocumentStatus
from stackroom.documents.repositories import Catalogs, Documents, Inspected
from stackroom.errors import ObjectRefused, RecordChanged, Unreadable
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.gaps import UNREAD, gaps_of
from stackroom.inspection.place_map import PlaceMap

_TRIES = 3
_OPENING = 1_000  # characters in which a title stands, and what a first page says of the document
_TITLE_BYTES = 700  # of its words: a record of a kilobyte costs one write unit
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class File:
    """An object as it is now; `body` is None if it is larger than was asked for."""

    etag: str
    body: bytes | None


class Files(Protocol):
    def read(self, key: str, *, limit: int) -> File | None:
        """
        The object, or None if there is none; a body of more than `limit` bytes is left.

        Raises ObjectRefused if it is kept from us.
        """

    def etag_of(self, key: str) -> str | None: ...


class PlaceMaps(Protocol):
    def get(self, document_id: str) -> PlaceMap | None: ...

    def put(self, document_id: str, place_map: PlaceMap) -> None: ...

    def remove(self, document_id: str) -> None:
        """Also where there is none."""


class Inspections(Protocol):
    def record(self, document_id: str, etag: str, found: Inspected) -> None:
        """Keep that this version was inspected, and what was found."""


class InspectionOutcome(StrEnum):
    IGNORED = "ignored"  # no document, or rejected by its name or size already
    GONE = "gone"
    SOUND = "sound"
    DEFECTIVE = "defective"
    REFUSED = "refused"  # S3 keeps it from us; its record says so already
    UNDECIDED = "undecided"  # the reader crashed or took too long


@dataclass(frozen=True, kw_only=True)
class InspectionResult:
    outcome: InspectionOutcome
    document_id: str | None = None
    reason: str | None = None
    pages: int = 0
    sections: int = 0


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """`extract` answers None where it has to give up; see `extraction.apart`."""

    files: Files
    place_maps: PlaceMaps
    inspections: Inspections
    catalogs: Catalogs
    documents: Documents
    extract: Callable[[bytes, str], tuple[Page, ...] | None]
    now: Callable[[], datetime] = utc_now

    def inspect(self, key: str) -> InspectionResult:
        """
        Inspect what lies under the key now, whatever the event said; safe to repeat.

        Raises RecordChanged if object or record kept changing meanwhile; deliver again later.
        """
        location = _location_of(key)
        # A key can name a catalog that it doesn't belong to, by its id or in another spelling; its
        # file must not speak for that catalog's document of the same name.
        if location is None or unplaced_reason(location, self.catalogs.get(location.catalog_id)):
            return InspectionResult(outcome=InspectionOutcome.IGNORED)
        for _ in range(_TRIES):
            try:
                file = self.files.read(key, limit=MAX_FILE_BYTES)
            except ObjectRefused as refused:
                self.place_maps.remove(location.document_id)
                return InspectionResult(
                    outcome=InspectionOutcome.REFUSED,
                    document_id=location.document_id,
                    reason=refused.why,
                )
            inspected = self._inspect(location, file)
            # Another inspection may have read a newer version and written before us: whoever
            # writes last looks again, so that the last word is about the object that is there.
            if self.files.etag_of(key) == (file.etag if file else None):
                return inspected
        raise RecordChanged(key)

    def _inspect(self, location: Location, file: File | None) -> InspectionResult:
        document_id = location.document_id
        if file is None or file.body is None:
            self.place_maps.remove(document_id)
            outcome = InspectionOutcome.GONE if file is None else InspectionOutcome.IGNORED
            return InspectionResult(outcome=outcome, document_id=document_id)
        place_map = None
        try:
            pages = self.extract(file.body, location.filename)
        except Unreadable as defect:
            outcome, found = InspectionOutcome.DEFECTIVE, Inspected(reason=defect.reason)
        else:
            if pages is None:
                outcome, found = InspectionOutcome.UNDECIDED, Inspected(gaps=(UNREAD,))
            else:
                outcome, place_map = InspectionOutcome.SOUND, PlaceMap.of(file.etag, pages)
                found = Inspected(title_words=title_words_of(pages), gaps=gaps_of(pages))
        self._keep(location, file.etag, found, place_map)
        self._tell(location, file.etag, found)
        pieces = place_map.pieces if place_map else ()
        return InspectionResult(
            outcome=outcome,
            document_id=document_id,
            reason=found.reason,
            pages=sum(piece.page is not None for piece in pieces),
            sections=sum(piece.section is not None for piece in pieces),
        )

    def _keep(
        self, location: Location, etag: str, found: Inspected, place_map: PlaceMap | None
    ) -> None:
        if place_map is None:
            self.place_maps.remove(location.document_id)  # that of an earlier version
        else:
            self.place_maps.put(location.document_id, place_map)
        self.inspections.record(location.document_id, etag, found)  # the map is there before

    def _tell(self, location: Location, etag: str, found: Inspected) -> None:
        """
        The record of a document that was settled before: why it has failed, if nobody knew, or that
        the file is not at fault, the words of its title, what of it can't be found, and that no
        inspection is missing any more.

        The result is kept before the record is looked at; ingestion does it the other way round.
        """
        document = self.documents.get(location.catalog_id, location.document_id)
        if document is None or document.etag != etag:
            return
        told = document
        reason = found.reason or (SERVICE_FAILURE if UNREAD not in found.gaps else None)
        if document.is_unexplained and reason is not None:
            told = document.explained(reason, at=max(document.updated_at, self.now()))
        if document.status is DocumentStatus.INDEXED:
            told = told.model_copy(update={"title_words": found.title_words, "gaps": found.gaps})
        told = told.model_copy(update={"uninspected": False})
        if told != document:
            self.documents.save(told)


def _location_of(key: str) -> Location | None:
    """Where a document lies; None for what is no document, or rejected by its name already."""
    location = locate(key) if may_be_document(key) else None
    if isinstance(location, Location) and not unsupported(location.filename):
        return location
    return None


def title_words_of(pages: Sequence[Page]) -> str:
    """
    Return the words of a document's title and of its opening, in lower case and each once, as many
    as a record holds.

    A title's numbers are left out: programs write there the date of the file, or its number in a
    register, by which a question for another year finds it [docs/answers.md].
    """
    named = " ".join(page.title for page in pages[:1])
    title = " ".join(each for each in _WORD.findall(named) if each.isalpha())
    opening = next((page.text.strip() for page in pages if page.text.strip()), "")[:_OPENING]
    words = " ".join(dict.fromkeys(_WORD.findall(f"{title} {opening}".lower())))
    return words.encode()[:_TITLE_BYTES].decode(errors="ignore")
