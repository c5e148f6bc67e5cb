"""What lies in the tables and is none of ours, beyond what tests/contract/ports holds."""

from typing import Any

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.inventory import AwsInventory
from tests.aws.stores import BUCKET, CATALOG_TABLE
from tests.records import a_document

MALFORMED = [
    {"size": {"S": "large"}},
    {"surprise": {"S": "somebody's"}},
    {"status": {"S": "lost"}},
]


@pytest.mark.parametrize("values", MALFORMED, ids=str)
def test_a_record_that_is_none_is_named_and_the_others_are_listed(
    dynamodb: Any, values: dict[str, Any]
) -> None:
    kept = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE).save(a_document())
    key = {"catalog_id": {"S": "cat-broken"}, "sk": {"S": "DOC#broken"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=key | values)
    inventory = AwsInventory(
        s3=None,
        dynamodb=dynamodb,
        bedrock_agent=None,
        bucket=BUCKET,
        catalog_table=CATALOG_TABLE,
    )

    page = inventory.records(None)

    assert page.items == [kept]
    [told] = page.malformed
    assert told.startswith("cat-broken DOC#broken: ")
    assert "somebody's" not in told
