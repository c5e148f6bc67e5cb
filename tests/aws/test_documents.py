"""Documents in DynamoDB, beyond what tests/contract/ports holds every `Documents` to."""

from typing import Any

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.model import DocumentStatus
from tests.aws.stores import CATALOG_TABLE
from tests.records import a_document


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
