"""Documents read anew: which ones, what becomes of their records, and what is refused."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.model.bucket import FileVersion
from stackroom.model.records import DocumentStatus
from stackroom.model.repositories import Inspected
from stackroom.runs.retries import Rereading, RetryResult
from stackroom.text.text_ids import text_id_of
from tests.fakes.inspection import FakeInspectionRequests, FakeInspections
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

DOCUMENT = place_of(KEY).document_id
OTHER = "alice/research/other.pdf"


@dataclass
class Library:
    """A pipeline, and what of its documents is asked for."""

    pipeline: Pipeline
    inspections: FakeInspections = field(default_factory=FakeInspections)
    asked: FakeInspectionRequests = field(default_factory=FakeInspectionRequests)

    def reread(self, document_ids: Iterable[str] | None = None, user: str = "alice") -> RetryResult:
        rereading = Rereading(
            catalogs=self.pipeline.catalogs,
            documents=self.pipeline.documents,
            bucket=self.pipeline.bucket,
            results=self.inspections,
            requests=self.asked,
            now=self.pipeline.clock,
        )
        parts = list(rereading.reread(user, CATALOG, document_ids))
        return RetryResult(
            again=tuple(each for part in parts for each in part.again),
            refused=tuple(each for part in parts for each in part.refused),
            examined=sum(part.examined for part in parts),
        )

    def change(self, key: str = KEY, **fields: Any) -> None:
        document = self.pipeline.document(key)
        self.pipeline.documents.overwrite(document.model_copy(update=fields))

    def read_by_this_reader(self, key: str) -> None:
        found = self.pipeline.document(key)
        text_id = text_id_of(FileVersion(found.etag, found.version_id), found.filename)
        self.change(key, text_id=text_id, indexed_text_id=text_id)


@pytest.fixture
def library(indexed: Pipeline) -> Library:
    """An indexed file whose text an older reader made."""
    library = Library(indexed)
    library.change(text_id="0" * 16, text_tokens=9, indexed_text_id="0" * 16, attempts=2)
    return library


def test_text_of_an_older_reader_is_replaced_and_found_until_then(library: Library) -> None:
    before = library.pipeline.document()
    library.inspections.record(before.document_id, before.etag, Inspected(text_id="0" * 16))
    library.pipeline.bucket.upload(KEY)  # the same file, dropped again

    found = library.reread()

    document = library.pipeline.document()
    there = library.pipeline.bucket.version_of(KEY)
    assert (document.etag, document.version_id) == there
    assert library.inspections.found == {}, "an older result is not taken for the new one"
    assert (document.status, document.unread, document.is_unfinished) == ("pending", True, False)
    assert (document.text_id, document.text_tokens, document.attempts) == (None, None, 0)
    assert document.text_ids == {"0" * 16}, "a search shows what is indexed"
    assert found == RetryResult(again=(document,), examined=1)
    assert library.asked.asked == [KEY]


def test_reread_replaces_only_missing_and_outdated_texts_unless_named(library: Library) -> None:
    library.pipeline.drop(OTHER)
    library.pipeline.index(OTHER)
    library.read_by_this_reader(OTHER)
    library.change(text_id=None, indexed_text_id=None)

    unnamed = library.reread()
    named = library.reread([place_of(OTHER).document_id])

    assert [each.s3_key for each in unnamed.again] == [KEY]
    assert unnamed.examined == 2
    assert [each.s3_key for each in named.again] == [OTHER]
    assert library.asked.asked == [KEY, OTHER]


def test_documents_are_looked_at_page_by_page(library: Library) -> None:
    for number in range(60):
        library.pipeline.drop(f"alice/research/{number}.txt")

    found = library.reread()

    assert (len(found.again), found.examined) == (61, 61)


def test_file_dropped_again_during_its_reread_awaits_its_new_version(library: Library) -> None:
    pipeline = library.pipeline
    pipeline.documents.before("save", lambda _: pipeline.drop(KEY), times=1)

    library.reread()

    document = pipeline.document()
    assert (document.etag, document.version_id) == pipeline.bucket.version_of(KEY)
    assert (document.unread, library.asked.asked) == (True, [KEY])


def test_a_repetition_after_a_crash_asks_again_and_changes_nothing(library: Library) -> None:
    library.reread()
    before = library.pipeline.document()
    library.asked.asked.clear()

    again = library.reread()

    assert library.pipeline.document() == before
    assert (again.again, library.asked.asked) == ((before,), [KEY])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": DocumentStatus.DELETING}, "it is being deleted"),
        ({"status": DocumentStatus.UPLOADING, "etag": ""}, "it has yet to be uploaded"),
        (
            {
                "status": DocumentStatus.FAILED,
                "status_reason": "File type '.exe' not supported",
                "present_since": None,
            },
            "it was rejected, drop a mended file: File type '.exe' not supported",
        ),
    ],
)
def test_unreadable_document_is_refused_if_named_and_else_skipped(
    library: Library, fields: dict[str, Any], reason: str
) -> None:
    library.change(**fields)
    before = library.pipeline.document()

    named, unnamed = library.reread([DOCUMENT]), library.reread()

    assert named.refused == ((before, reason),)
    assert (unnamed.again, unnamed.refused) == ((), ())
    assert (library.pipeline.document(), library.asked.asked) == (before, [])


def test_documents_of_a_catalog_being_deleted_are_not_reread(library: Library) -> None:
    library.pipeline.catalogs.mark_deleting(CATALOG, at=library.pipeline.clock())

    found = library.reread()

    assert [why for _, why in found.refused] == ["its catalog is being deleted"]
    assert library.asked.asked == []


def test_a_file_that_is_gone_or_replaced_is_left_to_its_own_event(library: Library) -> None:
    library.pipeline.bucket.upload(KEY, "a newer version")
    replaced = library.reread([DOCUMENT])
    library.pipeline.bucket.delete(KEY)
    gone = library.reread([DOCUMENT])

    assert [why for _, why in replaced.refused] == ["its file was replaced, and is read anyway"]
    assert [why for _, why in gone.refused] == ["its file is gone"]
    assert library.pipeline.document().text_id == "0" * 16


def test_unknown_documents_and_other_peoples_catalogs_are_not_found(library: Library) -> None:
    with pytest.raises(CatalogNotFound):
        library.reread(user="bob")
    with pytest.raises(DocumentNotFound):
        library.reread([DOCUMENT, "doc-none"])

    assert library.asked.asked == []
