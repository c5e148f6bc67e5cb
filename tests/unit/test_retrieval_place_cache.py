"""Place maps kept between searches."""

import pytest

from stackroom.errors import StoreUnavailable
from stackroom.retrieval.place_cache import PlaceMapCache
from tests.fakes.place_maps import FakePlaceMaps


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_map_is_read_once_for_a_while_and_its_absence_for_a_moment() -> None:
    place_maps, clock = FakePlaceMaps(), Clock()
    place_maps.put("doc-1", ["text"])
    cache = PlaceMapCache(place_maps, seconds=60, seconds_of_none=2, now=clock)

    for document_id in ("doc-1", "doc-2", "doc-1", "doc-2"):
        cache.get(document_id)
    reads = list(place_maps.reads)
    clock.seconds += 3
    place_maps.put("doc-1", ["other text"])
    place_maps.put("doc-2", ["text"])

    assert reads == ["doc-1", "doc-2"]
    assert cache.get("doc-2") is place_maps.maps["doc-2"]
    assert cache.get("doc-1") is not place_maps.maps["doc-1"]
    clock.seconds += 60
    assert cache.get("doc-1") is place_maps.maps["doc-1"]


def test_the_least_recently_used_map_makes_room() -> None:
    place_maps = FakePlaceMaps()
    cache = PlaceMapCache(place_maps, size=2)

    for document_id in ("doc-1", "doc-2", "doc-1", "doc-3", "doc-1", "doc-2"):
        cache.get(document_id)

    assert place_maps.reads == ["doc-1", "doc-2", "doc-3", "doc-2"]


def test_an_error_is_not_remembered() -> None:
    place_maps = FakePlaceMaps(failure=StoreUnavailable("GetObject", "SlowDown"))
    place_maps.put("doc-1", ["text"])
    cache = PlaceMapCache(place_maps)
    with pytest.raises(StoreUnavailable):
        cache.get("doc-1")

    place_maps.failure = None

    assert cache.get("doc-1") is place_maps.maps["doc-1"]
