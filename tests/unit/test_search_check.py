"""Whether a document is found: only what comes from the document itself counts."""

from typing import Any

import pytest

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model import Catalog, Document
from stackroom.settlement.search_check import SearchCheck
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.records import a_catalog, a_document
from tests.unit.pipeline import CATALOG, KEY, place_of

PLACE = place_of(KEY)
DOCUMENT_ID = PLACE.document_id


@pytest.fixture
def knowledge_base() -> FakeKnowledgeBase:
    return FakeKnowledgeBase()


def put(knowledge_base: FakeKnowledgeBase, user_id: str = PLACE.user_id, **source: Any) -> None:
    knowledge_base.put(
        "report",
        user_id=user_id,
        catalog_id=CATALOG,
        filename=PLACE.filename,
        attributes={"document_id": DOCUMENT_ID},
        **source,
    )


def found(knowledge_base: FakeKnowledgeBase) -> set[str]:
    return SearchCheck(knowledge_base=lambda _: knowledge_base).found([(_catalog(), _document())])


def left(knowledge_base: FakeKnowledgeBase) -> set[str]:
    return SearchCheck(knowledge_base=lambda _: knowledge_base).left(_catalog(), [_document()])


def _catalog() -> Catalog:
    whose = {
        "catalog_id": CATALOG,
        "s3_prefix": PLACE.prefix,
        "knowledge_base_id": "KB1",
    }
    return a_catalog().model_copy(update=whose)


def _document() -> Document:
    return a_document(catalog_id=CATALOG, document_id=DOCUMENT_ID, s3_key=KEY)


@pytest.mark.parametrize("source", [{"key": KEY}, {"custom_id": DOCUMENT_ID}])
def test_a_documents_own_passage_is_found(
    knowledge_base: FakeKnowledgeBase, source: dict[str, str]
) -> None:
    put(knowledge_base, **source)

    assert found(knowledge_base) == left(knowledge_base) == {DOCUMENT_ID}


@pytest.mark.parametrize(
    "source", [{"key": f"mallory/{KEY}"}, {"custom_id": "doc-" + "0" * 24}, {"custom_id": "a.txt"}]
)
def test_a_passage_of_somebody_elses_document_is_no_proof_whatever_its_attributes_say(
    knowledge_base: FakeKnowledgeBase, source: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    put(knowledge_base, **source)

    assert found(knowledge_base) == left(knowledge_base) == set()
    assert source.popitem()[1] in caplog.text


def test_a_rejected_files_passage_is_left(knowledge_base: FakeKnowledgeBase) -> None:
    put(knowledge_base, user_id="!rejected", key=KEY)

    assert found(knowledge_base) == set()
    assert left(knowledge_base) == {DOCUMENT_ID}


def test_a_store_that_ignores_the_filter_proves_nothing(knowledge_base: FakeKnowledgeBase) -> None:
    knowledge_base.ignores_filters = True
    knowledge_base.put("report", user_id="bob")

    for ask in (found, left):
        with pytest.raises(KnowledgeBaseUnavailable, match="outside the filter"):
            ask(knowledge_base)


def of_many(knowledge_base: FakeKnowledgeBase, count: int) -> list[tuple[Catalog, Document]]:
    """Documents of as many users, each with a passage."""
    documents = []
    for number in range(count):
        place = place_of(f"user-{number}/shelf/a.txt")
        catalog = _catalog().model_copy(
            update={
                "catalog_id": place.catalog_id,
                "user_id": place.user_id,
                "s3_prefix": place.prefix,
            }
        )
        document = _document().model_copy(
            update={"catalog_id": place.catalog_id, "document_id": place.document_id}
        )
        knowledge_base.put(
            "text",
            user_id=place.user_id,
            catalog_id=place.catalog_id,
            filename=place.filename,
            attributes={"document_id": place.document_id},
            custom_id=place.document_id,
        )
        documents.append((catalog, document))
    return documents


def test_many_owners_documents_are_asked_for_at_once(knowledge_base: FakeKnowledgeBase) -> None:
    documents = of_many(knowledge_base, 12)
    check = SearchCheck(knowledge_base=lambda _: knowledge_base, at_once=lambda _: 10)

    found = check.found(documents)

    assert found == {document.document_id for _, document in documents}
    assert len(knowledge_base.filters) == 2


def test_one_whose_passages_leave_no_room_hides_no_other(knowledge_base: FakeKnowledgeBase) -> None:
    documents = of_many(knowledge_base, 2)
    loud = place_of("user-0/shelf/a.txt")
    for _ in range(100):
        knowledge_base.put(
            "document",
            user_id=loud.user_id,
            catalog_id=loud.catalog_id,
            filename=loud.filename,
            attributes={"document_id": loud.document_id},
            custom_id=loud.document_id,
        )

    found = SearchCheck(knowledge_base=lambda _: knowledge_base).found(documents)

    assert found == {document.document_id for _, document in documents}
