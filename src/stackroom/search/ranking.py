"""
How strongly passages speak to a question: their order, and their scores.

Whatever is asked, a search by meaning finds what is nearest, however far. So a score is a passage's
similarity, and the best one must reach a bar (calibrations). On a large shelf much is near to any
question of its field. Where nothing stands out from a hundred passages, the words decide: a score
is less by the share of the question's words that none of these passages has.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from stackroom.documents.passages import Passage, Ranks, Search
from stackroom.search.fan_out import Reply
from stackroom.search.question_words import Matches, is_english, matched

# Of the best one's similarity. Measured: with less, questions that a single book answers are lost;
# with more, fewer that a large shelf doesn't answer are noticed [docs/answers.md].
_NEAR = 0.6
# Of a question, by its words: of two that are about as rare, one is enough. Measured: with less,
# fewer of the unanswerable are refused [docs/answers.md].
_MUCH = 0.45
# Of a question, on average, by the words of the nearest passages: with less they speak of other
# things. Measured: from 0.03 to 0.055 hardly any answerable question is lost [docs/answers.md].
_HARDLY_ANY, _NEAREST = 0.045, 5
_MOST = 2 / 3  # from here on it speaks to it however far it is


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """
    Passages, best first, with their scores from 0 to 1; `best` is the highest, if any.

    `searches` are the ways in which they were found, what was done here among them.
    `has_most_words` if one of them has most of the question: short ones, names and codes mean
    little. `best_by_words` is the highest score of one that has much of it; None if none has.
    `words_below` is the share of the question that the five nearest in meaning have on average, if
    that is hardly any; None where it is more, or nobody can tell: in languages but English.
    """

    passages: tuple[Passage, ...]
    best: float | None
    searches: tuple[Search, ...] = ()
    has_most_words: bool = False
    best_by_words: float | None = None
    words_below: float | None = None


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
    is_ranked = bool(known) and all(passage.relevance is None for passage in found)
    return Weighed(
        passages=tuple(_ranked(scored, matches) if is_ranked else _as_scored(scored, replies)),
        best=max((passage.score for passage in scored), default=None),
        searches=tuple(dict.fromkeys(_search(reply, is_ranked=is_ranked) for reply in replies)),
        has_most_words=max(matches.shares, default=0.0) >= _MOST,
        best_by_words=max(
            (
                each.score
                for each, share in zip(scored, matches.shares, strict=True)
                if share >= _MUCH
            ),
            default=None,
        ),
        words_below=_words_below(question, found, matches),
    )


def _words_below(question: str, found: Sequence[Passage], matches: Matches) -> float | None:
    """Only the order of similarities counts, so any model's will do."""
    known = [
        (each.similarity, share)
        for each, share in zip(found, matches.shares, strict=True)
        if each.similarity is not None
    ]
    nearest = [share for _, share in sorted(known, key=lambda each: -each[0])[:_NEAREST]]
    if not nearest or (mean := sum(nearest) / len(nearest)) >= _HARDLY_ANY:
        return None
    is_comparable = is_english(question) and is_english(" ".join(each.text for each in found))
    return mean if is_comparable else None


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


def _ranked(passages: Sequence[Passage], matches: Matches) -> Sequence[Passage]:
    """
    By two ranks over all that was found, of meaning and of words.

    Made anew for a store that has ranked by both, too: its words are weighed by all its texts, and
    say nothing of what another store's passages are worth. Nor is the order of one any better.
    """
    by_meaning = sorted(range(len(passages)), key=lambda at: -(passages[at].similarity or 0.0))
    by_words = matches.order
    nearest = {at: place for place, at in enumerate(by_meaning, start=1)}
    matching = {at: place for place, at in enumerate(by_words, start=1)}
    return [
        replace(
            passages[at],
            ranks=Ranks(by_meaning=nearest[at], by_words=matching.get(at), found=len(passages)),
        )
        for at in fused(by_meaning, by_words)
    ]


def _as_scored(passages: Sequence[Passage], replies: Sequence[Reply]) -> Sequence[Passage]:
    """A model that has read the passages has the last word; so has a store that only scores."""
    is_of_one = sum(bool(reply.passages) for reply in replies) <= 1
    return passages if is_of_one else sorted(passages, key=lambda each: -each.score)


def _search(reply: Reply, *, is_ranked: bool) -> Search:
    is_ranked_here = is_ranked and reply.search is Search.SEMANTIC
    return Search.RANKED if is_ranked_here else reply.search


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, score))


# How little the very first ranks count more than those behind them: of Cormack, Clarke and
# Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
_FUSION = 60

_Key = TypeVar("_Key", bound=Hashable)


def fused(*orders: Sequence[_Key], of_equals: Sequence[_Key] = ()) -> list[_Key]:
    """
    Things by their keys, best first, from several orders of them.

    What an order leaves out gets nothing from it. Of equals `of_equals` decides, which is an order,
    too; of those that it leaves out, the first one's order.
    """
    shares: defaultdict[_Key, float] = defaultdict(float)
    for order in orders:
        for rank, key in enumerate(order, start=1):
            shares[key] += 1 / (_FUSION + rank)
    places = {key: place for place, key in enumerate(of_equals)}
    last = len(places)
    return sorted(shares, key=lambda key: (-shares[key], places.get(key, last)))
