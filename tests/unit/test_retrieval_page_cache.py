"""Page maps kept between searches."""

import pytest

from stackroom.errors import StoreUnavailable
from stackroom.retrieval.page_cache import PageMapCache
from tests.fakes.page_maps import FakePageMaps


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_map_is_read_once_for_a_while_and_so_is_its_absence() -> None:
    page_maps, clock = FakePageMaps(), Clock()
    page_maps.put("doc-1", ["text"])
    cache = PageMapCache(page_maps, seconds=60, now=clock)

    for document_id in ("doc-1", "doc-2", "doc-1", "doc-2"):
        cache.get(document_id)
    clock.seconds += 61
    page_maps.put("doc-1", ["other text"])

    assert page_maps.reads == ["doc-1", "doc-2"]
    assert cache.get("doc-1") is page_maps.maps["doc-1"]


def test_the_least_recently_used_map_makes_room() -> None:
    page_maps = FakePageMaps()
    cache = PageMapCache(page_maps, size=2)

    for document_id in ("doc-1", "doc-2", "doc-1", "doc-3", "doc-1", "doc-2"):
        cache.get(document_id)

    assert page_maps.reads == ["doc-1", "doc-2", "doc-3", "doc-2"]


def test_an_error_is_not_remembered() -> None:
    page_maps = FakePageMaps(failure=StoreUnavailable("GetObject", "SlowDown"))
    page_maps.put("doc-1", ["text"])
    cache = PageMapCache(page_maps)
    with pytest.raises(StoreUnavailable):
        cache.get("doc-1")

    page_maps.failure = None

    assert cache.get("doc-1") is page_maps.maps["doc-1"]
