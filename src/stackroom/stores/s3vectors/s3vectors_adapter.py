"""
An index of S3 Vectors, searched itself, whoever fills it: Bedrock for its own, or anybody.

One QueryVectors ranks by meaning and by words over all that the filter lets through, and is not
under Retrieve's 20 calls a second. Retrieve itself searches by meaning alone.
https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-hybrid-search.html
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.filters import Filter
from stackroom.passage_source import is_told
from stackroom.ports.embeddings import Embeddings
from stackroom.ports.retrieval import KnowledgeBase, Passage, Retrieved, Search
from stackroom.stores.s3vectors.index_watch import IndexWatch
from stackroom.stores.s3vectors.s3vectors_filters import is_listed, rendered
from stackroom.stores.s3vectors.vector_passages import VectorReading

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient

_LONGEST_TEXT = 1024  # characters [API model of s3vectors: QueryTextString]
_MOST = 100  # results of one page [S3 user guide: s3-vectors-limitations]
_MOST_PAGES = 100  # each has a vector, unless something is wrong


class S3VectorsKnowledgeBase:
    """
    A `KnowledgeBase` over QueryVectors; `reading` says how its vectors are read.

    While the index is not ready for `search`, or S3 Vectors refuses, `fallback` answers, and a
    notice says why. So it does where Bedrock's vectors don't tell what they are from, for nobody
    may be shown such a passage. Without a fallback it is searched by meaning alone if that is what
    it is ready for, and a notice says why; else KnowledgeBaseUnavailable is raised. A CLASSIC index
    may then find less behind a filter than there is.

    `lets_through` is what a guardrail says to the question; as for Retrieve, passages are not shown
    to it.

    A passage's score is told by `vector_passages`. What is best is told by the order, not by the
    scores: a hybrid search ranks by meaning and words.
    """

    def __init__(
        self,
        client: "S3VectorsClient",
        index_arn: str,
        *,
        watch: IndexWatch,
        embeddings: Embeddings,
        fallback: KnowledgeBase | None = None,
        search: Search = Search.HYBRID,
        reading: VectorReading | None = None,
        lets_through: Callable[[str], bool] | None = None,
    ) -> None:
        assert search is not Search.RANKED, "S3 Vectors doesn't rank what another search has found"
        self._client: Any = client  # its types are older than text search
        self._arn = index_arn
        self._watch = watch
        self._embeddings = embeddings
        self._fallback = fallback
        self._search = search
        self._reading = reading or VectorReading()
        self._lets_through = lets_through

    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002 - the port's name
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        deadline.check("GetIndex")
        if self._fallback is None:
            return self._alone(query, filter, limit, deadline)
        reason = self._watch.why_not()
        if reason is None:
            try:
                found = self._retrieved(query, filter, limit, deadline, self._search)
            except SearchRefused as error:
                reason = str(error)
                self._watch.refused(reason)
            else:
                reason = self._untold(found)
                if reason is None:
                    return found
                self._watch.fell_short(reason)
        found = self._fallback.retrieve(query, filter, limit, deadline=deadline)
        return replace(found, notice=f"searched through Retrieve: {reason}")

    def _alone(
        self, query: str, condition: Filter | None, limit: int, deadline: Deadline
    ) -> Retrieved:
        """With nobody to fall back to. Raises SearchRefused for a filter that it can't express."""
        if condition is not None:
            _ = rendered(condition)
        fitness = self._watch.look()
        while fitness.search is not None:
            try:
                found = self._retrieved(query, condition, limit, deadline, fitness.search)
            except SearchRefused as error:
                self._watch.refused(str(error))
                tried, fitness = fitness.search, self._watch.look()
                if tried is Search.HYBRID and fitness.search is Search.SEMANTIC:
                    continue  # its text search has been taken away
                raise KnowledgeBaseUnavailable("S3 Vectors", f"nothing: {error}") from error
            if fitness.lacks is None:
                return found
            return replace(found, notice=f"searched by meaning alone: {fitness.lacks}")
        raise KnowledgeBaseUnavailable("S3 Vectors", f"nothing: {fitness.lacks}")

    def _untold(self, found: Retrieved) -> str | None:
        """
        Why the source of what was found is not known; None if it is.
        [assumed: vector.data-source-id]
        """
        if not self._reading.is_bedrocks or all(map(is_told, found.passages)):
            return None
        return "its vectors don't tell where they are from"

    def _retrieved(
        self,
        query: str,
        condition: Filter | None,
        limit: int,
        deadline: Deadline,
        search: Search,
    ) -> Retrieved:
        asked: dict[str, Any] = {"indexArn": self._arn, "returnMetadata": True}
        if condition is not None:
            asked["filter"] = rendered(condition)
        if self._lets_through is not None and not self._lets_through(query):
            return Retrieved(passages=(), guardrail_action="INTERVENED", search=search)
        deadline.check("InvokeModel")
        search, sought = self._sought(query, search)
        if not sought:
            return Retrieved(passages=(), search=search)
        passages: list[Passage] = []
        # What has no text, or no list where there should be one, is left out, and then there may be
        # more to find.
        for most in (limit, _MOST):
            count, found = self._found({**asked, **sought, "topK": most}, deadline)
            passages = [each for each in found if is_listed(condition, each.attributes)]
            if len(passages) >= limit or count < most:
                break
        return Retrieved(passages=tuple(passages[:limit]), search=search)

    def _sought(self, query: str, search: Search) -> tuple[Search, dict[str, Any]]:
        """How it is searched, and with what; with nothing if there is nothing to search by."""
        text = None if search is Search.SEMANTIC else words_in(query)
        texts = [{"text": text, "metadataKey": self._reading.text_key}]
        by_words = {"queryTexts": texts, "returnScores": True}
        if search is Search.TEXT:
            return Search.TEXT, by_words if text else {}
        by_meaning = {"queryVector": {"float32": list(self._embeddings.embed(query))}}
        if text is None:
            return Search.SEMANTIC, {**by_meaning, "returnDistance": True}
        return Search.HYBRID, {**by_meaning, **by_words}

    def _found(self, asked: dict[str, Any], deadline: Deadline) -> tuple[int, list[Passage]]:
        """How many vectors were found, and the passages that they are."""
        count, passages = 0, list[Passage]()
        for answer in self._answers(asked, deadline):
            passages += self._reading.passages(answer)
            count += len(answer["vectors"])
        return count, passages

    def _answers(self, asked: dict[str, Any], deadline: Deadline) -> Iterator[Any]:
        """Page by page: how much metadata a page holds is not said."""
        for _ in range(_MOST_PAGES):
            deadline.check("QueryVectors")
            with direct_search_errors("QueryVectors"), understood("QueryVectors"):
                answer = self._client.query_vectors(**asked)
            yield answer
            if not answer.get("nextToken"):
                return
            asked = {**asked, "nextToken": answer["nextToken"]}
        raise KnowledgeBaseUnavailable("QueryVectors", f"more than {_MOST_PAGES} pages")


def words_in(query: str) -> str | None:
    """
    What of a question is searched for by words; None if it has no letter and no digit.

    A question that is longer than S3 Vectors takes is cut, between words if it has any.
    """
    text, rest = query[:_LONGEST_TEXT], query[_LONGEST_TEXT:]
    if rest and not rest[0].isspace() and len(words := text.rsplit(maxsplit=1)) > 1:
        text = words[0]
    return text if any(map(str.isalnum, text)) else None
