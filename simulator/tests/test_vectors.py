"""Vector buckets, indexes and vectors of S3 Vectors, and the steps of AWS's guide."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import World, invalid, refused

SCRIPT = Path(__file__).parents[2] / "examples" / "s3_vectors_search.py"


@holds("vector-bucket.not-empty", "vector-bucket.not-found", "index.not-found")
@holds("vector-bucket.taken", "index.taken")
def test_vector_bucket_is_deleted_only_when_empty_and_new_index_is_empty(
    world: World,
) -> None:
    arn = world.index(dimension=2, non_filterable=["text"], searched={"text": "en"})
    world.put_vector(arn, "one", [1, 0], text="words")
    bucket, name = arn.split("bucket/")[1].split("/index/")
    named = {"vectorBucketName": bucket}
    query = {"indexArn": arn, "topK": 1, "queryVector": {"float32": [1, 0]}}
    made = {"indexName": name, "dataType": "float32", "dimension": 2, "distanceMetric": "cosine"}

    full = refused(world.s3vectors.delete_vector_bucket, **named)
    taken = refused(world.s3vectors.create_vector_bucket, **named)
    index_taken = refused(world.s3vectors.create_index, **named, **made)
    index = world.s3vectors.get_index(**named, indexName=name)["index"]
    listed = world.s3vectors.list_indexes(**named)["indexes"]
    world.s3vectors.delete_index(indexArn=arn)
    missing = [refused(world.s3vectors.get_index, indexArn=arn)]
    missing.append(refused(world.s3vectors.query_vectors, **query))
    world.s3vectors.create_index(**named, **made)
    again = world.s3vectors.get_index(indexArn=arn)["index"]
    vectors = world.s3vectors.list_vectors(indexArn=arn)["vectors"]
    world.s3vectors.delete_index(indexArn=arn)
    world.s3vectors.delete_vector_bucket(**named)

    assert {each["Code"] for each in (full, taken, index_taken)} == {"ConflictException"}
    assert index["dimension"] == 2
    assert index["metadataConfiguration"]["nonFilterableMetadataKeys"] == ["text"]
    assert [found["indexArn"] for found in listed] == [arn]
    assert [error["Code"] for error in missing] == ["NotFoundException"] * 2
    assert ("metadataConfiguration" in again, vectors) == (False, [])
    gone = refused(world.s3vectors.get_vector_bucket, **named)
    assert gone["Code"] == "NotFoundException"


@holds("vector-bucket.policy", "vector-bucket.policy-not-found", "vector-bucket.not-found")
def test_policy_is_stored_as_written_replaced_and_deleted(world: World) -> None:
    bucket = f"vectors-{uuid4().hex}"
    arn = world.s3vectors.create_vector_bucket(vectorBucketName=bucket)["vectorBucketArn"]
    none_yet = refused(world.s3vectors.get_vector_bucket_policy, vectorBucketName=bucket)
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3vectors:*", "Resource": arn}
    policies = [json.dumps({"Version": version, "Statement": [statement]}) for version in "12"]

    for policy in ("Deny all.", '{"Version": "2012-10-17"}'):
        invalid(world.s3vectors.put_vector_bucket_policy, vectorBucketArn=arn, policy=policy)
    nowhere = {"vectorBucketName": "no-such-bucket", "policy": policies[0]}
    missing = refused(world.s3vectors.put_vector_bucket_policy, **nowhere)
    for policy in policies:
        world.s3vectors.put_vector_bucket_policy(vectorBucketArn=arn, policy=policy)
    kept = world.s3vectors.get_vector_bucket_policy(vectorBucketName=bucket)["policy"]
    for _ in range(2):
        world.s3vectors.delete_vector_bucket_policy(vectorBucketName=bucket)
    gone = refused(world.s3vectors.get_vector_bucket_policy, vectorBucketArn=arn)

    assert kept == policies[1]
    assert none_yet["Code"] == gone["Code"] == missing["Code"] == "NotFoundException"
    assert "policy" in gone["Message"]


def put(world: World, index: str, count: int, **metadata: str) -> list[str]:
    keys = [f"{number:04}" for number in range(count)]
    vectors = [{"key": k, "data": {"float32": [1, 0]}, "metadata": metadata} for k in keys]
    for start in range(0, count, 500):
        world.s3vectors.put_vectors(indexArn=index, vectors=vectors[start : start + 500])
    return keys


def test_vector_reads_back_as_put(world: World) -> None:
    arn = world.index(dimension=3, non_filterable=["text"])
    metadata = {"text": "Grüße", "tags": ["a", "b"], "year": 2026, "share": 0.5, "seen": True}
    world.put_vector(arn, "k/ä", [0.1, 1e-20, 0], **metadata)

    asked = {"indexArn": arn, "keys": ["k/ä", "missing"]}
    [found] = world.s3vectors.get_vectors(**asked, returnData=True, returnMetadata=True)["vectors"]
    bare = world.s3vectors.get_vectors(**asked)["vectors"]

    assert found["metadata"] == metadata
    assert found["data"]["float32"] == pytest.approx([0.1, 1e-20, 0])
    assert bare == [{"key": "k/ä"}]


def test_vector_with_same_key_is_replaced_and_deleted_one_is_not_found(
    world: World,
) -> None:
    arn = world.index(dimension=2, searched={"text": "en"})
    world.put_vector(arn, "key", [1, 0], text="first")
    world.put_vector(arn, "gone", [0, 1], text="second")
    world.query(arn, vector=[1, 0])  # from here on they are in memory too

    world.put_vector(arn, "key", [0, 1], text="second")
    world.s3vectors.delete_vectors(indexArn=arn, keys=["gone", "never-was"])

    near = world.query(arn, vector=[0, 1], returnDistance=True)
    old, new = (world.query(arn, texts={"text": word}) for word in ("first", "second"))
    listed = world.s3vectors.list_vectors(indexArn=arn)["vectors"]
    assert near == [{"key": "key", "distance": pytest.approx(0)}]
    assert (old, new, listed) == ([], [{"key": "key"}], [{"key": "key"}])
    assert world.s3vectors.get_vectors(indexArn=arn, keys=["gone"])["vectors"] == []


@holds("vectors.page")
def test_keys_are_listed_in_pages_and_segments_refused(world: World) -> None:
    arn = world.index(dimension=2)
    keys = put(world, arn, 620)
    lists = world.s3vectors.list_vectors

    first = lists(indexArn=arn)
    pages = world.s3vectors.get_paginator("list_vectors").paginate(
        indexArn=arn, PaginationConfig={"PageSize": 250}
    )

    assert len(first["vectors"]) == 500
    assert [vector["key"] for page in pages for vector in page["vectors"]] == keys
    assert "segmentCount" in invalid(lists, indexArn=arn, segmentCount=4, segmentIndex=0)


@holds("vector.metadata-*", "vector.dimension", "vector.[vz]*", "metadata.*size")
@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ({"data": {"float32": [1, 0, 0]}}, "expected 2, got 3"),
        ({"data": {"float32": [0, 0]}}, "Zero"),
        ({"data": {"float32": [float("nan"), 1]}}, "floating-point"),
        ({"data": {"float32": [1e39, 1]}}, "floating-point"),
        ({"metadata": {f"k{n}": n for n in range(51)}}, "at most 50 keys"),
        ({"metadata": {"nested": {"a": 1}}}, "strings, numbers"),
        ({"metadata": {"note": "x" * 2048}}, "2048 bytes"),
        ({"metadata": {"text": "x" * 40_960}}, "40960 bytes"),
        ({"key": "x" * 1025}, "equal to 1024"),
    ],
)
def test_put_vectors_refuses_whole_request_with_one_invalid_vector(
    world: World, vector: dict[str, Any], says: str
) -> None:
    arn = world.index(dimension=2, non_filterable=["text"])
    good = {"key": "good", "data": {"float32": [1, 0]}}
    bad = {"key": "bad", "data": {"float32": [1, 0]}, **vector}

    assert says in invalid(world.s3vectors.put_vectors, indexArn=arn, vectors=[good, bad])
    assert world.s3vectors.list_vectors(indexArn=arn)["vectors"] == []


def test_steps_of_awss_guide_work_in_new_and_existing_indexes(world: World) -> None:
    endpoints = {
        f"AWS_ENDPOINT_URL_{service}": world.endpoint
        for service in ("S3VECTORS", "BEDROCK_RUNTIME")
    }
    before = _buckets(world)

    ran = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **endpoints},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    new, old = ran.stdout.split("an index that got it later")
    assert _keys(new) == _keys(old)
    by_words = new.partition("by words")[2].partition("by both")[0]
    assert _keys(by_words) == ["printer"]
    by_both = new.partition("by both")[2]
    assert _keys(by_both) == ["printer", "scanner"]
    assert _buckets(world) == before


def _keys(printed: str) -> list[str]:
    return [line.split()[0] for line in printed.splitlines() if line.startswith("    ")]


def _buckets(world: World) -> set[str]:
    listed = world.s3vectors.list_vector_buckets(prefix="s3-vectors-search-")["vectorBuckets"]
    return {bucket["vectorBucketName"] for bucket in listed}
