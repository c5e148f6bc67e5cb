"""The ports of an inspection, in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import ObjectRefused
from stackroom.model.bucket import File, FileVersion
from stackroom.model.keys import TextName
from stackroom.model.records import Document
from stackroom.model.repositories import Inspected
from stackroom.text.document_text import DocumentText
from stackroom.text.place_map import PlaceMap
from tests.fakes.disturbed import Disturbed


class FakeFiles:
    """Objects by key; `on_read` runs after a read, as another writer would in between."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[FileVersion, bytes]] = {}
        self.reads: list[str] = []
        self.on_read: Callable[[], None] = lambda: None
        self.refused: dict[str, str] = {}

    def keep_from_us(self, key: str, why: str) -> None:
        self.refused[key] = why

    def put(self, key: str, etag: str, body: bytes, version_id: str | None = None) -> None:
        self.objects[key] = (FileVersion(etag, version_id), body)

    def read(self, key: str, *, limit: int, version_id: str | None = None) -> File | None:
        version, body = self.objects.get(key, (None, b""))
        self.reads.append(key)
        self.on_read()
        if key in self.refused:
            raise ObjectRefused(key, self.refused[key])
        if version is None:
            return None
        return File(version=version, body=body if len(body) <= limit else None)

    def version_of(self, key: str) -> FileVersion | None:
        version, _ = self.objects.get(key, (None, b""))
        return version


@dataclass
class FakeTexts(Disturbed):
    """The `DocumentTexts` that were put, by name, and the places of each; and when they were."""

    now: Callable[[], datetime] = utc_now
    kept: dict[TextName, DocumentText] = field(default_factory=dict)
    put_at: dict[TextName, datetime] = field(default_factory=dict)

    def get(self, name: TextName) -> PlaceMap | None:
        text = self.kept.get(name)
        return None if text is None else text.places

    def put(self, name: TextName, text: DocumentText) -> None:
        self.kept[name] = text
        self.put_at[name] = self.now()

    def names(self, user_id: str, catalog_id: str, document_id: str) -> list[TextName]:
        wanted = (user_id, catalog_id, document_id)
        return [
            each
            for each in self.kept
            if (each.user_id, each.catalog_id, each.document_id) == wanted
        ]

    def remove(self, names: Iterable[TextName]) -> None:
        for each in list(names):
            self.kept.pop(each, None)


@dataclass
class FakeInspections(Disturbed):
    """Inspection results by document, with the version's etag."""

    found: dict[str, tuple[str, Inspected]] = field(default_factory=dict)

    def record(self, document_id: str, etag: str, found: Inspected) -> str | None:
        _, before = self.found.get(document_id, ("", Inspected()))
        self.found[document_id] = (etag, found)
        return before.text_id

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        etags = {each.document_id: each.etag for each in documents}
        return {
            document_id: found
            for document_id, (etag, found) in self.found.items()
            if etags.get(document_id) == etag
        }

    def forget(self, document_id: str) -> None:
        self.found.pop(document_id, None)


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
                version_id=each.version_id,
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
