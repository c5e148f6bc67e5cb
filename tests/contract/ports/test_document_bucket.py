"""What every `DocumentBucket` promises: objects as they are now, and their sidecars."""

from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from stackroom.aws.bucket import S3DocumentBucket
from stackroom.ports import DocumentBucket, StoredObject
from tests.aws.stores import BUCKET
from tests.fakes.pipeline import FakeBucket, FakeClock

KEY = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf"


class Shelf(Protocol):
    """A bucket and its users, who put and delete objects."""

    @property
    def port(self) -> DocumentBucket: ...

    def put(self, key: str, body: str, **attributes: str) -> None: ...

    def delete(self, key: str) -> None: ...


@dataclass(frozen=True)
class FakeShelf:
    port: FakeBucket

    def put(self, key: str, body: str, **attributes: str) -> None:
        self.port.upload(key, body, **attributes)

    def delete(self, key: str) -> None:
        self.port.delete(key)


@dataclass(frozen=True)
class S3Shelf:
    port: S3DocumentBucket
    s3: Any

    def put(self, key: str, body: str, **attributes: str) -> None:
        metadata = {name.replace("_", "-", 1): value for name, value in attributes.items()}
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body.encode(), Metadata=metadata)

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=key)


@pytest.fixture(params=["fake", "s3"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    if request.param == "fake":
        return FakeShelf(FakeBucket(FakeClock()))
    s3 = request.getfixturevalue("s3")
    return S3Shelf(S3DocumentBucket(client=s3, bucket=BUCKET), s3)


def there(shelf: Shelf, key: str = KEY) -> StoredObject:
    found = shelf.port.head(key)
    assert found is not None
    return found


def test_an_object_is_described_as_it_is_now(shelf: Shelf) -> None:
    shelf.put(KEY, "old", kb_domain="hr")

    shelf.put(KEY, "tëxt", kb_list_taxonomy="a,b")

    found = there(shelf)
    assert (found.key, found.size) == (KEY, len("tëxt".encode()))
    assert found.attributes.keys() == {"kb-list_taxonomy"}
    assert found.attributes["kb-list_taxonomy"] == "a,b"
    assert found.last_modified.utcoffset() is not None


def test_the_same_content_again_is_another_version_of_the_same_etag(shelf: Shelf) -> None:
    shelf.put(KEY, "text")
    first = there(shelf)

    shelf.put(KEY, "text")
    again = there(shelf)
    shelf.put(KEY, "other text")

    assert again.etag == first.etag
    assert again.version_id != first.version_id
    assert there(shelf).etag != first.etag


def test_an_etag_carries_no_quotes(shelf: Shelf) -> None:
    shelf.put(KEY, "text")

    assert there(shelf).etag
    assert '"' not in there(shelf).etag


def test_a_deleted_object_reads_as_absent_and_so_does_one_that_never_was(shelf: Shelf) -> None:
    shelf.put(KEY, "text")
    shelf.delete(KEY)

    assert shelf.port.head(KEY) is None
    assert shelf.port.head("alice/research/never.pdf") is None


def test_an_object_put_after_it_was_deleted_is_there(shelf: Shelf) -> None:
    shelf.put(KEY, "text")
    shelf.delete(KEY)

    shelf.put(KEY, "other text")

    assert there(shelf).size == len("other text")


def test_a_sidecar_is_read_as_it_was_written_last(shelf: Shelf) -> None:
    shelf.port.write_sidecar(KEY, b'{"metadataAttributes": {}}')
    shelf.port.write_sidecar(KEY, b'{"metadataAttributes": {"user_id": "alice"}}')

    found = shelf.port.sidecar_of(KEY)

    assert found is not None
    assert found.body == b'{"metadataAttributes": {"user_id": "alice"}}'
    assert found.last_modified.utcoffset() is not None


def test_a_sidecar_is_no_document_and_a_document_has_none_of_its_own(shelf: Shelf) -> None:
    shelf.put(KEY, "text")

    assert shelf.port.sidecar_of(KEY) is None


def test_a_sidecar_outlives_its_document(shelf: Shelf) -> None:
    shelf.put(KEY, "text")
    shelf.port.write_sidecar(KEY, b"{}")

    shelf.delete(KEY)

    assert shelf.port.sidecar_of(KEY) is not None


def test_a_removed_sidecar_is_gone_and_removing_it_again_is_safe(shelf: Shelf) -> None:
    shelf.port.write_sidecar(KEY, b"{}")

    shelf.port.remove_sidecar(KEY)
    shelf.port.remove_sidecar(KEY)

    assert shelf.port.sidecar_of(KEY) is None


def test_a_key_too_long_to_have_a_sidecar_has_none(shelf: Shelf) -> None:
    longest = "alice/research/" + "é" * 497  # with the suffix 1,023 bytes of S3's 1,024
    too_long = longest + "é"

    for key in (longest, too_long):
        shelf.port.write_sidecar(key, b"{}")

    assert shelf.port.sidecar_of(longest) is not None
    assert shelf.port.sidecar_of(too_long) is None


def test_a_document_is_known_by_its_unencoded_uri(shelf: Shelf) -> None:
    bucket, _, key = shelf.port.uri_of(KEY).removeprefix("s3://").partition("/")

    assert bucket
    assert key == KEY
