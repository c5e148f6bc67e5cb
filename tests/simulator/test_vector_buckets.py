"""Vector buckets and indexes of S3 Vectors."""

import json
from uuid import uuid4

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, refused


@holds("vector-bucket.not-empty", "vector-bucket.not-found", "index.not-found")
def test_a_bucket_holds_indexes_and_goes_only_when_empty(world: World) -> None:
    bucket = f"vectors-{uuid4().hex}"
    arn = world.s3vectors.create_vector_bucket(vectorBucketName=bucket)["vectorBucketArn"]
    made = world.s3vectors.create_index(
        vectorBucketName=bucket,
        indexName="passages",
        dataType="float32",
        dimension=512,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    )

    full = refused(world.s3vectors.delete_vector_bucket, vectorBucketName=bucket)
    index = world.s3vectors.get_index(vectorBucketName=bucket, indexName="passages")["index"]
    listed = world.s3vectors.list_indexes(vectorBucketArn=arn)["indexes"]
    world.s3vectors.delete_index(indexArn=made["indexArn"])
    missing = refused(world.s3vectors.get_index, indexArn=made["indexArn"])
    world.s3vectors.delete_vector_bucket(vectorBucketName=bucket)

    assert full["Code"] == "ConflictException"
    assert index["dimension"] == 512
    assert index["metadataConfiguration"]["nonFilterableMetadataKeys"] == ["AMAZON_BEDROCK_TEXT"]
    assert [found["indexArn"] for found in listed] == [made["indexArn"]]
    assert missing["Code"] == "NotFoundException"
    gone = refused(world.s3vectors.get_vector_bucket, vectorBucketName=bucket)
    assert gone["Code"] == "NotFoundException"


@holds("vector-bucket.taken", "index.taken")
def test_names_are_taken_once(world: World) -> None:
    bucket, name = world.index().split("bucket/")[1].split("/index/")
    index = {"dataType": "float32", "dimension": 8, "distanceMetric": "cosine"}

    same_bucket = refused(world.s3vectors.create_vector_bucket, vectorBucketName=bucket)
    same_index = refused(
        world.s3vectors.create_index, vectorBucketName=bucket, indexName=name, **index
    )

    assert same_bucket["Code"] == same_index["Code"] == "ConflictException"


def test_buckets_are_listed_by_prefix(world: World) -> None:
    prefix = f"listed-{uuid4().hex[:8]}"
    names = [f"{prefix}-{number}" for number in range(3)]
    for name in names:
        world.s3vectors.create_vector_bucket(vectorBucketName=name)

    pages = world.s3vectors.get_paginator("list_vector_buckets").paginate(
        prefix=prefix, PaginationConfig={"PageSize": 2}
    )

    listed = [bucket["vectorBucketName"] for page in pages for bucket in page["vectorBuckets"]]
    assert listed == names


@holds("vector-bucket.policy", "vector-bucket.policy-not-found")
def test_a_policy_is_kept_as_written_replaced_and_deleted(world: World) -> None:
    bucket = f"vectors-{uuid4().hex}"
    arn = world.s3vectors.create_vector_bucket(vectorBucketName=bucket)["vectorBucketArn"]
    none_yet = refused(world.s3vectors.get_vector_bucket_policy, vectorBucketName=bucket)
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3vectors:*", "Resource": arn}
    policies = [json.dumps({"Version": version, "Statement": [statement]}) for version in "12"]

    for policy in policies:
        world.s3vectors.put_vector_bucket_policy(vectorBucketArn=arn, policy=policy)
    kept = world.s3vectors.get_vector_bucket_policy(vectorBucketName=bucket)["policy"]
    for _ in range(2):
        world.s3vectors.delete_vector_bucket_policy(vectorBucketName=bucket)
    gone = refused(world.s3vectors.get_vector_bucket_policy, vectorBucketArn=arn)

    assert kept == policies[1]
    assert none_yet["Code"] == gone["Code"] == "NotFoundException"
    assert "policy" in gone["Message"]


@holds("vector-bucket.policy", "vector-bucket.not-found")
@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ("Deny all.", "ValidationException"),
        ('{"Version": "2012-10-17"}', "ValidationException"),
        (None, "NotFoundException"),
    ],
)
def test_what_is_no_policy_or_of_no_bucket_is_refused(
    world: World, policy: str | None, error: str
) -> None:
    bucket = f"vectors-{uuid4().hex}"
    if policy is not None:
        world.s3vectors.create_vector_bucket(vectorBucketName=bucket)

    refusal = refused(
        world.s3vectors.put_vector_bucket_policy,
        vectorBucketName=bucket,
        policy=policy or '{"Statement": [{}]}',
    )

    assert refusal["Code"] == error
