"""Documents in DynamoDB, beyond what tests/contract/ports holds every `Documents` to."""

from typing import Any

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.items import to_item
from stackroom.model import DocumentStatus
from tests.aws.stores import CATALOG_TABLE
from tests.records import NOW, a_document


@pytest.fixture
def documents(dynamodb: Any) -> DynamoDocuments:
    return DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)


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
    list(documents.open_in("cat-1"))
    list(documents.failed_in("cat-1"))

    assert [each["ConsistentRead"] for each in asked] == [True] * 4


def test_a_record_from_before_is_taken_for_counted_as_the_totals_counted_it(
    documents: DynamoDocuments, dynamodb: Any
) -> None:
    """They know neither what failed nor what is open; the first write of each tells them."""
    totals = {"document_count": {"N": "2"}, "total_bytes": {"N": "20"}, "status": {"S": "ready"}}
    key = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item={**key, **totals})
    for number in (1, 2):
        old = a_document(number, size=10, version=7).model_dump(mode="json")
        item = to_item({**old, "sk": f"DOC#{old['document_id']}"})
        dynamodb.put_item(TableName=CATALOG_TABLE, Item=item)
    before = list(documents.open_in("cat-1"))
    first, second = documents.of_catalog("cat-1")

    opened = documents.save(first)
    documents.save(second.moved(DocumentStatus.FAILED, at=NOW, reason="no text"))

    counted = dynamodb.get_item(TableName=CATALOG_TABLE, Key=key)["Item"]
    names = ("document_count", "total_bytes", "failed_count", "waiting_count", "open_count")
    assert before == []
    assert list(documents.open_in("cat-1")) == [opened]
    assert [each.document_id for each in documents.failed_in("cat-1")] == ["doc-0002"]
    assert [int(counted[name]["N"]) for name in names] == [2, 20, 1, 1, 1]
