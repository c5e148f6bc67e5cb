"""InspectionResults in DynamoDB and whole files in S3, as moto has them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

import boto3
import pytest
from moto import mock_aws

from stackroom.aws.files import S3Files
from stackroom.aws.inspections import DynamoInspections
from stackroom.errors import ServiceRefused
from stackroom.inspection.inspection import File

BUCKET = "kb-docs"
TABLE = "kb-control"


def connect(service: Literal["s3", "dynamodb"]) -> Any:
    return boto3.client(
        service,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mock_aws():
        connect("s3").create_bucket(Bucket=BUCKET)
        connect("dynamodb").create_table(
            TableName=TABLE,
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        yield


@pytest.fixture
def inspections() -> DynamoInspections:
    return DynamoInspections(
        client=connect("dynamodb"), table=TABLE, now=lambda: datetime(2026, 2, 3, tzinfo=UTC)
    )


def test_a_result_is_kept_for_thirty_days(inspections: DynamoInspections) -> None:
    inspections.record("doc-1", "e1", "the PDF is damaged")

    (item,) = connect("dynamodb").scan(TableName=TABLE)["Items"]

    assert item["expires_at"] == {"N": str(int(datetime(2026, 3, 5, tzinfo=UTC).timestamp()))}


def test_a_file_is_read_whole_or_not_at_all() -> None:
    files = S3Files(client=connect("s3"), bucket=BUCKET)
    etag = connect("s3").put_object(Bucket=BUCKET, Key="a/b/ü+ 1.txt", Body=b"12345")["ETag"]

    fitting, too_large, missing = (
        files.read("a/b/ü+ 1.txt", limit=5),
        files.read("a/b/ü+ 1.txt", limit=4),
        files.read("a/b/gone.txt", limit=5),
    )

    assert fitting == File(etag=etag.strip('"'), body=b"12345")
    assert too_large == File(etag=etag.strip('"'), body=None)
    assert missing is None


def test_a_bucket_that_is_not_ours_is_no_missing_file() -> None:
    files = S3Files(client=connect("s3"), bucket="of-someone-else")

    with pytest.raises(ServiceRefused, match="NoSuchBucket"):
        files.read("a/b/c.txt", limit=5)
