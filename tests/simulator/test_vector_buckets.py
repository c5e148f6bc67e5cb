"""Vector buckets and indexes of S3 Vectors."""

import json
from uuid import uuid4

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import World, refused


@holds("vector-bucket.not-empty", "vector-bucket.not-found", "index.not-found")
def test_a_bucket_holds_indexes_and_goes_only_when_empty_and_an_index_made_again_is_new(
    world: World,
) -> None:
    arn = world.index(dimension=2, non_filterable=["text"], searched={"text": "en"})
    world.put_vector(arn, "one", [1, 0], text="words")
    bucket, name = arn.split("bucket/")[1].split("/index/")
    named = {"vectorBucketName": bucket}
    query = {"indexArn": arn, "topK": 1, "queryVector": {"float32": [1, 0]}}

    full = refused(world.s3vectors.delete_vector_bucket, **named)
    index = world.s3vectors.get_index(**named, indexName=name)["index"]
    listed = world.s3vectors.list_indexes(**named)["indexes"]
    world.s3vectors.delete_index(indexArn=arn)
    missing = [refused(world.s3vectors.get_index, indexArn=arn)]
    missing.append(refused(world.s3vectors.query_vectors, **query))
    world.s3vectors.create_index(
        **named, indexName=name, dataType="float32", dimension=2, distanceMetric="cosine"
    )
    again = world.s3vectors.get_index(indexArn=arn)["index"]
    vectors = world.s3vectors.list_vectors(indexArn=arn)["vectors"]
    world.s3vectors.delete_index(indexArn=arn)
    world.s3vectors.delete_vector_bucket(**named)

    assert full["Code"] == "ConflictException"
    assert index["dimension"] == 2
    assert index["metadataConfiguration"]["nonFilterableMetadataKeys"] == ["text"]
    assert [found["indexArn"] for found in listed] == [arn]
    assert [error["Code"] for error in missing] == ["NotFoundException"] * 2
    assert ("metadataConfiguration" in again, vectors) == (False, [])
    gone = refused(world.s3vectors.get_vector_bucket, **named)
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
