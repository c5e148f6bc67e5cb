"""What every `Documents` promises: nobody overwrites what he hasn't read."""

from datetime import timedelta

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.errors import RecordChanged
from stackroom.model import Document
from stackroom.ports.documents import Documents
from tests.aws.stores import CATALOG_TABLE
from tests.fakes.pipeline import FakeDocuments
from tests.records import NOW, a_document

LATER = NOW + timedelta(seconds=1)


@pytest.fixture(params=["fake", "dynamodb"])
def documents(request: pytest.FixtureRequest) -> Documents:
    if request.param == "fake":
        return FakeDocuments()
    return DynamoDocuments(client=request.getfixturevalue("dynamodb"), table=CATALOG_TABLE)


def changed(document: Document, etag: str = "new") -> Document:
    return document.model_copy(update={"etag": etag})


def test_a_saved_document_reads_back_whole_as_it_was_answered(documents: Documents) -> None:
    saved = documents.save(a_document(etag="abc", version_id="v1", present_since=NOW))

    assert saved.model_copy(update={"version": 0}) == a_document(
        etag="abc", version_id="v1", present_since=NOW
    )
    assert saved.version > 0
    assert documents.get("cat-1", "doc-0001") == saved


def test_what_was_never_saved_reads_as_none(documents: Documents) -> None:
    assert documents.get("cat-1", "doc-0001") is None
    assert list(documents.of_catalog("cat-1")) == []


def test_a_save_counts_one_version_up_and_leaves_out_what_became_none(documents: Documents) -> None:
    first = documents.save(a_document(ingestion_job_id="JOB"))

    second = documents.save(first.model_copy(update={"ingestion_job_id": None}))

    assert second.version == first.version + 1
    assert second.ingestion_job_id is None
    assert documents.get("cat-1", "doc-0001") == second


def test_a_new_document_does_not_overwrite_one_that_is_there(documents: Documents) -> None:
    saved = documents.save(a_document(etag="first"))

    with pytest.raises(RecordChanged):
        documents.save(a_document(at=LATER, etag="second"))

    assert documents.get("cat-1", "doc-0001") == saved


def test_the_second_of_two_who_read_the_same_version_is_refused(documents: Documents) -> None:
    read = documents.save(a_document())
    first = documents.save(changed(read, "first"))

    with pytest.raises(RecordChanged):
        documents.save(changed(read, "second"))

    assert documents.get("cat-1", "doc-0001") == first


def test_who_read_a_document_before_it_was_removed_or_made_anew_neither_saves_nor_removes_it(
    documents: Documents,
) -> None:
    read = documents.save(a_document())
    documents.remove(read)
    with pytest.raises(RecordChanged):
        documents.save(changed(read))
    gone = documents.get("cat-1", "doc-0001")
    anew = documents.save(a_document(at=LATER))

    with pytest.raises(RecordChanged):
        documents.save(changed(read))
    with pytest.raises(RecordChanged):
        documents.remove(read)

    assert gone is None
    assert documents.get("cat-1", "doc-0001") == anew


def test_removing_takes_the_version_that_was_read_and_what_is_gone_is_gone_already(
    documents: Documents,
) -> None:
    read = documents.save(a_document())
    current = documents.save(read)

    with pytest.raises(RecordChanged):
        documents.remove(read)
    documents.remove(current)
    documents.remove(current)

    assert documents.get("cat-1", "doc-0001") is None


def test_saving_many_answers_those_saved_and_leaves_out_what_changed(documents: Documents) -> None:
    read = [documents.save(a_document(number)) for number in range(30)]
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


def test_a_catalog_lists_its_own_documents_as_they_are_now(documents: Documents) -> None:
    first = documents.save(a_document(1))
    second = documents.save(changed(documents.save(a_document(2))))
    documents.remove(documents.save(a_document(3)))
    documents.save(a_document().model_copy(update={"catalog_id": "cat-2"}))

    listed = list(documents.of_catalog("cat-1"))

    assert sorted(listed, key=lambda each: each.document_id) == [first, second]


def test_documents_may_be_saved_and_removed_while_they_are_listed(documents: Documents) -> None:
    for number in range(3):
        documents.save(a_document(number))

    for document in documents.of_catalog("cat-1"):
        if document.document_id == "doc-0001":
            documents.remove(document)
        else:
            documents.save(changed(document))

    assert {each.etag for each in documents.of_catalog("cat-1")} == {"new"}
