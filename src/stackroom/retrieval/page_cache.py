"""Page maps kept in memory between the searches that one process serves."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from stackroom.ports.retrieval import PageMaps, Pages


class PageMapCache:
    """
    A `PageMaps` in front of another: the most recently used maps, for a short while.

    Short, because a document that is uploaded again keeps its id and changes its pages. That there
    is no map is remembered too; an error is not.
    """

    def __init__(
        self,
        page_maps: PageMaps,
        *,
        size: int = 32,
        seconds: float = 60,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._page_maps = page_maps
        self._size = size
        self._seconds = seconds
        self._now = now
        self._kept: OrderedDict[str, tuple[float, Pages | None]] = OrderedDict()
        self._lock = Lock()

    def get(self, document_id: str) -> Pages | None:
        with self._lock:
            expires, pages = self._kept.get(document_id, (0.0, None))
            if self._now() < expires:
                self._kept.move_to_end(document_id)
                return pages
        pages = self._page_maps.get(document_id)  # outside the lock: others needn't wait for S3
        self._keep(document_id, pages)
        return pages

    def _keep(self, document_id: str, pages: Pages | None) -> None:
        with self._lock:
            self._kept[document_id] = (self._now() + self._seconds, pages)
            self._kept.move_to_end(document_id)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
