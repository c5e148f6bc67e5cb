"""Every `Documents` refuses to overwrite a version that the caller hasn't read."""

from datetime import timedelta

import pytest

from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.errors import RecordChanged
from stackroom.model.records import Document
from stackroom.model.repositories import Documents
from tests.aws.stores import CATALOG_TABLE
from tests.fakes.pipeline import FakeDocuments
from tests.support.records import NOW, a_document

LATER = NOW + timedelta(seconds=1)


@pytest.fixture(params=["fake", "dynamodb"])
def documents(request: pytest.FixtureRequest) -> Documents:
    if request.param == "fake":
        return FakeDocuments()
    return DynamoDocuments(client=request.getfixturevalue("dynamodb"), table=CATALOG_TABLE)


def changed(document: Document, etag: str = "new") -> Document:
    return document.model_copy(update={"etag": etag})


def test_saved_document_reads_back_with_next_version_and_cleared_fields(
    documents: Documents,
) -> None:
    before = documents.get("cat-1", "doc-0001"), list(documents.of_catalog("cat-1"))
    given = a_document(etag="abc", version_id="v1", present_since=NOW, ingestion_job_id="JOB")

    first = documents.save(given)
    read = documents.get("cat-1", "doc-0001")
    second = documents.save(first.model_copy(update={"ingestion_job_id": None}))

    assert before == (None, [])
    assert first.version > 0
    assert first.model_copy(update={"version": 0}) == given
    assert read == first
    assert (second.version, second.ingestion_job_id) == (first.version + 1, None)
    assert documents.get("cat-1", "doc-0001") == second


def test_document_changed_since_it_was_read_is_not_overwritten_or_removed(
    documents: Documents,
) -> None:
    read = documents.save(a_document())
    first = documents.save(changed(read, "first"))

    for late in (changed(read, "second"), a_document(at=LATER, etag="new")):
        with pytest.raises(RecordChanged):
            documents.save(late)
    with pytest.raises(RecordChanged):
        documents.remove(read)

    assert documents.get("cat-1", "doc-0001") == first


def test_document_removed_since_it_was_read_is_neither_saved_nor_removed(
    documents: Documents,
) -> None:
    read = documents.save(a_document())
    documents.remove(read)
    with pytest.raises(RecordChanged):
        documents.save(changed(read))
    documents.remove(read)  # what is gone is gone already
    gone = documents.get("cat-1", "doc-0001")
    anew = documents.save(a_document(at=LATER))

    with pytest.raises(RecordChanged):
        documents.save(changed(read))
    with pytest.raises(RecordChanged):
        documents.remove(read)

    assert gone is None
    assert documents.get("cat-1", "doc-0001") == anew


def test_saving_many_answers_those_saved_and_leaves_out_what_changed(documents: Documents) -> None:
    read = [documents.save(a_document(number)) for number in range(10)]
    current = documents.save(changed(read[7], "current"))
    documents.remove(read[8])

    saved = documents.save_all(changed(each) for each in read)

    assert saved == [
        changed(each).model_copy(update={"version": each.version + 1})
        for each in read
        if each.document_id not in ("doc-0007", "doc-0008")
    ]
    assert documents.get("cat-1", "doc-0007") == current
    assert documents.get("cat-1", "doc-0008") is None


def test_documents_may_be_saved_and_removed_while_they_are_listed(documents: Documents) -> None:
    for number in range(3):
        documents.save(a_document(number))

    for document in documents.of_catalog("cat-1"):
        if document.document_id == "doc-0001":
            documents.remove(document)
        else:
            documents.save(changed(document))

    assert {each.etag for each in documents.of_catalog("cat-1")} == {"new"}
