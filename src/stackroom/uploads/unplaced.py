"""Objects that belong to no catalog: shown to their user with the reason, so nothing vanishes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.keys import Location, Unplaced, unplaced_id_of
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.documents import Documents
from stackroom.uploads import sidecars
from stackroom.uploads.descriptions import describe_unplaced, says_the_same


@dataclass(frozen=True, kw_only=True)
class UnplacedObjects:
    documents: Documents
    bucket: DocumentBucket
    now: Callable[[], datetime] = utc_now

    def note(self, place: Unplaced, correlation_id: str | None) -> bool:
        """Keep a record of the object for as long as it is there; whether it is."""
        shelf = unplaced_partition(place.user_id)
        record = self.documents.get(shelf, place.document_id)
        found = self.bucket.head(place.key)
        if found is None:
            if place.is_crawled:
                self.bucket.remove_sidecar(place.key)
            if record is not None:
                self.documents.remove(record)
            return False
        if place.is_crawled:
            self.bucket.write_sidecar(place.key, sidecars.QUARANTINED)
        stray = describe_unplaced(place, shelf, record, found, correlation_id, at=self.now())
        if record is None or not says_the_same(record, stray):
            self.documents.save(stray)
        return True

    def forget(self, place: Location) -> None:
        """The key has its place now; it may have had none before, and was shown as rejected."""
        stray = self.documents.get(unplaced_partition(place.user_id), unplaced_id_of(place.key))
        if stray is not None:
            self.documents.remove(stray)


def unplaced_partition(user_id: str) -> str:
    """The partition that lists a user's objects that belong to no catalog."""
    return f"REJECTED#{user_id}"


def as_unplaced(place: Location, reason: str) -> Unplaced:
    """A key whose form is right, and which has no place all the same."""
    return Unplaced(
        key=place.key, user_id=place.user_id, document_id=unplaced_id_of(place.key), reason=reason
    )
