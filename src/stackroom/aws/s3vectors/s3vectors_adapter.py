"""
Search an S3 Vectors index directly, whether Bedrock or another program fills it.

One QueryVectors ranks by meaning and by words over all that the filter lets through, and is not
under Retrieve's 20 calls a second. Retrieve itself searches by meaning alone.
https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-hybrid-search.html
"""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from stackroom.access.tenancy import has_source
from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.aws.s3vectors.s3vectors_filters import is_listed, rendered
from stackroom.aws.s3vectors.vector_passages import TEXT, VectorReading, answers
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused, Unavailable
from stackroom.model.filters import Filter
from stackroom.model.passages import KnowledgeBase, Passage, Retrieved, Search
from stackroom.search.cached_embeddings import Embeddings

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient


# The fitness of an S3 Vectors index for its search, which is read now and then.

logger = logging.getLogger(__name__)

_GOOD_FOR = 300.0  # seconds: nothing takes a text configuration away but an operator
_BAD_FOR = 15.0  # seconds: a backfill ends by itself, and answers should be better from then on
_WARNED_FOR = 300.0  # seconds until the same is said again


@dataclass(frozen=True)
class Fitness:
    """
    The `search` that an index supports: the one that was wanted, a search by meaning alone if it
    lacks something for more, or None if its vectors don't match the questions'.
    """

    search: Search | None
    lacks: str | None = None


class IndexWatch:
    """
    Checks whether an index fits. Wanted are `search`, over the text at `text_key`, vectors of
    `dimensions`, and one of the `metrics` as its distance.

    Several threads may ask at once: one of them reads the index, and the others wait for its
    result.
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
        """Return why the index can't be searched as wanted; None if it can."""
        return self.fitness().lacks

    def fitness(self) -> Fitness:
        """Return the index's fitness. Anything that it lacks is also logged for the operator."""
        with self._lock:
            if self._now() >= self._known_until:
                self._fitness = self._read_fitness()
                self._known_until = self._now() + (_BAD_FOR if self._fitness.lacks else _GOOD_FOR)
            if self._fitness.lacks:
                self._warn(self._fitness.lacks)
            return self._fitness

    def refused(self, reason: str) -> None:
        """
        Record that the index refused a search that it seemed fit for: it is read again before the
        next one.
        """
        with self._lock:
            self._known_until = -1.0
            self._warn(reason)

    def fell_short(self, reason: str) -> None:
        """Record an answer that was of no use, though the index is as fit as it was."""
        with self._lock:
            self._warn(reason)

    def _warn(self, reason: str) -> None:
        if self._now() >= self._warned.get(reason, -1.0):
            self._warned[reason] = self._now() + _WARNED_FOR
            logger.warning("index %r is not searched as is meant: %s", self._arn, reason)

    def _read_fitness(self) -> Fitness:
        try:
            with direct_search_errors("GetIndex"), understood("GetIndex"):
                index: Any = self._client.get_index(indexArn=self._arn)["index"]
                return self._fitness_of(index)
        except (SearchRefused, Unavailable) as error:
            # A query will show if it can be searched all the same.
            return Fitness(Search.SEMANTIC, str(error))

    def _fitness_of(self, index: dict[str, Any]) -> Fitness:
        """Return the fitness by the members of GetIndex's answer."""
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


_LONGEST_TEXT = 1024  # characters [API model of s3vectors: QueryTextString]
_MOST = 100  # results of one page [S3 user guide: s3-vectors-limitations]


class S3VectorsKnowledgeBase:
    """
    A `KnowledgeBase` over QueryVectors; `reading` says how its vectors are read.

    While the index is not ready for `search`, or S3 Vectors refuses, `fallback` answers, and a
    notice says why. It also answers if Bedrock's vectors don't tell their source, because nobody
    may be shown such a passage. Without a fallback the index is searched by meaning alone if it is
    ready for that, and a notice says why; else KnowledgeBaseUnavailable is raised. A CLASSIC index
    may then find less behind a filter than there is. `lets_through` is the guardrail's decision on
    the question; as for Retrieve, passages are not shown to it.

    `vector_passages` defines a passage's score. The order, not the score, tells which passage is
    best: a hybrid search ranks by meaning and words.
    """

    def __init__(
        self,
        client: "S3VectorsClient",
        index_arn: str,
        *,
        embeddings: Embeddings,
        fallback: KnowledgeBase | None = None,
        search: Search = Search.HYBRID,
        reading: VectorReading | None = None,
        lets_through: Callable[[str], bool] | None = None,
    ) -> None:
        assert search is not Search.RANKED, "S3 Vectors doesn't rank what another search has found"
        self._client: Any = client  # its types are older than text search
        self._arn = index_arn
        self._embeddings = embeddings
        self._fallback = fallback
        self._search = search
        self._reading = reading or VectorReading()
        self._lets_through = lets_through
        self._watch = IndexWatch(
            client,
            index_arn,
            search=search,
            dimensions=embeddings.dimensions,
            text_key=self._reading.text_key,
            # Retrieve compares by the cosine, and what falls back to it is to do the same.
            metrics=("cosine", "euclidean") if fallback is None else ("cosine",),
        )

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        deadline.check("GetIndex")
        if self._fallback is None:
            return self._alone(query, condition, limit, deadline)
        reason = self._watch.why_not()
        if reason is None:
            try:
                found = self._retrieved(query, condition, limit, deadline, self._search)
            except SearchRefused as error:
                reason = str(error)
                self._watch.refused(reason)
            else:
                if not self._reading.is_bedrocks or all(map(has_source, found.passages)):
                    return found
                # [assumed: vector.data-source-id]
                reason = "its vectors don't tell where they are from"
                self._watch.fell_short(reason)
        found = self._fallback.retrieve(query, condition, limit, deadline=deadline)
        return replace(found, notice=f"searched through Retrieve: {reason}")

    def _alone(
        self, query: str, condition: Filter | None, limit: int, deadline: Deadline
    ) -> Retrieved:
        """
        Search without a fallback. Raises SearchRefused for a filter that S3 Vectors can't express.
        """
        if condition is not None:
            _ = rendered(condition)
        fitness = self._watch.fitness()
        while fitness.search is not None:
            try:
                found = self._retrieved(query, condition, limit, deadline, fitness.search)
            except SearchRefused as error:
                self._watch.refused(str(error))
                attempted, fitness = fitness.search, self._watch.fitness()
                if attempted is Search.HYBRID and fitness.search is Search.SEMANTIC:
                    continue  # its text search has been taken away
                raise KnowledgeBaseUnavailable("S3 Vectors", f"nothing: {error}") from error
            if fitness.lacks is None:
                return found
            return replace(found, notice=f"searched by meaning alone: {fitness.lacks}")
        raise KnowledgeBaseUnavailable("S3 Vectors", f"nothing: {fitness.lacks}")

    def _retrieved(
        self, query: str, condition: Filter | None, limit: int, deadline: Deadline, search: Search
    ) -> Retrieved:
        request: dict[str, Any] = {"indexArn": self._arn, "returnMetadata": True}
        if condition is not None:
            request["filter"] = rendered(condition)
        if self._lets_through is not None and not self._lets_through(query):
            return Retrieved(passages=(), guardrail_action="INTERVENED", search=search)
        deadline.check("InvokeModel")
        search, sought = self._sought(query, search)
        if not sought:
            return Retrieved(passages=(), search=search)
        passages: list[Passage] = []
        # Vectors without a text, or without a list where there should be one, are left out, and
        # then there may be more to find.
        for most in (limit, _MOST):
            count, passages = 0, []
            for answer in answers(self._client, {**request, **sought, "topK": most}, deadline):
                found = self._reading.passages(answer)
                passages += [each for each in found if is_listed(condition, each.attributes)]
                count += len(answer["vectors"])
            if len(passages) >= limit or count < most:
                break
        return Retrieved(passages=tuple(passages[:limit]), search=search)

    def _sought(self, query: str, search: Search) -> tuple[Search, dict[str, Any]]:
        """
        Return the kind of search and its parameters, which are empty if there is nothing to search
        by.
        """
        text = None if search is Search.SEMANTIC else words_in(query)
        texts = [{"text": text, "metadataKey": self._reading.text_key}]
        by_words = {"queryTexts": texts, "returnScores": True}
        if search is Search.TEXT:
            return Search.TEXT, by_words if text else {}
        by_meaning = {"queryVector": {"float32": list(self._embeddings.embed(query))}}
        if text is None:
            return Search.SEMANTIC, {**by_meaning, "returnDistance": True}
        return Search.HYBRID, {**by_meaning, **by_words}


def words_in(query: str) -> str | None:
    """
    Return the part of a question that is searched for by words; None if it has no letter and no
    digit.

    A question that is longer than S3 Vectors takes is cut, between words if it has any.
    """
    text, rest = query[:_LONGEST_TEXT], query[_LONGEST_TEXT:]
    if rest and not rest[0].isspace() and len(words := text.rsplit(maxsplit=1)) > 1:
        text = words[0]
    return text if any(map(str.isalnum, text)) else None
