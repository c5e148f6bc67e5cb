"""What an inspection works on, in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stackroom.documents.model import Document
from stackroom.documents.repositories import Inspected
from stackroom.errors import ObjectRefused
from stackroom.inspection.inspection import File
from stackroom.inspection.place_map import PlaceMap
from tests.fakes.disturbed import Disturbed


class FakeFiles:
    """Objects by key; `on_read` runs after a read, as another writer would in between."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[str, bytes]] = {}
        self.reads: list[str] = []
        self.on_read: Callable[[], None] = lambda: None
        self.refused: dict[str, str] = {}

    def keep_from_us(self, key: str, why: str) -> None:
        self.refused[key] = why

    def put(self, key: str, etag: str, body: bytes) -> None:
        self.objects[key] = (etag, body)

    def read(self, key: str, *, limit: int) -> File | None:
        etag, body = self.objects.get(key, (None, b""))
        self.reads.append(key)
        self.on_read()
        if key in self.refused:
            raise ObjectRefused(key, self.refused[key])
        if etag is None:
            return None
        return File(etag=etag, body=body if len(body) <= limit else None)

    def etag_of(self, key: str) -> str | None:
        etag, _ = self.objects.get(key, (None, b""))
        return etag


class FakeMapShelf:
    """A `PlaceMaps` that keeps what is put into it."""

    def __init__(self) -> None:
        self.maps: dict[str, PlaceMap] = {}

    def get(self, document_id: str) -> PlaceMap | None:
        return self.maps.get(document_id)

    def put(self, document_id: str, place_map: PlaceMap) -> None:
        self.maps[document_id] = place_map

    def remove(self, document_id: str) -> None:
        self.maps.pop(document_id, None)


class FakeInspections:
    def __init__(self) -> None:
        self.found: dict[str, tuple[str, Inspected]] = {}

    def record(self, document_id: str, etag: str, found: Inspected) -> None:
        self.found[document_id] = (etag, found)


@dataclass
class FakeInspectionResults(Disturbed):
    """`everything` was inspected, and found sound where there is no reason."""

    reasons: dict[str, str] = field(default_factory=dict)  # by etag
    titles: dict[str, str] = field(default_factory=dict)  # words, by etag
    gaps: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by etag
    everything: bool = False

    def find(self, document: Document, why: str) -> None:
        """Have it found defective, with a gap that says the same."""
        self.reasons[document.etag] = why
        self.gaps[document.etag] = (why,)

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        return {
            each.document_id: Inspected(
                reason=self.reasons.get(each.etag),
                title_words=self.titles.get(each.etag, ""),
                gaps=self.gaps.get(each.etag, ()),
            )
            for each in documents
            if self.everything or each.etag in self.reasons
        }


class FakeInspectionRequests:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, key: str) -> None:
        self.asked.append(key)
