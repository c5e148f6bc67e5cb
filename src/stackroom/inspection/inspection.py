"""
Looking into an uploaded file ourselves.

Bedrock promises no reason for a document that it can't take, and may not tell pages. The
inspection finds what is wrong with a file, in words that its owner can act on, and makes the page
map of a file with pages or headings. It is never in the way of ingestion: what it can't find
out, it leaves open.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.errors import ObjectRefused, RecordChanged, Unreadable
from stackroom.formats import MAX_FILE_BYTES, unsupported
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.place_map import PlaceMap
from stackroom.keys import Location, is_ours, locate, unplaced_reason
from stackroom.model import UNEXPLAINED_FAILURE, DocumentStatus
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents

_TRIES = 3


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
        ...

    def etag_of(self, key: str) -> str | None: ...


class PlaceMaps(Protocol):
    def get(self, document_id: str) -> PlaceMap | None: ...

    def put(self, document_id: str, place_map: PlaceMap) -> None: ...

    def remove(self, document_id: str) -> None:
        """Also where there is none."""
        ...


class Inspections(Protocol):
    def record(self, document_id: str, etag: str, reason: str) -> None:
        """Keep what the inspection of this version found."""
        ...


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
        if location is None or self._is_somebody_elses(location):
            return InspectionResult(outcome=InspectionOutcome.IGNORED)
        for _ in range(_TRIES):
            try:
                file = self.files.read(key, limit=MAX_FILE_BYTES)
            except ObjectRefused as refused:
                return self._kept_from_us(location, refused)
            inspected = self._inspect(location, file)
            # Another inspection may have read a newer version and written before us: whoever
            # writes last looks again, so that the last word is about the object that is there.
            if self.files.etag_of(key) == (file.etag if file else None):
                return inspected
        raise RecordChanged(key)

    def _kept_from_us(self, location: Location, refused: ObjectRefused) -> InspectionResult:
        self.place_maps.remove(location.document_id)
        return InspectionResult(
            outcome=InspectionOutcome.REFUSED,
            document_id=location.document_id,
            reason=refused.why,
        )

    def _is_somebody_elses(self, location: Location) -> bool:
        """
        A key can name a catalog that it doesn't belong to, by its id or in another spelling; its
        file must not speak for that catalog's document of the same name.
        """
        catalog = self.catalogs.get(location.catalog_id)
        return unplaced_reason(location, catalog) is not None

    def _inspect(self, location: Location, file: File | None) -> InspectionResult:
        document_id = location.document_id
        if file is None:
            self.place_maps.remove(document_id)
            return InspectionResult(outcome=InspectionOutcome.GONE, document_id=document_id)
        if file.body is None:
            self.place_maps.remove(document_id)
            return InspectionResult(outcome=InspectionOutcome.IGNORED, document_id=document_id)
        try:
            pages = self.extract(file.body, location.filename)
        except Unreadable as defect:
            found = self._conclude(document_id, file.etag, reason=defect.reason)
            self._explain(location, file.etag, defect.reason)
            return found
        if pages is None:
            self.place_maps.remove(document_id)
            return InspectionResult(outcome=InspectionOutcome.UNDECIDED, document_id=document_id)
        return self._conclude(document_id, file.etag, place_map=PlaceMap.of(file.etag, pages))

    def _explain(self, location: Location, etag: str, reason: str) -> None:
        """
        Tell the owner, if the document has failed already and nobody knew why.

        The result is kept before the record is looked at; settlement does it the other way round.
        """
        document = self.documents.get(location.catalog_id, location.document_id)
        if (
            document is None
            or document.etag != etag
            or document.status_reason != UNEXPLAINED_FAILURE
        ):
            return
        at = max(document.updated_at, self.now())
        self.documents.save(document.moved(DocumentStatus.FAILED, at=at, reason=reason))

    def _conclude(
        self,
        document_id: str,
        etag: str,
        *,
        reason: str | None = None,
        place_map: PlaceMap | None = None,
    ) -> InspectionResult:
        if place_map is None:
            self.place_maps.remove(document_id)  # that of an earlier version
        else:
            self.place_maps.put(document_id, place_map)
        if reason is not None:
            # Nothing is kept of sound files: results are of one version, so an old one is no harm,
            # and the sweep, which reads the table they lie in, need not read one for each document.
            self.inspections.record(document_id, etag, reason)
        pieces = place_map.pieces if place_map else ()
        return InspectionResult(
            outcome=InspectionOutcome.DEFECTIVE if reason else InspectionOutcome.SOUND,
            document_id=document_id,
            reason=reason,
            pages=sum(piece.page is not None for piece in pieces),
            sections=sum(piece.section is not None for piece in pieces),
        )


def _location_of(key: str) -> Location | None:
    """Where a document lies; None for what is no document, or rejected by its name already."""
    if is_ours(key):
        return None
    location = locate(key)
    return (
        location if isinstance(location, Location) and not unsupported(location.filename) else None
    )
