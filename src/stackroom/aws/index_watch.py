"""Whether an S3 Vectors index can be searched as it is meant to be, looked up now and then."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from stackroom.aws.translation import direct_search_errors, understood
from stackroom.errors import SearchRefused, Unavailable
from stackroom.ports.retrieval import Search

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient

logger = logging.getLogger(__name__)

# What Bedrock calls the text of a passage, in any S3 Vectors index that it fills.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
TEXT = "AMAZON_BEDROCK_TEXT"

_GOOD_FOR = 300.0  # seconds: nothing takes a text configuration away but an operator
_BAD_FOR = 15.0  # seconds: a backfill ends by itself, and answers should be better from then on
_WARNED_FOR = 300.0  # seconds until the same is said again


class IndexWatch:
    """
    `search` and `dimensions` are what is wanted of the index. It is safe to ask from several
    threads at once: one of them looks it up, and the others wait for what it finds.
    """

    def __init__(
        self,
        client: "S3VectorsClient",
        index_arn: str,
        *,
        search: Search,
        dimensions: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._arn = index_arn
        self._search = search
        self._dimensions = dimensions
        self._now = now
        self._lock = Lock()
        self._reason: str | None = None
        self._known_until = -1.0
        self._warned: dict[str, float] = {}  # of the few reasons there are, until when

    def why_not(self) -> str | None:
        """None if it can be searched; else why not, for the operator, who finds it in the log."""
        with self._lock:
            if self._now() >= self._known_until:
                self._reason = self._looked_up()
                self._known_until = self._now() + (_BAD_FOR if self._reason else _GOOD_FOR)
            if self._reason:
                self._warn(self._reason)
            return self._reason

    def refused(self, reason: str) -> None:
        """It didn't do what it seemed fit for: it is looked up again before the next search."""
        with self._lock:
            self._known_until = -1.0
            self._warn(reason)

    def _warn(self, reason: str) -> None:
        if self._now() >= self._warned.get(reason, -1.0):
            self._warned[reason] = self._now() + _WARNED_FOR
            logger.warning("index %r is searched through Retrieve: %s", self._arn, reason)

    def _looked_up(self) -> str | None:
        try:
            with direct_search_errors("GetIndex"), understood("GetIndex"):
                index: Any = self._client.get_index(indexArn=self._arn)["index"]
                return _wanting(index, search=self._search, dimensions=self._dimensions)
        except (SearchRefused, Unavailable) as error:
            return str(error)


def _wanting(index: dict[str, Any], *, search: Search, dimensions: int) -> str | None:
    """What an index lacks, in the members of GetIndex's answer."""
    if index.get("indexMode") != "ENHANCED":
        # A CLASSIC index may answer less than it has behind a filter that lets little through.
        return f"it is in {index.get('indexMode', 'CLASSIC')} mode, not ENHANCED"
    if search is not Search.TEXT:
        if index["dimension"] != dimensions:
            return f"it has {index['dimension']} dimensions, and questions' vectors {dimensions}"
        if index["distanceMetric"] != "cosine":
            return f"it measures distance by {index['distanceMetric']}, not cosine"
    if search is not Search.SEMANTIC:
        configured = index.get("metadataConfiguration", {}).get("textSearchConfigurations", [])
        status = {each["metadataKey"]: each.get("status") for each in configured}
        if TEXT not in status:
            return f"{TEXT} is not configured for text search"
        if status[TEXT] != "ACTIVE":
            return f"its text search over {TEXT} is {status[TEXT]}"
    return None
