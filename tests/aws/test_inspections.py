"""InspectionResults in DynamoDB and whole files in S3, as moto has them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from stackroom.aws.files import S3Files
from stackroom.aws.inspections import DynamoInspections
from stackroom.errors import ServiceRefused
from stackroom.inspection.inspection import File
from tests.aws.stores import BUCKET, CONTROL_TABLE


def test_a_result_is_kept_for_thirty_days(dynamodb: Any) -> None:
    inspections = DynamoInspections(
        client=dynamodb, table=CONTROL_TABLE, now=lambda: datetime(2026, 2, 3, tzinfo=UTC)
    )

    inspections.record("doc-1", "e1", "the PDF is damaged")

    (item,) = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int(datetime(2026, 3, 5, tzinfo=UTC).timestamp()))}


def test_a_file_is_read_whole_or_not_at_all(s3: Any) -> None:
    files = S3Files(client=s3, bucket=BUCKET)
    etag = s3.put_object(Bucket=BUCKET, Key="a/b/ü+ 1.txt", Body=b"12345")["ETag"]

    fitting, too_large, missing = (
        files.read("a/b/ü+ 1.txt", limit=5),
        files.read("a/b/ü+ 1.txt", limit=4),
        files.read("a/b/gone.txt", limit=5),
    )

    assert fitting == File(etag=etag.strip('"'), body=b"12345")
    assert too_large == File(etag=etag.strip('"'), body=None)
    assert missing is None


def test_a_bucket_that_is_not_ours_is_no_missing_file(s3: Any) -> None:
    files = S3Files(client=s3, bucket="of-someone-else")

    with pytest.raises(ServiceRefused, match="NoSuchBucket"):
        files.read("a/b/c.txt", limit=5)
