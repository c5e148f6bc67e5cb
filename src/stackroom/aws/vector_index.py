"""
A knowledge base of Bedrock's, searched in the S3 Vectors index that Bedrock fills.

One QueryVectors ranks by meaning and by words over all that the filter lets through, and is not
under Retrieve's 20 calls a second. Retrieve itself searches by meaning alone.
https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-hybrid-search.html
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stackroom.aws.index_watch import TEXT, IndexWatch
from stackroom.aws.knowledge_base import page_of
from stackroom.aws.translation import direct_search_errors, understood
from stackroom.aws.vector_filters import is_listed, rendered
from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.errors import SearchRefused
from stackroom.filters import Filter
from stackroom.ports.embeddings import Embeddings
from stackroom.ports.retrieval import KnowledgeBase, Passage, Retrieved, Search

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient

_URI = "x-amz-bedrock-kb-source-uri"
# Bedrock's own notes; Retrieve doesn't show them either.
_HIDDEN = frozenset({TEXT, "AMAZON_BEDROCK_METADATA"})
_LONGEST_TEXT = 1024  # characters [API model of s3vectors: QueryTextString]
_MOST = 100  # results of one page [S3 user guide: s3-vectors-limitations]
_HALF = 10.0  # the BM25 score that is shown as 0.5

Found = Mapping[str, Any]  # the types of the client are older than text search


class S3VectorsKnowledgeBase:
    """
    A `KnowledgeBase` over QueryVectors.

    While the index is not ready for `search`, or S3 Vectors refuses, `fallback` answers, and a
    notice says why. `lets_through` is what a guardrail says to the question; as for Retrieve,
    passages are not shown to it.

    A passage's score is its similarity; of one that matched by words alone it is w / (w + 10), w
    being what BM25 gives it. What is best is told by the order, not by the scores: a hybrid search
    ranks by both.
    """

    def __init__(
        self,
        client: "S3VectorsClient",
        index_arn: str,
        *,
        watch: IndexWatch,
        embeddings: Embeddings,
        fallback: KnowledgeBase,
        search: Search = Search.HYBRID,
        first_page: int = 1,
        lets_through: Callable[[str], bool] | None = None,
    ) -> None:
        assert search is not Search.RANKED, "S3 Vectors doesn't rank what another search has found"
        self._client: Any = client
        self._arn = index_arn
        self._watch = watch
        self._embeddings = embeddings
        self._fallback = fallback
        self._search = search
        self._first_page = first_page
        self._lets_through = lets_through

    # A002: the port's name
    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        deadline.check("GetIndex")
        reason = self._watch.why_not()
        if reason is None:
            try:
                return self._retrieved(query, filter, limit, deadline)
            except SearchRefused as error:
                reason = str(error)
                self._watch.refused(reason)
        found = self._fallback.retrieve(query, filter, limit, deadline=deadline)
        return replace(found, notice=f"searched through Retrieve: {reason}")

    def _retrieved(
        self, query: str, condition: Filter | None, limit: int, deadline: Deadline
    ) -> Retrieved:
        asked: dict[str, Any] = {"indexArn": self._arn, "returnMetadata": True}
        if condition is not None:
            asked["filter"] = rendered(condition)
        if self._lets_through is not None and not self._lets_through(query):
            return Retrieved(passages=(), guardrail_action="INTERVENED", search=self._search)
        deadline.check("InvokeModel")
        search, sought = self._sought(query)
        if not sought:
            return Retrieved(passages=(), search=search)
        passages: list[Passage] = []
        # What should be a list and isn't is left out, and then there may be more to find.
        for most in (limit, _MOST):
            found = list(self._found({**asked, **sought, "topK": most}, deadline))
            passages = [each for each in found if is_listed(condition, each.attributes)]
            if len(passages) >= limit or len(found) < most:
                break
        return Retrieved(passages=tuple(passages[:limit]), search=search)

    def _sought(self, query: str) -> tuple[Search, dict[str, Any]]:
        """How it is searched, and with what; with nothing if there is nothing to search by."""
        text = None if self._search is Search.SEMANTIC else words_in(query)
        by_words = {"queryTexts": [{"text": text, "metadataKey": TEXT}], "returnScores": True}
        if self._search is Search.TEXT:
            return Search.TEXT, by_words if text else {}
        by_meaning = {"queryVector": {"float32": list(self._embeddings.embed(query))}}
        if text is None:
            return Search.SEMANTIC, {**by_meaning, "returnDistance": True}
        return Search.HYBRID, {**by_meaning, **by_words}

    def _found(self, asked: dict[str, Any], deadline: Deadline) -> Iterator[Passage]:
        """Page by page: how much metadata a page holds is not said."""
        while True:
            deadline.check("QueryVectors")
            with direct_search_errors("QueryVectors"), understood("QueryVectors"):
                answer = self._client.query_vectors(**asked)
                passages = [self._passage(each) for each in answer["vectors"]]
            yield from passages
            if not answer.get("nextToken"):
                return
            asked = {**asked, "nextToken": answer["nextToken"]}

    def _passage(self, found: Found) -> Passage:
        metadata: Mapping[str, object] = found.get("metadata", {})
        scores = found.get("scores", {})
        distance = scores.get("vectorDistance", found.get("distance"))
        similarity = None if distance is None else min(1.0, max(0.0, 1.0 - distance))
        words = sum(each["score"] for each in scores.get("bm25Scores", ()))
        source = _text_of(metadata, _URI)
        # Of a CUSTOM data source's documents it is their id.
        is_object = source is not None and source.startswith("s3://")
        return Passage(
            text=_text_of(metadata, TEXT) or "",
            score=similarity if similarity is not None else _of_words(words),
            uri=source if is_object else None,
            custom_id=None if is_object else source,
            page=page_of(metadata, self._first_page),
            attributes={key: value for key, value in metadata.items() if key not in _HIDDEN},
            similarity=similarity,
        )


def words_in(query: str) -> str | None:
    """
    What of a question is searched for by words; None if it has no letter and no digit.

    A question that is longer than S3 Vectors takes is cut, between words if it has any.
    """
    text, rest = query[:_LONGEST_TEXT], query[_LONGEST_TEXT:]
    if rest and not rest[0].isspace() and len(words := text.rsplit(maxsplit=1)) > 1:
        text = words[0]
    return text if any(map(str.isalnum, text)) else None


def _text_of(metadata: Mapping[str, object], key: str) -> str | None:
    value = metadata.get(key)
    return value if isinstance(value, str) else None


def _of_words(score: float) -> float:
    return score / (score + _HALF)
