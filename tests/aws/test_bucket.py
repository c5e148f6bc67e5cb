"""The documents' bucket in S3, beyond what tests/contract/ports holds every one to."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.bucket import S3DocumentBucket
from stackroom.errors import ServiceRefused, StoreUnavailable
from tests.aws.stores import BUCKET

EARLIER = datetime(2000, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
KEY = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf"


@pytest.fixture
def bucket(s3: Any) -> S3DocumentBucket:
    return S3DocumentBucket(client=s3, bucket=BUCKET)


def test_a_bucket_that_is_not_there_is_no_absent_object(s3: Any) -> None:
    elsewhere = S3DocumentBucket(client=s3, bucket="stackroom-elsewhere")

    with pytest.raises(ServiceRefused):
        elsewhere.write_sidecar(KEY, b"{}")


def test_a_purge_leaves_no_version_and_no_marker(bucket: S3DocumentBucket, s3: Any) -> None:
    for body in (b"one", b"two"):
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=body)
    s3.put_object(Bucket=BUCKET, Key=f"{KEY}.2", Body=b"other")
    s3.delete_object(Bucket=BUCKET, Key=KEY)

    told = list(bucket.purge("alice/research/", before=LATER))

    assert told == [[KEY, f"{KEY}.2"]]
    left = s3.list_object_versions(Bucket=BUCKET)
    assert (left.get("Versions", []), left.get("DeleteMarkers", [])) == ([], [])


def test_a_purge_goes_on_over_all_pages(bucket: S3DocumentBucket, s3: Any) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(4)]
    for key in keys:
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"")
    s3.meta.events.register(  # a page has 1,000 as a rule
        "before-parameter-build.s3.ListObjectVersions", lambda params, **_: params.update(MaxKeys=3)
    )

    pages = list(bucket.purge("alice/research/", before=LATER))

    assert pages == [keys[:3], keys[3:]]
    assert "Versions" not in s3.list_object_versions(Bucket=BUCKET)


def test_a_version_that_could_not_be_deleted_stops_a_purge(
    bucket: S3DocumentBucket, s3: Any
) -> None:
    written = {"Key": KEY, "VersionId": "v1", "LastModified": EARLIER}
    listed = {"Versions": [written]}
    refused = {"Errors": [{"Key": KEY, "VersionId": "v1", "Code": "InternalError"}]}

    with Stubber(s3) as stub:
        stub.add_response("list_object_versions", listed)
        stub.add_response("delete_objects", refused)
        with pytest.raises(StoreUnavailable, match="DeleteObjects answered InternalError"):
            list(bucket.purge("alice/research/", before=LATER))


def test_a_purge_takes_no_prefix_that_others_begin_with(bucket: S3DocumentBucket) -> None:
    with pytest.raises(AssertionError, match="slash"):
        list(bucket.purge("alice/research", before=LATER))
