"""Place maps kept in memory between the searches that one process serves."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from cachetools import TTLCache

from stackroom.ports.retrieval import PlaceMaps, Places


class PlaceMapCache:
    """
    A `PlaceMaps` in front of another: the most recently used maps, for a short while.

    Short, because a document that is uploaded again keeps its id and changes its text. That there
    is no map is remembered for a moment, since one may be in the making; an error is not.
    """

    def __init__(
        self,
        place_maps: PlaceMaps,
        *,
        size: int = 32,
        seconds: float = 60,
        seconds_of_none: float = 2,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place_maps = place_maps
        self._kept: TTLCache[str, Places] = TTLCache(size, seconds, timer=now)
        self._none: TTLCache[str, None] = TTLCache(size, seconds_of_none, timer=now)
        self._lock = Lock()

    def get(self, document_id: str) -> Places | None:
        with self._lock, suppress(KeyError):
            return self._kept[document_id]
        with self._lock, suppress(KeyError):
            return self._none[document_id]
        places = self._place_maps.get(document_id)  # outside the lock: others needn't wait for S3
        with self._lock:
            if places is None:
                self._none[document_id] = None
            else:
                self._kept[document_id] = places
        return places
