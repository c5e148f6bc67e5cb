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


def test_an_object_is_described_as_it_is_now(bucket: S3DocumentBucket, s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"old")
    put = s3.put_object(
        Bucket=BUCKET, Key=KEY, Body=b"text", ContentType="text/x", Metadata={"kb-domain": "hr"}
    )

    found = bucket.head(KEY)

    assert found is not None
    assert (found.key, found.size, found.content_type) == (KEY, 4, "text/x")
    assert (found.etag, found.version_id) == (put["ETag"].strip('"'), put["VersionId"])
    assert found.attributes == {"kb-domain": "hr"}


def test_a_delete_marker_reads_as_absent_and_removing_it_as_there(
    bucket: S3DocumentBucket, s3: Any
) -> None:
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"text")
    marker = s3.delete_object(Bucket=BUCKET, Key=KEY)

    deleted = bucket.head(KEY)
    s3.delete_object(Bucket=BUCKET, Key=KEY, VersionId=marker["VersionId"])

    assert deleted is None
    assert bucket.head(KEY) is not None
    assert bucket.head("alice/research/never.pdf") is None


def test_deleting_an_old_version_changes_nothing(bucket: S3DocumentBucket, s3: Any) -> None:
    old = s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"old")
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"current")

    s3.delete_object(Bucket=BUCKET, Key=KEY, VersionId=old["VersionId"])

    found = bucket.head(KEY)
    assert found is not None
    assert found.size == len(b"current")


def test_a_bucket_that_is_not_there_is_no_absent_object(s3: Any) -> None:
    elsewhere = S3DocumentBucket(client=s3, bucket="stackroom-elsewhere")

    with pytest.raises(ServiceRefused):
        elsewhere.write_sidecar(KEY, b"{}")


def test_a_sidecar_lies_beside_its_document(bucket: S3DocumentBucket, s3: Any) -> None:
    bucket.write_sidecar(KEY, b'{"metadataAttributes": {}}')

    found = bucket.sidecar_of(KEY)

    there = s3.head_object(Bucket=BUCKET, Key=f"{KEY}.metadata.json")
    assert found is not None
    assert (found.body, found.last_modified) == (
        b'{"metadataAttributes": {}}',
        there["LastModified"],
    )
    assert there["ContentType"] == "application/json"


def test_a_key_too_long_to_have_a_sidecar_has_none(bucket: S3DocumentBucket, s3: Any) -> None:
    key = "alice/research/" + "x" * 1009  # 1,024 bytes, S3's longest
    asked: list[str] = []
    s3.meta.events.register("before-call.s3", lambda params, **_: asked.append(params["url_path"]))

    bucket.write_sidecar(key, b"{}")
    bucket.remove_sidecar(key)

    assert bucket.sidecar_of(key) is None
    assert asked == []


def test_a_document_is_known_by_its_unencoded_uri(bucket: S3DocumentBucket) -> None:
    assert bucket.uri_of(KEY) == f"s3://{BUCKET}/{KEY}"


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
