"""The documents' bucket, and what S3 keeps from us."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.s3.document_bucket import S3DocumentBucket, S3Files
from stackroom.errors import ObjectRefused, ServiceRefused, StoreUnavailable
from stackroom.model.bucket import File, FileVersion
from tests.aws.stores import BUCKET

EARLIER = datetime(2000, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
KEY = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf"


@pytest.fixture
def bucket(s3: Any) -> S3DocumentBucket:
    return S3DocumentBucket(client=s3, bucket=BUCKET)


@pytest.mark.parametrize(
    ("headers", "was_deleted"), [({"x-amz-delete-marker": "true"}, True), ({}, False)]
)
def test_a_delete_marker_says_that_an_object_was_deleted(
    bucket: S3DocumentBucket, headers: dict[str, str], was_deleted: bool
) -> None:
    with Stubber(bucket.client) as stubbed:
        stubbed.add_client_error(
            "head_object", "404", http_status_code=404, response_meta={"HTTPHeaders": headers}
        )

        assert bucket.was_deleted(KEY) is was_deleted


def test_a_purge_leaves_no_version_and_no_marker(bucket: S3DocumentBucket, s3: Any) -> None:
    for body in (b"one", b"two"):
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=body)
    s3.put_object(Bucket=BUCKET, Key=f"{KEY}.2", Body=b"other")
    s3.delete_object(Bucket=BUCKET, Key=KEY)

    told = list(bucket.purge("alice/research/", before=LATER))

    assert told == [[KEY, f"{KEY}.2"]]
    left = s3.list_object_versions(Bucket=BUCKET)
    assert (left.get("Versions", []), left.get("DeleteMarkers", [])) == ([], [])


def test_purge_deletes_all_pages(bucket: S3DocumentBucket, s3: Any) -> None:
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


SERVICE = "s3"  # of the fixture `client`

SECRET = "alice/research/secret.txt"
AT = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
LISTED = {"Contents": [{"Key": SECRET, "Size": 4, "ETag": '"abc"', "LastModified": AT}]}
HEAD = {"ContentLength": 4, "ETag": '"abc"', "LastModified": AT, "VersionId": "v1"}
SSE_C = (
    "The object was stored using a form of Server Side Encryption. "
    "The correct parameters must be provided to retrieve the object."
)
KMS = (
    "User: arn:aws:sts::123456789012:assumed-role/upload-handler/f is not authorized to perform: "
    "kms:Decrypt on the resource associated with this ciphertext"
)


@pytest.fixture
def stubbed(client: Any) -> S3DocumentBucket:
    return S3DocumentBucket(client=client, bucket=BUCKET)


def refuse(
    stubber: Stubber, operation: str, code: str, message: str = "", status: int = 403
) -> None:
    stubber.add_client_error(operation, code, message, status)


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (("InvalidRequest", SSE_C, 400), "upload it again without --sse-c"),
        (("AccessDenied", KMS, 403), "a KMS key that Stackroom may not use"),
        (("KMS.DisabledException", "the key is disabled", 400), "without naming a key"),
        (("InvalidObjectState", "", 403), "it is archived"),
    ],
    ids=["SSE-C", "foreign key", "disabled key", "archived"],
)
def test_object_with_refused_head_is_described_from_listing_with_reason(
    stubbed: S3DocumentBucket, stubber: Stubber, refused: tuple[str, str, int], told: str
) -> None:
    refuse(stubber, "head_object", str(refused[2]), status=refused[2])
    refuse(stubber, "get_object", *refused)
    stubber.add_response("list_objects_v2", LISTED)

    found = stubbed.head(SECRET)

    assert found is not None
    assert (found.key, found.size, found.etag, found.last_modified) == (SECRET, 4, "abc", AT)
    assert told in str(found.unreadable)


def test_single_unreadable_object_is_described_as_denied(
    stubbed: S3DocumentBucket, stubber: Stubber
) -> None:
    refuse(stubber, "head_object", "403")
    refuse(stubber, "get_object", "AccessDenied", "Access Denied")
    refuse(stubber, "head_object", "404", status=404)  # of what was never there
    stubber.add_response("list_objects_v2", LISTED)

    found = stubbed.head(SECRET)

    assert found is not None
    assert "S3 denies Stackroom to read it" in str(found.unreadable)


def test_missing_read_rights_are_not_blamed_on_an_object(
    stubbed: S3DocumentBucket, stubber: Stubber
) -> None:
    refuse(stubber, "head_object", "403")
    refuse(stubber, "get_object", "AccessDenied", "Access Denied")
    refuse(stubber, "head_object", "403")

    with pytest.raises(ServiceRefused):
        stubbed.head(SECRET)


@pytest.mark.parametrize(
    ("code", "error"), [("ExpiredToken", ServiceRefused), ("InvalidArgument", ClientError)]
)
def test_expired_credentials_and_other_errors_are_not_blamed_on_the_object(
    stubbed: S3DocumentBucket, stubber: Stubber, code: str, error: type[Exception]
) -> None:
    refuse(stubber, "head_object", "400", status=400)
    refuse(stubber, "get_object", code, status=400)

    with pytest.raises(error, match=code):
        stubbed.head(SECRET)


def test_object_gone_after_refused_head_is_absent_and_replaced_one_retried(
    stubbed: S3DocumentBucket, stubber: Stubber
) -> None:
    for listed in ({}, LISTED):
        refuse(stubber, "head_object", "403")
        stubber.add_response("get_object", {"Body": BytesIO(b"t")})
        stubber.add_response("list_objects_v2", listed)

    assert stubbed.head(SECRET) is None
    with pytest.raises(StoreUnavailable):
        stubbed.head(SECRET)


@pytest.mark.parametrize(
    ("head", "is_told"),
    [
        ({"StorageClass": "DEEP_ARCHIVE", "Restore": 'ongoing-request="true"'}, True),
        ({"StorageClass": "INTELLIGENT_TIERING", "ArchiveStatus": "ARCHIVE_ACCESS"}, True),
        ({"StorageClass": "GLACIER", "Restore": 'ongoing-request="false", expiry-date="x"'}, False),
        ({}, False),
    ],
    ids=str,
)
def test_archived_object_is_recognised_by_its_head(
    stubbed: S3DocumentBucket, stubber: Stubber, head: dict[str, str], *, is_told: bool
) -> None:
    stubber.add_response("head_object", HEAD | head)

    found = stubbed.head(SECRET)

    assert found is not None
    assert found.version_id == "v1"
    assert (found.unreadable is not None) is is_told


def test_whether_we_may_use_a_kms_key_is_tried(stubbed: S3DocumentBucket, stubber: Stubber) -> None:
    encrypted = HEAD | {"ServerSideEncryption": "aws:kms"}
    stubber.add_response("head_object", encrypted)
    stubber.add_response("get_object", {"Body": BytesIO(b"t")})
    stubber.add_response("head_object", encrypted)
    refuse(stubber, "get_object", "AccessDenied", KMS)

    may_decrypt, may_not = stubbed.head(SECRET), stubbed.head(SECRET)

    assert may_decrypt is not None
    assert may_decrypt.unreadable is None
    assert may_not is not None
    assert may_not.unreadable is not None


def test_unreadable_sidecar_counts_as_none_and_inspection_gets_the_reason(
    client: Any, stubbed: S3DocumentBucket, stubber: Stubber
) -> None:
    for _ in range(2):
        refuse(stubber, "get_object", "InvalidRequest", SSE_C, 400)

    assert stubbed.sidecar_of(SECRET) is None
    with pytest.raises(ObjectRefused, match="SSE-C"):
        S3Files(client=client, bucket=BUCKET).read(SECRET, limit=5)


def test_refused_sidecar_write_is_the_objects_fault_only_if_unreadable(
    stubbed: S3DocumentBucket, stubber: Stubber
) -> None:
    refuse(stubber, "put_object", "AccessDenied")
    stubber.add_response("get_object", {"Body": BytesIO(b"t")})
    refuse(stubber, "put_object", "AccessDenied")
    refuse(stubber, "get_object", "InvalidRequest", SSE_C, 400)

    for error in (ServiceRefused, ObjectRefused):
        with pytest.raises(error):
            stubbed.write_sidecar(SECRET, b"{}")


def test_a_file_is_read_whole_or_not_at_all(s3: Any) -> None:
    files = S3Files(client=s3, bucket=BUCKET)
    put = s3.put_object(Bucket=BUCKET, Key="a/b/ü+ 1.txt", Body=b"12345")

    fitting, too_large, missing = (
        files.read("a/b/ü+ 1.txt", limit=5),
        files.read("a/b/ü+ 1.txt", limit=4),
        files.read("a/b/gone.txt", limit=5),
    )

    version = FileVersion(put["ETag"].strip('"'), put["VersionId"])
    assert fitting == File(version=version, body=b"12345")
    assert too_large == File(version=version, body=None)
    assert missing is None


@pytest.mark.parametrize("made", [S3Files, S3DocumentBucket])
def test_version_is_that_of_exactly_this_key_while_it_is_there(made: Any, s3: Any) -> None:
    read = made(client=s3, bucket=BUCKET).version_of
    key = "a/b/ü+ 1.txt"
    s3.put_object(Bucket=BUCKET, Key=f"{key}.md", Body=b"another, whose name begins so")

    before = read(key)
    put = s3.put_object(Bucket=BUCKET, Key=key, Body=b"1")
    present = read(key)
    s3.delete_object(Bucket=BUCKET, Key=key)

    assert present == (put["ETag"].strip('"'), put["VersionId"])
    assert (before, read(key)) == (None, None)
