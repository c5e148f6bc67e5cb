"""Every `DocumentBucket` shows objects as they are now, and their sidecars."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.model.bucket import DocumentBucket, StoredObject
from tests.aws.stores import BUCKET
from tests.fakes.pipeline import FakeBucket, FakeClock

EARLIER = datetime(2000, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
KEY = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf"


@dataclass(frozen=True)
class UsedBucket:
    """A bucket and its users, who put and delete objects."""

    port: DocumentBucket
    put: Callable[..., None]  # a key, a body, and attributes by name
    delete: Callable[[str], None]


@pytest.fixture(params=["fake", "s3"])
def used_bucket(request: pytest.FixtureRequest) -> UsedBucket:
    if request.param == "fake":
        fake = FakeBucket(FakeClock())
        return UsedBucket(fake, fake.upload, fake.delete)
    s3 = request.getfixturevalue("s3")

    def put(key: str, body: str, **attributes: str) -> None:
        metadata = {name.replace("_", "-", 1): value for name, value in attributes.items()}
        s3.put_object(Bucket=BUCKET, Key=key, Body=body.encode(), Metadata=metadata)

    def delete(key: str) -> None:
        s3.delete_object(Bucket=BUCKET, Key=key)

    return UsedBucket(S3DocumentBucket(client=s3, bucket=BUCKET), put, delete)


def there(used_bucket: UsedBucket, key: str = KEY) -> StoredObject:
    found = used_bucket.port.head(key)
    assert found is not None
    return found


def test_head_describes_current_object_and_same_content_is_new_version(
    used_bucket: UsedBucket,
) -> None:
    used_bucket.put(KEY, "tëxt", kb_domain="hr")
    first = there(used_bucket)

    used_bucket.put(KEY, "tëxt", kb_list_taxonomy="a,b")
    again = there(used_bucket)
    used_bucket.put(KEY, "other text")

    assert (again.key, again.size) == (KEY, len("tëxt".encode()))
    assert again.attributes == {"kb-list_taxonomy": "a,b"}
    assert again.last_modified.utcoffset() is not None
    assert again.etag == first.etag != there(used_bucket).etag
    assert '"' not in first.etag
    assert again.version_id != first.version_id
    # A document is known by its URI, in which nothing is encoded.
    assert used_bucket.port.uri_of(KEY).removeprefix("s3://").partition("/")[2] == KEY


def test_a_deleted_or_removed_object_reads_as_absent_until_it_is_put_again(
    used_bucket: UsedBucket,
) -> None:
    used_bucket.put("alice/research/other.txt", "text")
    used_bucket.put(KEY, "text")
    used_bucket.delete(KEY)
    gone = [used_bucket.port.head(KEY)]

    used_bucket.put(KEY, "other text")
    size = there(used_bucket).size
    for _ in range(2):
        used_bucket.port.remove(KEY)
    gone.append(used_bucket.port.head(KEY))

    assert gone == [None, None]
    assert size == len("other text")
    assert used_bucket.port.head("alice/research/other.txt") is not None


def test_sidecar_reads_back_as_last_written_and_outlives_its_document(
    used_bucket: UsedBucket,
) -> None:
    used_bucket.put(KEY, "text")
    before = used_bucket.port.sidecar_of(KEY)
    used_bucket.port.write_sidecar(KEY, b"{}")
    used_bucket.port.write_sidecar(KEY, b'{"metadataAttributes": {"user_id": "alice"}}')
    used_bucket.delete(KEY)
    outlived = used_bucket.port.sidecar_of(KEY)

    used_bucket.port.remove_sidecar(KEY)
    used_bucket.port.remove_sidecar(KEY)

    assert before is None
    assert outlived is not None
    assert outlived.body == b'{"metadataAttributes": {"user_id": "alice"}}'
    assert outlived.last_modified.utcoffset() is not None
    assert used_bucket.port.sidecar_of(KEY) is None


def test_sidecars_are_read_together_except_missing_or_too_long_keys(
    used_bucket: UsedBucket,
) -> None:
    longest = "alice/research/" + "é" * 497  # with the suffix 1,023 bytes of S3's 1,024
    too_long = longest + "é"

    names = [longest, *(f"alice/research/{number}.txt" for number in range(12))]
    for key in (too_long, *names):
        used_bucket.port.write_sidecar(key, key.encode())

    found = used_bucket.port.sidecars_of([*names, too_long, "alice/research/none.txt"])

    assert {key: each.body for key, each in found.items()} == {key: key.encode() for key in names}
    assert used_bucket.port.sidecar_of(longest) is not None
    assert used_bucket.port.sidecar_of(too_long) is None


def test_purge_deletes_all_under_its_prefix_and_nothing_beside_it(used_bucket: UsedBucket) -> None:
    gone = ["alice/research/a.txt", "alice/research/sub/b.txt"]
    kept = ["alice/research 2/a.txt", "alice/researcher.txt", "bob/research/a.txt"]
    for key in gone + kept:
        used_bucket.put(key, "text")
        used_bucket.port.write_sidecar(key, b"{}")

    prefixes = ("alice/research/", "alice/res/", "alice/notes/")
    held = [used_bucket.port.holds_any(each) for each in prefixes]

    told = [key for page in used_bucket.port.purge("alice/research/", before=LATER) for key in page]

    assert held == [True, False, False]
    assert sorted(told) == sorted(gone + [f"{key}.metadata.json" for key in gone])
    assert [used_bucket.port.head(key) for key in gone] == [None, None]
    assert [used_bucket.port.sidecar_of(key) for key in gone] == [None, None]
    assert all(used_bucket.port.head(key) and used_bucket.port.sidecar_of(key) for key in kept)
    assert list(used_bucket.port.purge("alice/research/", before=LATER)) == []


def test_purge_of_recent_objects_spares_those_added_after_it_was_asked(
    used_bucket: UsedBucket,
) -> None:
    used_bucket.put("alice/research/before.txt", "text")
    used_bucket.port.write_sidecar("alice/research/before.txt", b"{}")
    recent = used_bucket.port.versions_since("alice/research/", EARLIER)
    used_bucket.put("alice/research/after.txt", "text")  # mostly in the same second

    told = list(used_bucket.port.purge("alice/research/", before=EARLIER, recent=recent))

    assert told == [["alice/research/before.txt", "alice/research/before.txt.metadata.json"]]
    assert used_bucket.port.head("alice/research/before.txt") is None
    assert used_bucket.port.head("alice/research/after.txt") is not None
