"""The restoration of tables, broken off between the two and run again, in moto's DynamoDB."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra import restore
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
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        yield client


def test_what_breaks_off_between_the_tables_is_run_again_without_restoring_what_took_its_place(
    dynamodb: Any,
) -> None:
    """A table that was made anew has no moments before that: DynamoDB would refuse."""
    asked: list[str] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb.RestoreTableToPointInTime",
        lambda params, **_: asked.append(params["SourceTableName"]),
    )
    restoration, moment = Restoration(dynamodb=dynamodb, say=print), utc_now()
    for table in TABLES:
        restoration.beside(table, moment)
    restoration.swap(TABLES[0])

    for table in TABLES:
        restoration.beside(table, moment)
    for table in TABLES:
        restoration.swap(table)
    for table in TABLES:
        restoration.tidy(table)

    assert asked == list(TABLES)
    assert dynamodb.list_tables()["TableNames"] == list(TABLES)


def test_a_table_that_is_not_backed_up_yet_is_asked_again(
    dynamodb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "_BACKUP_SECONDS", 0)
    refusals, set_up = [1, 1], dynamodb.update_continuous_backups

    def not_yet(**asked: Any) -> Any:
        if refusals:
            refusals.pop()
            error = {"Error": {"Code": "ContinuousBackupsUnavailableException", "Message": "wait"}}
            kind = dynamodb.exceptions.ContinuousBackupsUnavailableException
            raise kind(error, "UpdateContinuousBackups")
        return set_up(**asked)

    monkeypatch.setattr(dynamodb, "update_continuous_backups", not_yet)
    Restoration(dynamodb=dynamodb, say=print).beside(TABLES[0], utc_now())

    told = dynamodb.describe_continuous_backups(TableName=f"{TABLES[0]}-restored")
    moments = told["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert moments["PointInTimeRecoveryStatus"] == "ENABLED"
