"""
The order of the passages that a search found, and how near the best of them are to the question.

The rank of a passage is its similarity to the question, plus its share of the question's words and
of its pairs of neighbouring words, plus the share of what the question names that its document has
in its names: file name, title, and the owner's attributes. These are added rather than fused by
rank, so that words and names cannot displace what is nearest by far
[docs/decisions/0041-passages-by-similarity-words-and-names.md].
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, TypeVar

from stackroom.access.tenancy import document_id_in, owner_attributes
from stackroom.model.attributes import UPLOADED_AT
from stackroom.model.passages import Passage, Ranks, Search
from stackroom.search.names import QuestionNames
from stackroom.search.question_words import (
    Matches,
    QuestionWords,
    is_unspaced,
    matched,
    spaced,
    stems_of,
)
from stackroom.search.replies import Reply

# The weight that all of a question's words, all of its pairs, and all of the names in it add to a
# similarity, which ranges from 0, that of the last passage found, to 1. Words and pairs together
# reach 1, so that they never outweigh the nearest passage. Names from 0.8 to 1.6 do as well
# [docs/answers.md]; over 1 they bring forward a document that was asked for itself, whose passages
# are the last ones.
_WORDS, _PAIRS, _NAMES = 0.8, 0.2, 1.2
# One of the first passages must have so much of the question's words, or they are weak: less two
# fifths of the words that only others of them have, and of the question's names and numbers that
# none of them has. Measured likewise.
_FIRST, _STRONG, _APART = 5, 0.3, 0.4
# A question with more words, as a task with its instructions has, shares only a small part with any
# passage.
_MOST_WORDS = 30


class Relevance(StrEnum):
    """The relevance of the best passages to the question."""

    STRONG = "strong"
    WEAK = "weak"


# For whoever reads the passages of a weak answer, a model or a person.
WEAK_NOTICE = (
    "These are the nearest passages, but they may not answer the question. Answer only what they"
    " say, and otherwise say that the documents don't answer it."
)


OrderedBy = Literal["score", "rank"]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """
    The passages to answer with, best first, and their relevance; None if there are no passages.

    `searches` are the ways in which they were found. `ordered_by` says how passages of several
    linked knowledge bases were ordered: by rank if their scores don't compare.
    """

    passages: Sequence[Passage]
    searches: tuple[Search, ...] = ()
    relevance: Relevance | None = None
    ordered_by: OrderedBy | None = None


def ranked(question: str, replies: Sequence[Reply], *, min_score: float = 0.0) -> Ranking:
    """Return the passages of all knowledge bases in one order, without those that score too low."""
    found = [passage for reply in replies for passage in reply.passages if passage.text]
    matches = matched(question, [passage.text for passage in found])
    known = [each.similarity for each in found if each.similarity is not None]
    lowest = min(known, default=None)
    scored = [_scored(passage, lowest) for passage in found]
    is_ranked = bool(known) and all(passage.relevance is None for passage in found)
    order = _ranked(question, scored, matches) if is_ranked else _as_scored(scored, replies)
    passages = distinct(order, min_score=min_score)
    return Ranking(
        passages=passages,
        searches=tuple(dict.fromkeys(_search(reply, is_ranked=is_ranked) for reply in replies)),
        relevance=relevance_of(question, passages),
    )


def identity(passage: Passage) -> object:
    """Return a key that is equal for two findings of the same passage: its source and its text."""
    return (document_id_in(passage) or passage.uri, passage.text)


def distinct(found: Iterable[Passage], *, min_score: float) -> tuple[Passage, ...]:
    """
    Return each text of a document once, in the given order, if it scores at least `min_score`.
    """
    kept: dict[object, Passage] = {}
    for passage in found:
        if passage.score >= min_score:
            kept.setdefault(identity(passage), passage)
    return tuple(kept.values())


def relevance_of(question: str, passages: Sequence[Passage]) -> Relevance | None:
    """
    Return how near the first of the passages are to the question, by its words, for any model.

    Returns None if there are no passages. Returns STRONG if words can't tell: for a long question,
    one without words, and in a script without spaces between words.
    """
    if not passages:
        return None
    words = QuestionWords.of(question)
    if not 0 < len(words.stems) <= _MOST_WORDS or any(map(is_unspaced, words.words)):
        return Relevance.STRONG
    texts = [" ".join([each.text, *_names(each)]) for each in passages[:_FIRST]]
    found_stems = [stems_of(words.places_in(spaced(text))) for text in texts]
    best, all_found = max(map(len, found_stems)), frozenset().union(*found_stems)
    named = words.named.stems
    absent = len(named - all_found) / len(named) if named else 0.0
    scattered = (len(all_found) - best) / len(words.stems)
    is_near = best / len(words.stems) - _APART * (absent + scattered) >= _STRONG
    if is_near and any(map(str.isdigit, question)):
        is_near = not _is_of_another_document(question, passages, found_stems)
    return Relevance.STRONG if is_near else Relevance.WEAK


def _is_of_another_document(
    question: str, passages: Sequence[Passage], found_stems: Sequence[frozenset[str]]
) -> bool:
    """
    Return True if the question names a document by a number, and no first passage is of it.

    The report of Q3 2023 doesn't answer a question about Q1 2023, however many words they share. A
    passage is of the named document if it has all that names it, in its text or its own names.
    """
    question_names = QuestionNames(question)
    numbers = question_names.in_names({_document(each): _given_names(each) for each in passages})
    names = question_names.in_names({_document(each): _names(each) for each in passages})
    identifiers = question_names.identifiers(names, numbered=numbers)
    return not any(
        identifiers <= names[_document(each)] | stems
        for each, stems in zip(passages, found_stems, strict=False)
    )


def _scored(passage: Passage, lowest: float | None) -> Passage:
    """
    Return the passage with a model's relevance as its score, or with the store's own score.

    A passage that was found by its words alone ranks below all that were found by their meaning.
    """
    if passage.relevance is not None:
        return replace(passage, score=_bounded(passage.relevance))
    if lowest is None:
        return passage
    similarity = lowest if passage.similarity is None else passage.similarity
    return replace(passage, similarity=similarity, score=_bounded(similarity))


def _ranked(question: str, passages: Sequence[Passage], matches: Matches) -> Sequence[Passage]:
    """
    Return the passages by similarity, words and names over all that was found.

    The words are weighed again even if a store has ranked by words: it weighs them by all its
    texts, and its weights don't compare with those of another store.
    """
    similarities = [passage.similarity or 0.0 for passage in passages]
    lowest, highest = min(similarities), max(similarities)
    names = QuestionNames(question).matches(
        {_document(each): _names(each) for each in passages},
        given={_document(each): _given_names(each) for each in passages},
    )
    values = [
        (similarity - lowest) / ((highest - lowest) or 1.0)
        + _WORDS * share
        + _PAIRS * pairs
        + _NAMES * names.get(_document(passage), 0.0)
        for passage, similarity, share, pairs in zip(
            passages, similarities, matches.shares, matches.pairs, strict=True
        )
    ]
    nearest = _places(similarities)
    matching = _places(matches.shares)
    return [
        replace(
            passages[at],
            ranks=Ranks(
                by_meaning=nearest[at],
                by_words=matching[at] if matches.shares[at] else None,
                found=len(passages),
            ),
        )
        for at in _best_first(values)
    ]


def _document(passage: Passage) -> object:
    return document_id_in(passage) or passage.uri


def _names(passage: Passage) -> list[str]:
    """Return what a question may call a document."""
    return [passage.title_words, *_given_names(passage)]


def _given_names(passage: Passage) -> list[str]:
    """Return what its owner calls a document: the file name and the owner's attributes."""
    values = [str(passage.attributes.get("filename", ""))]
    for name, each in owner_attributes(passage).items():
        if name != UPLOADED_AT:  # a question about 2025 isn't one about files uploaded in 2025
            values += map(str, each) if isinstance(each, list) else [str(each)]
    return values


def _best_first(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda at: -values[at])


def _places(values: Sequence[float]) -> dict[int, int]:
    return {at: place for place, at in enumerate(_best_first(values), start=1)}


def _as_scored(passages: Sequence[Passage], replies: Sequence[Reply]) -> Sequence[Passage]:
    """
    Return the passages as a reranking model, or a store that reports only scores, ordered them.
    """
    is_of_one = sum(bool(reply.passages) for reply in replies) <= 1
    return passages if is_of_one else sorted(passages, key=lambda each: -each.score)


def _search(reply: Reply, *, is_ranked: bool) -> Search:
    is_ranked_here = is_ranked and reply.search is Search.SEMANTIC
    return Search.RANKED if is_ranked_here else reply.search


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, score))


# The damping of the very first ranks: from Cormack, Clarke and Büttcher, "Reciprocal rank fusion
# outperforms Condorcet and individual rank learning methods" (SIGIR 2009).
_FUSION = 60

_Key = TypeVar("_Key", bound=Hashable)


def fused(*orders: Sequence[_Key], of_equals: Sequence[_Key] = ()) -> list[_Key]:
    """
    Return keys, best first, by reciprocal rank in several orders.

    A key that is missing from an order gets nothing from it. Ties are resolved by `of_equals`, then
    by the first order.
    """
    shares: defaultdict[_Key, float] = defaultdict(float)
    for order in orders:
        for rank, key in enumerate(order, start=1):
            shares[key] += 1 / (_FUSION + rank)
    places = {key: place for place, key in enumerate(of_equals)}
    last = len(places)
    return sorted(shares, key=lambda key: (-shares[key], places.get(key, last)))
