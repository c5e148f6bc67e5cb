"""Place maps in S3, as moto has it."""

import gzip
from typing import Any

import pytest

from stackroom.aws.s3.place_maps import S3PlaceMaps
from stackroom.inspection.place_map import Piece, PlaceMap
from tests.aws.stores import BUCKET

KEY = "_pagemaps/doc-1.json.gz"
TWO_PAGES = PlaceMap(text_id="e1", text="größe", pieces=(Piece(page=1, at=0), Piece(page=2, at=5)))
TWO_SECTIONS = PlaceMap(
    text_id="e1", text="abovegröße48", pieces=(Piece(at=0), Piece(section="Größe", at=5))
)


def test_a_place_map_comes_back_as_it_was_put_until_it_is_removed(s3: Any) -> None:
    place_maps = S3PlaceMaps(s3, BUCKET)

    for place_map in (TWO_PAGES, TWO_SECTIONS):
        place_maps.put("doc-1", place_map)
        assert place_maps.get("doc-1") == place_map
        assert s3.head_object(Bucket=BUCKET, Key=KEY)["ContentEncoding"] == "gzip"
    for _ in range(2):
        place_maps.remove("doc-1")
        assert place_maps.get("doc-1") is None


def test_a_place_map_as_it_was_kept_once_is_read(s3: Any) -> None:
    """Of the time when only PDFs had one, and with a text for each page or section."""
    for old, place_map in (
        ('{"etag":"e1","pages":[{"number":1,"text":"größe"},{"number":2,"text":""}]}', TWO_PAGES),
        ('{"etag":"e1","pieces":[{"page":1,"text":"größe"},{"page":2,"text":""}]}', TWO_PAGES),
        (
            '{"etag":"e1","pieces":[{"text":"above"},{"section":"Größe","text":"größe48"}]}',
            TWO_SECTIONS,
        ),
    ):
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=gzip.compress(old.encode()))
        assert S3PlaceMaps(s3, BUCKET).get("doc-1") == place_map


def test_an_object_that_is_no_place_map_is_said_to_be_none(s3: Any) -> None:
    cut_off = gzip.compress(b'{"etag": 1}' * 9)[:-9]
    nothing_in_it = gzip.compress(b'{"etag": "e1"}')
    for body in (b"", b"no gzip", gzip.compress(b"no json"), cut_off, nothing_in_it):
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=body)

        with pytest.raises(ValueError, match=r"place map|Invalid JSON|Field required"):
            S3PlaceMaps(s3, BUCKET).get("doc-1")
