"""Objects that belong to no catalog: shown to their user with the reason, so nothing vanishes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom import sidecars
from stackroom.clock import utc_now
from stackroom.descriptions import describe_stray, says_the_same
from stackroom.keys import Location, Misplaced, stray_id_of
from stackroom.ports import DocumentBucket, Documents


@dataclass(frozen=True, kw_only=True)
class Strays:
    documents: Documents
    bucket: DocumentBucket
    now: Callable[[], datetime] = utc_now

    def note(self, place: Misplaced, correlation_id: str | None) -> bool:
        """Keep a record of the object for as long as it is there; whether it is."""
        shelf = rejected_shelf(place.user_id)
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
        stray = describe_stray(place, shelf, record, found, correlation_id, at=self.now())
        if record is None or not says_the_same(record, stray):
            self.documents.save(stray)
        return True

    def forget(self, place: Location) -> None:
        """The key has its place now; it may have had none before, and was shown as rejected."""
        stray = self.documents.get(rejected_shelf(place.user_id), stray_id_of(place.key))
        if stray is not None:
            self.documents.remove(stray)


def rejected_shelf(user_id: str) -> str:
    """The partition that lists a user's objects that belong to no catalog."""
    return f"REJECTED#{user_id}"


def out_of_place(place: Location, reason: str) -> Misplaced:
    """A key whose form is right, and which has no place all the same."""
    return Misplaced(
        key=place.key, user_id=place.user_id, document_id=stray_id_of(place.key), reason=reason
    )
