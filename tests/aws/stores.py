"""The tables and the bucket as `infra/data.py` has them, made in whatever answers the clients."""

from functools import cache
from threading import RLock
from typing import Any

from moto.dynamodb.responses import DynamoHandler

CATALOG_TABLE = "stackroom-kb-catalog"
CONTROL_TABLE = "stackroom-kb-control"
BUCKET = "stackroom-kb-docs-123456789012-us-east-1"

# Of a function that uses them, with credentials that reach no AWS.
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "KB_CATALOG_TABLE": CATALOG_TABLE,
    "KB_CONTROL_TABLE": CONTROL_TABLE,
    "KB_DOCS_BUCKET": BUCKET,
}


def create_tables(dynamodb: Any) -> None:
    take_one_call_at_a_time()
    dynamodb.create_table(
        TableName=CATALOG_TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=_strings(
            "catalog_id", "sk", "user_id", "filename", "open_key", "failed_key"
        ),
        KeySchema=_keys("catalog_id", "sk"),
        LocalSecondaryIndexes=[
            {
                "IndexName": name,
                "KeySchema": _keys("catalog_id", key),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for name, key in (("open-index", "open_key"), ("failed-index", "failed_key"))
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "user_id-index",
                "KeySchema": _keys("user_id"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {
                "IndexName": "filename-index",
                "KeySchema": _keys("catalog_id", "filename"),
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": ["size", "uploaded_at", "gaps"],
                },
            },
        ],
    )
    dynamodb.create_table(
        TableName=CONTROL_TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=_strings("pk", "sk", "live", "until"),
        KeySchema=_keys("pk", "sk"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "live-index",
                "KeySchema": _keys("live", "until"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def create_bucket(s3: Any) -> None:
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})


@cache
def take_one_call_at_a_time() -> None:
    """A transaction of moto's copies the whole table, and fails if another thread writes to it."""
    answer, lock = DynamoHandler.call_action, RLock()

    def answer_alone(handler: DynamoHandler) -> Any:
        with lock:
            return answer(handler)

    DynamoHandler.call_action = answer_alone  # type: ignore[method-assign]  # what it is for


def _strings(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _keys(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return keys + ([{"AttributeName": sort, "KeyType": "RANGE"}] if sort else [])
