"""What lies in the tables and is none of ours, beyond what tests/contract/ports holds."""

from typing import Any

import pytest

from stackroom.aws import session
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.inventory import AwsInventory
from stackroom.model import DataSource, DataSourceType
from stackroom.ports.inventory import ListingExpired
from stackroom_local.simulator.errors import ServiceError
from tests.aws.stores import BUCKET, CATALOG_TABLE
from tests.records import a_document
from tests.workflow.answering import answered

MALFORMED = [
    {"size": {"S": "large"}},
    {"surprise": {"S": "somebody's"}},
    {"status": {"S": "lost"}},
]


def test_a_record_that_is_none_is_named_and_the_others_are_listed(dynamodb: Any) -> None:
    kept = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE).save(a_document())
    for number, values in enumerate(MALFORMED):
        key = {"catalog_id": {"S": "cat-broken"}, "sk": {"S": f"DOC#{number}"}}
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
    told = sorted(page.malformed)
    assert [each[:18] for each in told] == [f"cat-broken DOC#{number}: " for number in range(3)]
    assert "somebody's" not in str(told)


def test_a_token_that_is_taken_no_more_says_that_the_listing_must_begin_anew() -> None:
    client = session.client("bedrock-agent")
    inventory = AwsInventory(
        s3=None, dynamodb=None, bedrock_agent=client, bucket=BUCKET, catalog_table=CATALOG_TABLE
    )
    source = DataSource(
        knowledge_base_id="KB1234567X", data_source_id="DS1234567X", type=DataSourceType.CUSTOM
    )

    def refuse(_operation: Any, _asked: dict[str, Any]) -> dict[str, Any]:
        raise ServiceError("ValidationException", "the token is not valid")

    with answered(refuse, client):
        assert inventory.indexed(source, None) is None
        with pytest.raises(ListingExpired, match="the listing of DS1234567X"):
            inventory.indexed(source, "a token of yesterday")
