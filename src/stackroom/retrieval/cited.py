"""What an answer is made of: a model's words, and the passages that it cites."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stackroom.errors import (
    KnowledgeBaseThrottled,
    RetrievalFailed,
    Throttled,
    Unavailable,
    ValidationError,
)
from stackroom.retrieval.citations import Source
from stackroom.retrieval.quoting import cleaned, quoted

MAX_QUERY = 1000  # "User query size" in the Bedrock quotas, as in arguments.py

_WRITTEN = "A guardrail intervened; it wrote or changed what follows."
_HELD_BACK = "A guardrail intervened; it held back passages that were found."


@dataclass(frozen=True, kw_only=True)
class CitedSource:
    """
    A cited passage; `chunk_text` is all of it, whatever part was shown to who answered.

    `other_sources` are documents that say exactly the same.
    """

    source: Source
    chunk_text: str
    relevance_score: float
    other_sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CatalogAnswer:
    """
    `[1]` in the text is a mark for the first of `sources`, which are in order of first citation.

    There are none if a guardrail intervened, for it doesn't look at them [AWS: Query a knowledge
    base and generate responses]; then `guardrail_action` is INTERVENED and the text says so.
    """

    text: str
    sources: tuple[CitedSource, ...]
    guardrail_action: str


def check(query: str) -> None:
    """Raises ValidationError for a query that nobody can be asked."""
    if not 1 <= len(query) <= MAX_QUERY:
        raise ValidationError(f"query must be text of 1 to {MAX_QUERY:,} characters")


@contextmanager
def failures_of(home: str) -> Iterator[None]:
    """Raises Throttled or RetrievalFailed where the model of this knowledge base has no answer."""
    try:
        yield
    except KnowledgeBaseThrottled as error:
        failures = {home: str(error)}
        raise Throttled("the model", failures, retry_after=error.retry_after) from error
    except Unavailable as error:
        problem = "the question got no answer; try again, or tell the operator"
        raise RetrievalFailed(problem, {home: str(error)}) from error


def written_by_guardrail(text: str, action: str) -> CatalogAnswer:
    """What is left to tell of an answer that a guardrail wrote or changed."""
    told = f"{_WRITTEN}\n\n{marked(text, ())}"
    return CatalogAnswer(text=told, sources=(), guardrail_action=action)


def held_back(action: str, text: str = "") -> CatalogAnswer:
    """Where a guardrail held back passages; `text` is an answer that rests on those it left."""
    answer = f"\n\n{marked(text, ())}" if text else ""
    return CatalogAnswer(text=_HELD_BACK + answer, sources=(), guardrail_action=action)


def marked(text: str, marks: Iterable[tuple[int, Collection[int]]]) -> str:
    """
    The answer, quoted, with the numbers of its sources behind each piece that cites some.

    `marks` are positions in the text, in their order, and the numbers that stand there.
    """
    pieces, at = [], 0
    for end, numbers in marks:
        piece = cleaned(text[at:end])
        shown = "".join(f"[{number}]" for number in sorted(numbers))
        words = piece.rstrip()
        pieces.append(f"{words} {shown}{piece[len(words) :]}" if shown and words else piece + shown)
        at = end
    return quoted("".join(pieces) + cleaned(text[at:]))
