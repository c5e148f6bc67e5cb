"""The tables and the bucket as `infra/data.py` has them, made in whatever answers the clients."""

from functools import cache
from threading import RLock
from typing import Any

from moto.core import responses
from moto.core.serialize import ResponseSerializer
from moto.core.utils import method_names_from_class
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
    serialize_items_as_they_are()
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


@cache
def serialize_items_as_they_are() -> None:
    """
    For each attribute of an item, moto looks for all ten types under several names: half of the
    time of a GetItem. Its items have DynamoDB's own form, so the types that are there are enough.
    """
    serialize = ResponseSerializer._serialize_type_structure

    def serialize_present(
        serializer: Any, serialized: Any, value: Any, shape: Any, key: str
    ) -> None:
        if shape.name != "AttributeValue" or type(value) is not dict:
            serialize(serializer, serialized, value, shape, key)
            return
        serialized[key] = present = serializer.MAP_TYPE()
        for name, each in value.items():
            serializer._serialize(present, each, shape.members[name], name)

    ResponseSerializer._serialize_type_structure = serialize_present  # type: ignore[assignment,method-assign]
    # Each call looks through the class for its methods.
    responses.method_names_from_class = cache(method_names_from_class)  # type: ignore[attr-defined]


def _strings(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _keys(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return keys + ([{"AttributeName": sort, "KeyType": "RANGE"}] if sort else [])
