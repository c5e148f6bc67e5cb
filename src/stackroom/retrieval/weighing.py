"""
How strongly passages speak to a question: their order, and their scores.

Whatever is asked, a search by meaning finds what is nearest, however far. So a score is a passage's
similarity, and the best one must reach a bar (calibrations). On a large shelf much is near to any
question of its field. Where nothing stands out from a hundred passages, the words decide: a score
is less by the share of the question's words that none of these passages has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackroom.ports.retrieval import Passage
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.fusion import fused
from stackroom.retrieval.words import Match, by_words, matched

# Of the best one's similarity. Measured: with less, questions that a single book answers are lost;
# with more, fewer that a large shelf doesn't answer are noticed [docs/answers.md].
_NEAR = 0.6


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """Passages, best first, with their scores from 0 to 1; `best` is the highest, if any."""

    passages: tuple[Passage, ...]
    best: float | None


def weighed(question: str, replies: Sequence[Reply], *, limit: int) -> Weighed:
    """
    What was found in all knowledge bases, scored and put in one order.

    At most `limit` passages of each were asked for; with fewer, all that there are were found.
    """
    found = [passage for reply in replies for passage in reply.passages if passage.text]
    matches = matched(question, [passage.text for passage in found])
    known = [each.similarity for each in found if each.similarity is not None]
    lowest = min(known, default=None)
    is_many = any(len(reply.passages) + len(reply.withheld) >= limit for reply in replies)
    stands_out = lowest is None or not is_many or lowest < _NEAR * max(known)
    less = 0.0 if stands_out else matches.missing
    scored = [_scored(passage, lowest, less) for passage in found]
    is_of_one = sum(bool(reply.passages) for reply in replies) <= 1
    return Weighed(
        passages=tuple(_in_order(scored, matches.passages, is_of_one=is_of_one)),
        best=max((passage.score for passage in scored), default=None),
    )


def _scored(passage: Passage, lowest: float | None, less: float) -> Passage:
    """
    With the relevance that a model gave it, or the store's own score where it told no similarities.
    What was found by its words alone is less similar than all that was found by its meaning.
    """
    if passage.relevance is not None:
        return replace(passage, score=_bounded(passage.relevance))
    if lowest is None:
        return passage
    similarity = lowest if passage.similarity is None else passage.similarity
    return replace(passage, similarity=similarity, score=_bounded(similarity - less))


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
