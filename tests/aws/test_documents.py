"""Documents in DynamoDB: nobody overwrites what he hasn't read."""

from datetime import UTC, datetime
from typing import Any

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.errors import RecordChanged
from stackroom.model import Document, DocumentStatus
from tests.aws.stores import CATALOG_TABLE

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


@pytest.fixture
def documents(dynamodb: Any) -> DynamoDocuments:
    return DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)


def a_document(number: int = 1, **members: Any) -> Document:
    return Document(
        catalog_id="cat-1",
        document_id=f"doc-{number:04}",
        filename=f"Résumé {number}.pdf",
        s3_key=f"alice/research/Résumé {number}.pdf",
        size=5_000_000_000,
        status=DocumentStatus.PENDING,
        uploaded_at=NOW,
        updated_at=NOW,
        **members,
    )


def test_a_saved_document_reads_back_whole_and_one_version_on(documents: DynamoDocuments) -> None:
    saved = documents.save(
        a_document(etag="abc", version_id="v1", present_since=NOW, lingering=True)
    )

    assert documents.get("cat-1", "doc-0001") == saved
    assert documents.save(saved).version == saved.version + 1


def test_what_was_never_saved_reads_as_none(documents: DynamoDocuments) -> None:
    assert documents.get("cat-1", "doc-0001") is None
    assert list(documents.of_catalog("cat-1")) == []


def test_an_attribute_that_became_none_is_gone(documents: DynamoDocuments) -> None:
    saved = documents.save(a_document(ingestion_job_id="JOB"))

    documents.save(saved.model_copy(update={"ingestion_job_id": None}))

    found = documents.get("cat-1", "doc-0001")
    assert found is not None
    assert found.ingestion_job_id is None


def test_a_new_document_does_not_overwrite_one_that_is_there(documents: DynamoDocuments) -> None:
    saved = documents.save(a_document(etag="first"))

    with pytest.raises(RecordChanged):
        documents.save(a_document(etag="second"))

    assert documents.get("cat-1", "doc-0001") == saved


def test_the_second_of_two_who_read_the_same_version_is_refused(
    documents: DynamoDocuments,
) -> None:
    read = documents.save(a_document())
    first = documents.save(read.model_copy(update={"etag": "first"}))

    with pytest.raises(RecordChanged):
        documents.save(read.model_copy(update={"etag": "second"}))

    assert documents.get("cat-1", "doc-0001") == first


def test_a_document_removed_since_it_was_read_does_not_come_back(
    documents: DynamoDocuments,
) -> None:
    read = documents.save(a_document())
    documents.remove(read)

    with pytest.raises(RecordChanged):
        documents.save(read)

    assert documents.get("cat-1", "doc-0001") is None


def test_removing_takes_the_version_that_was_read(documents: DynamoDocuments) -> None:
    read = documents.save(a_document())
    current = documents.save(read)

    with pytest.raises(RecordChanged):
        documents.remove(read)
    documents.remove(current)

    assert documents.get("cat-1", "doc-0001") is None


def test_saving_many_leaves_out_what_changed(documents: DynamoDocuments) -> None:
    read = [documents.save(a_document(number)) for number in range(30)]
    documents.save(read[7])

    saved = documents.save_all(each.model_copy(update={"etag": "new"}) for each in read)

    assert {each.document_id for each in read} - {each.document_id for each in saved} == {
        "doc-0007"
    }
    versions = {each.document_id: each.version for each in read}
    assert all(each.version == versions[each.document_id] + 1 for each in saved)


def test_a_catalog_lists_its_documents_and_nothing_else_over_all_pages(
    documents: DynamoDocuments, dynamodb: Any
) -> None:
    metadata = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=metadata)
    documents.save(a_document().model_copy(update={"catalog_id": "cat-2"}))
    reason = "x" * 100_000  # 20 of these fill two pages: Query answers 1 MB at a time
    failed = {"status": DocumentStatus.FAILED, "status_reason": reason}
    saved = documents.save_all(a_document(number).model_copy(update=failed) for number in range(20))

    listed = list(documents.of_catalog("cat-1"))

    assert sorted(listed, key=lambda each: each.document_id) == saved


def test_listing_and_reading_are_consistent(
    documents: DynamoDocuments, dynamodb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb", lambda params, **_: asked.append(params)
    )

    documents.get("cat-1", "doc-0001")
    list(documents.of_catalog("cat-1"))

    assert [each["ConsistentRead"] for each in asked] == [True, True]
