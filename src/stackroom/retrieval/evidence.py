"""
How strongly passages speak to a question: their scores, and whether they answer it at all.

Whatever is asked, a search by meaning finds what is nearest, however far. So a score is made of
two things that fail in different ways: how near a passage's meaning is to the question's, and how
many of the question's words it has. If no passage's score is high enough, nothing is answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stackroom.ports.retrieval import Passage, Search
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.words import Match, fused, matched


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """
    What similarities say with one embedding model: `make bench-answers` measures it.

    `meaning` is the share that a similarity has in a score, the words have the rest. `least` is
    what the best passage must score, by the way it was found; 0 where nothing is said.
    """

    meaning: float = 0.5
    least: Mapping[Search, float] = field(default_factory=dict)

    def least_of(self, searches: Sequence[Search]) -> float:
        return min((self.least.get(each, 0.0) for each in searches), default=0.0)


UNCALIBRATED = Calibration()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Passages, best first, with their scores from 0 to 1; `best` is the highest, if any."""

    passages: tuple[Passage, ...]
    best: float | None


def weighed(question: str, replies: Sequence[Reply], calibration: Calibration) -> Evidence:
    """What was found in all knowledge bases, scored and put in one order."""
    found = [passage for reply in replies for passage in reply.passages if passage.text]
    matches = matched(question, [passage.text for passage in found])
    lowest = min((each.similarity for each in found if each.similarity is not None), default=None)
    scored = [
        _scored(passage, match, lowest, calibration)
        for passage, match in zip(found, matches, strict=True)
    ]
    best = max((passage.score for passage in scored), default=None)
    if sum(bool(reply.passages) for reply in replies) > 1:
        is_reranked = all(passage.relevance is not None for passage in scored)
        scored = _by_score(scored) if is_reranked else _in_one_order(scored, matches)
    return Evidence(passages=tuple(scored), best=best)


def _scored(
    passage: Passage, match: Match, lowest: float | None, calibration: Calibration
) -> Passage:
    """
    With the relevance that a model gave it, or the store's own score where it told no similarities.
    What was found by its words alone is less similar than all that was found by its meaning.
    """
    if passage.relevance is not None:
        return replace(passage, score=min(1.0, max(0.0, passage.relevance)))
    similarity = lowest if passage.similarity is None else passage.similarity
    if similarity is None:
        return passage
    share = calibration.meaning
    score = share * min(1.0, max(0.0, similarity)) + (1 - share) * match.coverage
    return replace(passage, score=score)


def _by_score(passages: Sequence[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda passage: passage.score, reverse=True)


def _in_one_order(passages: Sequence[Passage], matches: Sequence[Match]) -> list[Passage]:
    """
    By two ranks over all of what several found, of meaning and of words: a knowledge base's own
    order says nothing of what another's passages are worth, nor do words weighed by its own texts.
    """
    known = [
        (replace(passage, words=match.bm25), passage)
        for passage, match in zip(passages, matches, strict=True)
    ]
    known.sort(key=lambda pair: _nearness(pair[1]), reverse=True)
    return list(fused([weighed for weighed, _ in known]))


def _nearness(passage: Passage) -> float:
    return passage.score if passage.similarity is None else passage.similarity
