"""Restoring tables, interrupted and repeated, in moto's DynamoDB."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.restore import Restoration
from stackroom.clock import utc_now

TABLES = ("stackroom-kb-catalog", "stackroom-kb-control")


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client = boto3.client("dynamodb", region_name="eu-central-1")
        for table in TABLES:
            client.create_table(
                TableName=table,
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                AttributeDefinitions=[
                    {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
                ],
                BillingMode="PAY_PER_REQUEST",
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            )
        yield client


def put(dynamodb: Any, table: str, numbers: range, text: str) -> None:
    for number in numbers:
        item = {"pk": {"S": "p"}, "sk": {"S": f"{number:03}"}, "text": {"S": text}}
        dynamodb.put_item(TableName=table, Item=item)


def texts(dynamodb: Any, table: str) -> dict[str, str]:
    items = dynamodb.scan(TableName=table)["Items"]
    return {each["sk"]["S"]: each["text"]["S"] for each in items}


def test_restored_table_keeps_its_identity_and_has_the_earlier_items(dynamodb: Any) -> None:
    restoration, moment = Restoration(dynamodb=dynamodb, write_line=print), utc_now()
    for table in TABLES:
        put(dynamodb, table, range(60), "then")
        restoration.restore_copy(table, moment)
        put(dynamodb, table, range(30, 90), "since")
        dynamodb.delete_item(TableName=table, Key={"pk": {"S": "p"}, "sk": {"S": "000"}})
    before = [dynamodb.describe_table(TableName=each)["Table"] for each in TABLES]
    restoration.copy_back(TABLES[0])

    for table in TABLES:  # repeated from the beginning
        restoration.restore_copy(table, moment)
        restoration.copy_back(table)
    for table in TABLES:
        restoration.delete_copy(table)

    for table, previous in zip(TABLES, before, strict=True):
        assert texts(dynamodb, table) == {f"{number:03}": "then" for number in range(60)}
        found = dynamodb.describe_table(TableName=table)["Table"]
        for name in ("CreationDateTime", "LatestStreamArn"):
            assert found[name] == previous[name]
    assert dynamodb.list_tables()["TableNames"] == list(TABLES)
