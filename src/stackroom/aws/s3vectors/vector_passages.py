"""Convert the results of QueryVectors to passages: the keys of text and source, and the score."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom.aws.bedrock.retrieved_passages import OF_VECTOR, data_source_id_of, page_of
from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.passages import Passage

# Bedrock's keys of a passage's text and source, in any index that it fills.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
# [assumed: vector.source-uri]
TEXT = "AMAZON_BEDROCK_TEXT"
SOURCE = OF_VECTOR.uri

# Bedrock's own notes; Retrieve doesn't show them either.
_NOTES = "AMAZON_BEDROCK_METADATA"
_HALF = 10.0  # the BM25 score that is shown as 0.5
_MOST_PAGES = 100  # each has a vector, unless something is wrong


def answers(client: Any, request: Mapping[str, Any], deadline: Deadline) -> Iterator[Any]:
    """
    Yield QueryVectors' answers page by page, because AWS doesn't document how much metadata a page
    holds.
    """
    for _ in range(_MOST_PAGES):
        deadline.check("QueryVectors")
        with direct_search_errors("QueryVectors"), understood("QueryVectors"):
            answer = client.query_vectors(**request)
        yield answer
        if not answer.get("nextToken"):
            return
        request = {**request, "nextToken": answer["nextToken"]}
    raise KnowledgeBaseUnavailable("QueryVectors", f"more than {_MOST_PAGES} pages")


@dataclass(frozen=True, kw_only=True)
class VectorReading:
    """
    The reading of an index's vectors. `first_page` is the number that Bedrock gives a document's
    first page.

    Under Bedrock's own key the source is the URI of an object, or the id that a document of a
    CUSTOM data source was ingested under. Bedrock was seen to leave the latter out of what Retrieve
    shows, and to report its data source all the same. Under another's key it is whatever they write
    there: an address, a path. That is shown as the passage's URI, and proves nothing.
    """

    text_key: str = TEXT
    source_key: str = SOURCE
    first_page: int = 1

    @property
    def is_bedrocks(self) -> bool:
        """Return True if Bedrock fills the index, which proves a passage's source."""
        return self.source_key == SOURCE

    def passages(self, answer: Any) -> Sequence[Passage]:
        """
        Return the passages of a page of QueryVectors. A vector without a text is left out.

        Raises KnowledgeBaseUnavailable if it is not a page, or lacks required numbers.
        """
        with understood("QueryVectors"):
            is_cosine = answer.get("distanceMetric") == "cosine"
            if not isinstance(answer["vectors"], list):
                raise TypeError("vectors are a list")
            found = [self._passage(each, is_cosine=is_cosine) for each in answer["vectors"]]
        return [each for each in found if each is not None]

    def _passage(self, found: Mapping[str, Any], *, is_cosine: bool) -> Passage | None:
        metadata: Mapping[str, object] = found.get("metadata") or {}
        text = _text_of(metadata, self.text_key)
        if text is None:
            return None
        scores: Mapping[str, Any] = found.get("scores") or {}
        distance = _number(scores.get("vectorDistance", found.get("distance")))
        similarity = None
        if is_cosine and distance is not None:
            similarity = min(1.0, max(0.0, 1.0 - distance))
        source = _text_of(metadata, self.source_key) or None
        is_id = self.is_bedrocks and source is not None and not source.startswith("s3://")
        hidden = (self.text_key, _NOTES)
        return Passage(
            text=text,
            score=_score(similarity, distance, scores),
            uri=None if is_id else source,
            custom_id=source if is_id else None,
            data_source_id=data_source_id_of(metadata) if self.is_bedrocks else None,
            page=page_of(metadata, self.first_page),
            attributes={key: value for key, value in metadata.items() if key not in hidden},
            similarity=similarity,
        )


def _score(similarity: float | None, distance: float | None, scores: Mapping[str, Any]) -> float:
    """
    Return a score from 0 to 1: the cosine; for a Euclidean distance d, which AWS calls the straight
    line between two vectors and which has no end, 1 / (1 + d); for words alone w / (w + 10), w
    being what BM25 gives.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-indexes.html
    """
    if similarity is not None:
        return similarity
    if distance is not None:
        return 1.0 / (1.0 + max(0.0, distance))
    words = sum(_number(each["score"]) or 0.0 for each in scores.get("bm25Scores", ()))
    return words / (words + _HALF)


def _number(value: object) -> float | None:
    """Return the number, or None if absent. Raises TypeError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError("distances and scores are numbers")
    return float(value)


def _text_of(metadata: Mapping[str, object], key: str) -> str | None:
    value = metadata.get(key)
    return value if isinstance(value, str) else None
