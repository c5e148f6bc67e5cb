"""
How strongly passages speak to a question: their order, their scores, and whether any answers it.

Whatever is asked, a search by meaning finds what is nearest, however far. So a score is the
similarity of a passage's meaning, less the share of the question's words that nothing found has: a
word that stands nowhere near is what the documents don't speak of. If no score is high enough,
nothing is answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackroom.ports.retrieval import Passage
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.fusion import fused
from stackroom.retrieval.words import Match, by_words, matched


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """
    Passages, best first, with their scores from 0 to 1; `best` is the highest, if any.

    `missing` is the share of the question's words that none of them has.
    """

    passages: tuple[Passage, ...]
    best: float | None
    missing: float


def weighed(question: str, replies: Sequence[Reply]) -> Weighed:
    """What was found in all knowledge bases, scored and put in one order."""
    found = [passage for reply in replies for passage in reply.passages if passage.text]
    matches = matched(question, [passage.text for passage in found])
    lowest = min((each.similarity for each in found if each.similarity is not None), default=None)
    scored = [_scored(passage, lowest, matches.missing) for passage in found]
    is_of_one = sum(bool(reply.passages) for reply in replies) <= 1
    return Weighed(
        passages=tuple(_in_order(scored, matches.passages, is_of_one=is_of_one)),
        best=max((passage.score for passage in scored), default=None),
        missing=matches.missing,
    )


def _scored(passage: Passage, lowest: float | None, missing: float) -> Passage:
    """
    With the relevance that a model gave it, or the store's own score where it told no similarities.
    What was found by its words alone is less similar than all that was found by its meaning.
    """
    if passage.relevance is not None:
        return replace(passage, score=_bounded(passage.relevance))
    if lowest is None:
        return passage
    similarity = lowest if passage.similarity is None else passage.similarity
    return replace(passage, similarity=similarity, score=_bounded(similarity - missing))


def _in_order(
    passages: Sequence[Passage], matches: Sequence[Match], *, is_of_one: bool
) -> list[Passage]:
    """
    By two ranks: that of the search, and that of similarity and coverage in equal shares.

    What one knowledge base ranks by its own words says nothing of what another's passages are
    worth: the rank of a search over several is made anew, of all that they found. A model that has
    read the passages has the last word, and so has a store that tells no similarities.
    """
    similarities = [each.similarity for each in passages if each.relevance is None]
    known = [each for each in similarities if each is not None]
    if len(known) < len(passages):
        return list(passages if is_of_one else sorted(passages, key=lambda each: -each.score))
    by_search: Sequence[int] = range(len(passages))
    if not is_of_one:
        by_meaning = sorted(by_search, key=lambda at: -known[at])
        by_search = fused(by_meaning, by_words(matches))
    by_worth = sorted(by_search, key=lambda at: -(known[at] + matches[at].coverage))
    return [passages[at] for at in fused(by_search, by_worth)]


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, score))
