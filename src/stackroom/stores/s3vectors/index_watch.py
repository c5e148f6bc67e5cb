"""Whether an S3 Vectors index can be searched as it is meant to be, looked up now and then."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.errors import SearchRefused, Unavailable
from stackroom.ports.retrieval import Search
from stackroom.stores.s3vectors.vector_passages import TEXT

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient

logger = logging.getLogger(__name__)

_GOOD_FOR = 300.0  # seconds: nothing takes a text configuration away but an operator
_BAD_FOR = 15.0  # seconds: a backfill ends by itself, and answers should be better from then on
_WARNED_FOR = 300.0  # seconds until the same is said again


@dataclass(frozen=True)
class Fitness:
    """
    What an index is good for: the `search` that was wanted of it, by meaning alone where it lacks
    what more than that takes, or None where its vectors are not those of the questions.
    """

    search: Search | None
    lacks: str | None = None


class IndexWatch:
    """
    `search`, over the text at `text_key`, and `dimensions` are what is wanted of the index, and one
    of the `metrics` as its distance. It is safe to ask from several threads at once: one of them
    looks it up, and the others wait for what it finds.
    """

    def __init__(
        self,
        client: "S3VectorsClient",
        index_arn: str,
        *,
        search: Search,
        dimensions: int,
        text_key: str = TEXT,
        metrics: Collection[str] = ("cosine",),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._arn = index_arn
        self._search = search
        self._dimensions = dimensions
        self._text_key = text_key
        self._metrics = metrics
        self._now = now
        self._lock = Lock()
        self._fitness = Fitness(None)
        self._known_until = -1.0
        self._warned: dict[str, float] = {}  # of the few reasons there are, until when

    def why_not(self) -> str | None:
        """None if it can be searched as is wanted; else why not."""
        return self.look().lacks

    def look(self) -> Fitness:
        """What it lacks is for the operator, too, who finds it in the log."""
        with self._lock:
            if self._now() >= self._known_until:
                self._fitness = self._looked_up()
                self._known_until = self._now() + (_BAD_FOR if self._fitness.lacks else _GOOD_FOR)
            if self._fitness.lacks:
                self._warn(self._fitness.lacks)
            return self._fitness

    def refused(self, reason: str) -> None:
        """It didn't do what it seemed fit for: it is looked up again before the next search."""
        with self._lock:
            self._known_until = -1.0
            self._warn(reason)

    def fell_short(self, reason: str) -> None:
        """An answer was of no use, and the index is as fit as it was."""
        with self._lock:
            self._warn(reason)

    def _warn(self, reason: str) -> None:
        if self._now() >= self._warned.get(reason, -1.0):
            self._warned[reason] = self._now() + _WARNED_FOR
            logger.warning("index %r is not searched as is meant: %s", self._arn, reason)

    def _looked_up(self) -> Fitness:
        try:
            with direct_search_errors("GetIndex"), understood("GetIndex"):
                index: Any = self._client.get_index(indexArn=self._arn)["index"]
                return self._fitness_of(index)
        except (SearchRefused, Unavailable) as error:
            # Whether it can be searched all the same, a query will tell.
            return Fitness(Search.SEMANTIC, str(error))

    def _fitness_of(self, index: dict[str, Any]) -> Fitness:
        """By the members of GetIndex's answer."""
        mode, metric = index.get("indexMode", "CLASSIC"), index.get("distanceMetric")
        if self._search is not Search.TEXT:
            if (found := index.get("dimension")) != self._dimensions:
                wanted = f"questions' vectors {self._dimensions}"
                return Fitness(None, f"it has {found} dimensions, and {wanted}")
            if metric not in self._metrics:
                wanted = " or ".join(self._metrics)
                return Fitness(None, f"it measures distance by {metric}, not {wanted}")
        if mode != "ENHANCED":
            # A CLASSIC index may answer less than it has behind a filter that lets little through.
            return Fitness(Search.SEMANTIC, f"it is in {mode} mode, not ENHANCED")
        if self._search is not Search.SEMANTIC:
            configured = index.get("metadataConfiguration", {}).get("textSearchConfigurations", [])
            status = {each.get("metadataKey"): each.get("status") for each in configured}
            if self._text_key not in status:
                lacks = f"{self._text_key} is not configured for text search"
                return Fitness(Search.SEMANTIC, lacks)
            if status[self._text_key] != "ACTIVE":
                lacks = f"its text search over {self._text_key} is {status[self._text_key]}"
                return Fitness(Search.SEMANTIC, lacks)
        return Fitness(self._search)
