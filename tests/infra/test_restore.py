"""Restoring tables, interrupted and repeated, in moto's DynamoDB."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra.restore import Restoration, main
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


@dataclass
class Stacks:
    """CloudFormation, which has a pipeline or not."""

    has_pipeline: bool = False

    def describe_stacks(self, **_: str) -> None:
        if not self.has_pipeline:
            error: Any = {"Error": {"Code": "ValidationError", "Message": "it does not exist"}}
            raise ClientError(error, "DescribeStacks")


@dataclass
class Program:
    """The program, and what is typed where it asks for the project's name."""

    dynamodb: Any
    monkeypatch: pytest.MonkeyPatch

    def run(self, to: str, typed: str = "stackroom", *, has_pipeline: bool = False) -> None:
        clients = {"dynamodb": self.dynamodb, "cloudformation": Stacks(has_pipeline)}
        session = SimpleNamespace(client=clients.__getitem__)
        self.monkeypatch.setattr(boto3.session, "Session", lambda **_: session)
        arguments = ["restore.py", "--project", "stackroom", "--to", to]
        self.monkeypatch.setattr("sys.argv", arguments)
        self.monkeypatch.setattr("builtins.input", lambda _: typed)
        main()


@pytest.fixture
def program(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(dynamodb, monkeypatch)


def test_tables_are_replaced_only_once_the_projects_name_is_typed(
    dynamodb: Any, program: Program
) -> None:
    for table in TABLES:
        put(dynamodb, table, range(3), "then")
    moment = utc_now().isoformat()

    with pytest.raises(SystemExit, match="Nothing was changed"):
        program.run(moment, typed="other")
    put(dynamodb, TABLES[0], range(2), "since")
    assert set(texts(dynamodb, TABLES[0]).values()) == {"then", "since"}
    program.run(moment)

    assert set(texts(dynamodb, TABLES[0]).values()) == {"then"}
    assert dynamodb.list_tables()["TableNames"] == list(TABLES)


def test_nothing_is_restored_under_a_pipeline_or_without_a_time_zone(
    dynamodb: Any, program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        program.run("2026-11-25T10:00:00")
    with pytest.raises(SystemExit, match="run `make destroy` first"):
        program.run(utc_now().isoformat(), has_pipeline=True)

    assert "--to needs a time zone" in capsys.readouterr().err
    assert dynamodb.list_tables()["TableNames"] == list(TABLES)
