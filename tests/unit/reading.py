"""A pipeline whose files are read: what is dropped waits for its text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from stackroom.errors import RecordChanged
from stackroom.model.bucket import File, FileVersion
from stackroom.model.records import Document, DocumentStatus
from stackroom.text.extraction import Page, read_pages
from stackroom.text.inspection import Inspection, InspectionResult
from stackroom.text.text_ids import text_id_of
from stackroom.uploads.plan import Plan
from tests.fakes.disturbed import Disturbed
from tests.fakes.inspection import FakeInspections
from tests.fakes.pipeline import FakeBucket
from tests.unit.pipeline import Pipeline, place_of

KEY = "alice/research/report.txt"

_Answer = TypeVar("_Answer")


@dataclass
class FilesOf(Disturbed):
    """The files of a bucket, each with its content in the etag."""

    bucket: FakeBucket

    def read(self, key: str, *, limit: int, version_id: str | None = None) -> File | None:
        found = self.bucket.head(key)
        assert version_id is None, "an inspection reads what lies there"
        if found is None:
            return None
        body = found.etag.removeprefix("etag of ").encode()
        version = FileVersion(found.etag, found.version_id)
        return File(version=version, body=body if len(body) <= limit else None)

    def version_of(self, key: str) -> FileVersion | None:
        return self.bucket.version_of(key)


@dataclass
class AskedRuns(Disturbed):
    """Asks the pipeline for runs, and keeps what the document was then."""

    reading: "Reading"
    asked: list[Document | None] = field(default_factory=list)

    def ask(self, catalog_id: str) -> None:
        self.asked.append(self.reading.found())
        self.reading.run_requests(catalog_id)


class Reading:
    def __init__(self, *, by_jobs: bool = False, shared: bool = False) -> None:
        self.inspections = FakeInspections()
        self.pipeline = Pipeline(inspections=self.inspections, by_jobs=by_jobs, shared=shared)
        self.run_requests = self.pipeline.requests.ask
        self.requests = AskedRuns(self)
        self.files = FilesOf(self.pipeline.bucket)
        self.texts, self.documents = self.pipeline.texts, self.pipeline.documents
        self.keeping = self.pipeline.use_cases.text_keeping
        self.inspection = Inspection(
            files=self.files,
            texts=self.texts,
            keeping=self.keeping,
            inspections=self.inspections,
            catalogs=self.pipeline.catalogs,
            documents=self.documents,
            requests=self.requests,
            extract=self._extract,
            pause=lambda _: None,
        )
        self.reader: Callable[[bytes, str], tuple[Page, ...] | None] = read_pages

    def _extract(self, body: bytes, filename: str) -> tuple[Page, ...] | None:
        return self.reader(body, filename)

    def upload(self, body: str = "text", key: str = KEY, **attributes: str) -> None:
        """Nobody is told."""
        self.pipeline.clock.pass_by(1)
        self.pipeline.bucket.upload(key, body, **attributes)

    def handle(self, key: str = KEY) -> Plan:
        """Deliver an event to the upload handler, again if it asks for that."""
        return _delivered(lambda: self._handle(key))

    def _handle(self, key: str) -> Plan:
        plan = self.pipeline.uploads.reconcile(key, correlation_id="event-1")
        if plan.run_for is not None:
            self.requests.ask(plan.run_for)
        return plan

    def read(self, key: str = KEY) -> InspectionResult:
        """Deliver an event to the reader, again if it asks for that."""
        return _delivered(lambda: self.inspection.inspect(key))

    def drop(self, body: str = "text", key: str = KEY, **attributes: str) -> None:
        self.upload(body, key, **attributes)
        self.handle(key)
        self.read(key)

    def remove(self) -> None:
        """Remove the document as a run does once a search has proven the removal."""
        document = self.found()
        if document is None or document.status is not DocumentStatus.DELETING:
            return
        place = place_of(KEY)
        self.keeping.tidy(place.user_id, place.catalog_id, place.document_id, KEY)
        try:
            self.documents.remove(document)
        except RecordChanged:
            return

    def found(self, key: str = KEY) -> Document | None:
        place = place_of(key)
        return self.documents.kept.get((place.catalog_id, place.document_id))

    def document(self, key: str = KEY) -> Document:
        document = self.found(key)
        assert document is not None
        return document

    def text_id(self, key: str = KEY) -> str:
        """Return the id of the text of the present version."""
        version = self.pipeline.bucket.version_of(key)
        assert version is not None
        return text_id_of(version, place_of(key).filename)

    def texts_of(self, key: str = KEY) -> set[str]:
        return {
            each.text_id
            for each in self.texts.kept
            if each.document_id == place_of(key).document_id
        }

    def is_asked(self) -> bool:
        """Return whether a run was requested after the document had its present text."""
        document = self.document()
        return any(
            each is not None and (each.unread, each.text_id) == (False, document.text_id)
            for each in self.requests.asked
        )


def _delivered(once: Callable[[], _Answer]) -> _Answer:
    for _ in range(5):
        try:
            return once()
        except RecordChanged:
            continue
    return once()
