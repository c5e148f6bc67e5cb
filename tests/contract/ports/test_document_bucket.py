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
class Shelf:
    """A bucket and its users, who put and delete objects."""

    port: DocumentBucket
    put: Callable[..., None]  # a key, a body, and attributes by name
    delete: Callable[[str], None]


@pytest.fixture(params=["fake", "s3"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    if request.param == "fake":
        fake = FakeBucket(FakeClock())
        return Shelf(fake, fake.upload, fake.delete)
    s3 = request.getfixturevalue("s3")

    def put(key: str, body: str, **attributes: str) -> None:
        metadata = {name.replace("_", "-", 1): value for name, value in attributes.items()}
        s3.put_object(Bucket=BUCKET, Key=key, Body=body.encode(), Metadata=metadata)

    def delete(key: str) -> None:
        s3.delete_object(Bucket=BUCKET, Key=key)

    return Shelf(S3DocumentBucket(client=s3, bucket=BUCKET), put, delete)


def there(shelf: Shelf, key: str = KEY) -> StoredObject:
    found = shelf.port.head(key)
    assert found is not None
    return found


def test_head_describes_current_object_and_same_content_is_new_version(
    shelf: Shelf,
) -> None:
    shelf.put(KEY, "tëxt", kb_domain="hr")
    first = there(shelf)

    shelf.put(KEY, "tëxt", kb_list_taxonomy="a,b")
    again = there(shelf)
    shelf.put(KEY, "other text")

    assert (again.key, again.size) == (KEY, len("tëxt".encode()))
    assert again.attributes == {"kb-list_taxonomy": "a,b"}
    assert again.last_modified.utcoffset() is not None
    assert again.etag == first.etag != there(shelf).etag
    assert '"' not in first.etag
    assert again.version_id != first.version_id
    # A document is known by its URI, in which nothing is encoded.
    assert shelf.port.uri_of(KEY).removeprefix("s3://").partition("/")[2] == KEY


def test_a_deleted_or_removed_object_reads_as_absent_until_it_is_put_again(shelf: Shelf) -> None:
    shelf.put("alice/research/other.txt", "text")
    shelf.put(KEY, "text")
    shelf.delete(KEY)
    gone = [shelf.port.head(KEY)]

    shelf.put(KEY, "other text")
    size = there(shelf).size
    for _ in range(2):
        shelf.port.remove(KEY)
    gone.append(shelf.port.head(KEY))

    assert gone == [None, None]
    assert size == len("other text")
    assert shelf.port.head("alice/research/other.txt") is not None


def test_sidecar_reads_back_as_last_written_and_outlives_its_document(
    shelf: Shelf,
) -> None:
    shelf.put(KEY, "text")
    before = shelf.port.sidecar_of(KEY)
    shelf.port.write_sidecar(KEY, b"{}")
    shelf.port.write_sidecar(KEY, b'{"metadataAttributes": {"user_id": "alice"}}')
    shelf.delete(KEY)
    outlived = shelf.port.sidecar_of(KEY)

    shelf.port.remove_sidecar(KEY)
    shelf.port.remove_sidecar(KEY)

    assert before is None
    assert outlived is not None
    assert outlived.body == b'{"metadataAttributes": {"user_id": "alice"}}'
    assert outlived.last_modified.utcoffset() is not None
    assert shelf.port.sidecar_of(KEY) is None


def test_sidecars_are_read_together_except_missing_or_too_long_keys(
    shelf: Shelf,
) -> None:
    longest = "alice/research/" + "é" * 497  # with the suffix 1,023 bytes of S3's 1,024
    too_long = longest + "é"

    names = [longest, *(f"alice/research/{number}.txt" for number in range(12))]
    for key in (too_long, *names):
        shelf.port.write_sidecar(key, key.encode())

    found = shelf.port.sidecars_of([*names, too_long, "alice/research/none.txt"])

    assert {key: each.body for key, each in found.items()} == {key: key.encode() for key in names}
    assert shelf.port.sidecar_of(longest) is not None
    assert shelf.port.sidecar_of(too_long) is None


def test_purge_deletes_all_under_its_prefix_and_nothing_beside_it(shelf: Shelf) -> None:
    gone = ["alice/research/a.txt", "alice/research/sub/b.txt"]
    kept = ["alice/research 2/a.txt", "alice/researcher.txt", "bob/research/a.txt"]
    for key in gone + kept:
        shelf.put(key, "text")
        shelf.port.write_sidecar(key, b"{}")

    prefixes = ("alice/research/", "alice/res/", "alice/notes/")
    held = [shelf.port.holds_any(each) for each in prefixes]

    told = [key for page in shelf.port.purge("alice/research/", before=LATER) for key in page]

    assert held == [True, False, False]
    assert sorted(told) == sorted(gone + [f"{key}.metadata.json" for key in gone])
    assert [shelf.port.head(key) for key in gone] == [None, None]
    assert [shelf.port.sidecar_of(key) for key in gone] == [None, None]
    assert all(shelf.port.head(key) and shelf.port.sidecar_of(key) for key in kept)
    assert list(shelf.port.purge("alice/research/", before=LATER)) == []


def test_purge_of_recent_objects_spares_those_added_after_it_was_asked(
    shelf: Shelf,
) -> None:
    shelf.put("alice/research/before.txt", "text")
    shelf.port.write_sidecar("alice/research/before.txt", b"{}")
    recent = shelf.port.versions_since("alice/research/", EARLIER)
    shelf.put("alice/research/after.txt", "text")  # mostly in the same second

    told = list(shelf.port.purge("alice/research/", before=EARLIER, recent=recent))

    assert told == [["alice/research/before.txt", "alice/research/before.txt.metadata.json"]]
    assert shelf.port.head("alice/research/before.txt") is None
    assert shelf.port.head("alice/research/after.txt") is not None
