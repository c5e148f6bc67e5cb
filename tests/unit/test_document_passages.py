"""One document's passages, in its order, and what of it is in none."""

import random

import pytest

from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.model.keys import TextName
from stackroom.model.records import DocumentStatus
from stackroom.search.document_passages import CutDocument, DocumentPassages
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Page
from stackroom.text.place_map import PlaceMap
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs, FakeDocuments
from tests.support.records import a_catalog, a_document

CATALOG = a_catalog(catalog_id="cat-1", s3_prefix="alice/research/", knowledge_base_id="KB1")


class Maps:
    def __init__(self) -> None:
        self.kept: dict[str, PlaceMap | None] = {}

    def get(self, name: TextName) -> PlaceMap | None:
        return self.kept[name.document_id]


class IndexedDocument:
    """One indexed document; its passages lie in the index in any order."""

    def __init__(self, filename: str = "long.txt") -> None:
        self.kb, self.maps = FakeKnowledgeBase(), Maps()
        catalogs, documents = FakeCatalogs(), FakeDocuments()
        catalogs.kept[CATALOG.catalog_id] = CATALOG
        self.document = documents.save(
            a_document(
                filename=filename,
                s3_key=CATALOG.s3_prefix + filename,
                etag="e",
                text_id="0" * 16,
                indexed_at=CATALOG.created_at,
            )
        )
        self.maps.kept[self.document.document_id] = None
        self.passages = DocumentPassages(
            pool={"KB1": self.kb},
            catalogs=catalogs,
            documents=documents,
            place_maps=self.maps,
        )

    def put(self, *texts: str) -> None:
        mixed = list(texts)
        random.Random(1).shuffle(mixed)
        for each in mixed:
            self.kb.put(
                each,
                user_id=CATALOG.user_id,
                catalog_id=CATALOG.catalog_id,
                filename=self.document.filename,
                key=self.document.s3_key,
                attributes={"document_id": self.document.document_id},
            )

    def cut(self, user_id: str = CATALOG.user_id, document_id: str = "") -> CutDocument:
        return self.passages.of(
            user_id, CATALOG.catalog_id, document_id or self.document.document_id
        )


def test_passages_are_in_the_order_of_the_text() -> None:
    indexed = IndexedDocument()
    cut = [f"{number}. Of ferry {number} nothing else is told." for number in (3, 1, 2)]
    page = Page(number=None, text="\n\n".join(each.replace(" else", "\nelse") for each in cut))
    indexed.maps.kept[indexed.document.document_id] = text_of([page], "long.txt").places
    indexed.put(*cut)

    found = indexed.cut()

    assert [each.text for each in found.passages] == cut
    assert (found.is_ordered, found.is_whole) == (True, True)


def test_passages_without_an_order_are_reported_as_unordered() -> None:
    indexed = IndexedDocument()
    indexed.put("One has nothing of the other.", "And this is about something else.")
    other = text_of([Page(number=None, text="It is another text by now.")], "long.txt").places

    for places in (None, other):
        indexed.maps.kept[indexed.document.document_id] = places
        assert not indexed.cut().is_ordered


def test_pages_without_text_and_omitted_lines_are_reported() -> None:
    indexed = IndexedDocument("plan.pdf")
    texts = [
        f"Harbour plan {number}\n{text}"
        for number, text in enumerate(
            ("Ferries leave at noon.", "", "Tides rise.", "Tugs wait."), 1
        )
    ]
    texts[1] = ""
    pages = [Page(number=number, text=text) for number, text in enumerate(texts, 1)]
    indexed.maps.kept[indexed.document.document_id] = text_of(pages, "plan.pdf").places
    indexed.put(texts[0], texts[2])

    found = indexed.cut()

    assert [each.source.page for each in found.passages] == [1, 3]
    assert (found.pages, found.blank, found.without_passage) == (4, (2,), (4,))
    assert found.is_ordered


def test_passages_of_others_and_of_deleting_documents_are_not_listed() -> None:
    indexed = IndexedDocument()
    indexed.put("Ferries leave at noon.")

    with pytest.raises(CatalogNotFound):
        indexed.cut("bob")
    with pytest.raises(DocumentNotFound):
        indexed.cut(document_id="doc-of-nobody")
    going = indexed.document.moved(DocumentStatus.DELETING, at=CATALOG.created_at)
    indexed.passages.documents.save(going)
    with pytest.raises(DocumentNotFound):
        indexed.cut()


def test_passages_of_another_text_than_the_records_are_not_listed() -> None:
    indexed = IndexedDocument()
    for text, text_id in (("Of now.", "0" * 16), ("Of a late call.", "1" * 16)):
        indexed.kb.put(
            text,
            user_id=CATALOG.user_id,
            catalog_id=CATALOG.catalog_id,
            filename=indexed.document.filename,
            key=indexed.document.s3_key,
            attributes={"document_id": indexed.document.document_id, "text_id": text_id},
        )

    assert [each.text for each in indexed.cut().passages] == ["Of now."]
