"""Mishaps of a running local mode that its user doesn't notice."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from stackroom_local.state import Instance

SEARCH_INDEX_FUNCTION = "stackroom-search-index"
TEXT = "AMAZON_BEDROCK_TEXT"


@contextmanager
def held_back(instance: Instance, function: str) -> Iterator[None]:
    """Keep the function's messages in their queues."""
    functions: Any = instance.client("lambda")
    answer = functions.list_event_source_mappings(FunctionName=function)
    mappings = [each["UUID"] for each in answer["EventSourceMappings"]]
    for each in mappings:
        functions.update_event_source_mapping(UUID=each, Enabled=False)
    try:
        yield
    finally:
        for each in mappings:
            functions.update_event_source_mapping(UUID=each, Enabled=True)


def lose_inspections(instance: Instance) -> None:
    """Those that wait, as with a queue that is killed."""
    sqs: Any = instance.client("sqs")
    sqs.purge_queue(QueueUrl=sqs.get_queue_url(QueueName="stackroom-inspections")["QueueUrl"])


@contextmanager
def index_missing(instance: Instance) -> Iterator[None]:
    """Without the index there is nowhere to write vectors; afterwards it is there as before."""
    s3vectors = instance.client("s3vectors")
    bucket = s3vectors.list_vector_buckets()["vectorBuckets"][0]["vectorBucketName"]
    name = s3vectors.list_indexes(vectorBucketName=bucket)["indexes"][0]["indexName"]
    index: dict[str, Any] = s3vectors.get_index(vectorBucketName=bucket, indexName=name)["index"]
    s3vectors.delete_index(vectorBucketName=bucket, indexName=name)
    yield
    same = ("vectorBucketName", "indexName", "dataType", "dimension", "distanceMetric")
    s3vectors.create_index(
        **{each: index[each] for each in same},
        metadataConfiguration=index["metadataConfiguration"],
    )


def index_of(instance: Instance) -> dict[str, Any]:
    s3vectors = instance.client("s3vectors")
    [bucket] = s3vectors.list_vector_buckets()["vectorBuckets"]
    listed = s3vectors.list_indexes(vectorBucketName=bucket["vectorBucketName"])["indexes"]
    [arn] = [each["indexArn"] for each in listed]
    found: dict[str, Any] = s3vectors.get_index(indexArn=arn)["index"]
    return found


def forget_text_search(instance: Instance) -> None:
    instance.client("s3vectors").update_metadata_configuration(
        indexArn=index_of(instance)["indexArn"],
        delete={"textSearchConfigurations": [{"metadataKey": TEXT}]},
    )


def age(instance: Instance) -> None:
    """Make bucket and index look as if they were older than text search in S3 Vectors."""
    forget_text_search(instance)
    with closing(sqlite3.connect(instance.state_dir / "simulator" / "simulator.sqlite")) as file:
        file.execute("UPDATE vector_indexes SET body = json_set(body, '$.indexMode', 'CLASSIC')")
        file.commit()


def by_hand(instance: Instance) -> dict[str, Any]:
    answer = instance.client("lambda").invoke(FunctionName=SEARCH_INDEX_FUNCTION)
    assert "FunctionError" not in answer, answer["Payload"].read()
    told: dict[str, Any] = json.loads(answer["Payload"].read())
    return told
