"""What is on record of a file between its sending and its object's event, which does the rest."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.errors import RecordChanged
from stackroom.formats import content_type_of
from stackroom.keys import Location
from stackroom.model import Document, DocumentStatus
from stackroom.ports.documents import Documents

# How long the record of a file that was written waits for the object's event. A minute is much even
# when AWS is busy; the reconciler registers what never had one.
_EVENT = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Announcements:
    """Where the event is quicker, its record stands."""

    documents: Documents
    now: Callable[[], datetime]

    def expected(self, location: Location, *, until: datetime) -> None:
        """By a link. What there is of that name already stays as it is until the file comes."""
        there = self.documents.get(location.catalog_id, location.document_id)
        if there is None or there.status is DocumentStatus.UPLOADING:
            self._announce(location, there, until=until)

    def written(self, location: Location, *, size: int, etag: str) -> None:
        """The object lies there, with this size and ETag."""
        there = self.documents.get(location.catalog_id, location.document_id)
        if there is None or there.status is DocumentStatus.UPLOADING:
            self._announce(location, there, until=self.now() + _EVENT, size=size, etag=etag)
        elif there.status is not DocumentStatus.DELETING:  # a removal is called off by the event
            self._replaced(there, size=size, etag=etag)

    def _announce(
        self,
        location: Location,
        there: Document | None,
        *,
        until: datetime,
        size: int = 0,
        etag: str = "",
    ) -> None:
        now = self.now()
        announced = Document(
            catalog_id=location.catalog_id,
            document_id=location.document_id,
            filename=location.filename,
            s3_key=location.key,
            size=size,
            etag=etag,
            content_type=content_type_of(location.filename),
            status=DocumentStatus.UPLOADING,
            uploaded_at=now,
            updated_at=now,
            upload_until=until,
            opened_at=there.opened_at if there else None,
            counted=there.counted if there else None,
            version=there.version if there else 0,
        )
        with suppress(RecordChanged):
            self.documents.save(announced)

    def _replaced(self, there: Document, *, size: int, etag: str) -> None:
        """
        What is indexed is no more what lies there. Without a fingerprint, so that the event, or the
        reconciler, registers it anew.
        """
        pending = there.moved(DocumentStatus.PENDING, at=self.now())
        changes = {"etag": etag, "size": size, "fingerprint": "", "attempts": 0}
        with suppress(RecordChanged):
            self.documents.save(pending.model_copy(update=changes))
