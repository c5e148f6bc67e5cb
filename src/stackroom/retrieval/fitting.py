"""
What of all that is worth showing goes into an agent's context: what first, and how much of it.

    fit(excerpts, Budget(max_tokens=4000, prioritize_by=Priority.RECENCY)).fitted

Whole passages are kept as long as they fit. The first that doesn't is cut or left out, and with it
whatever comes behind: a shorter one would not be the next best.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from stackroom.retrieval.budget import Budget, Priority
from stackroom.retrieval.excerpts import Excerpt
from stackroom.retrieval.passages import CHARACTERS_A_TOKEN, estimated_tokens

_CUT = "..."  # behind a text that is shown in part
_LEAST_CUT = 100  # tokens: with no more of them left, a passage isn't begun
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？][」』”’）]*|(?<=\S)(?=\n\s*\n)")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
_DATES = ("uploaded_at", "created_at")
_DAY = 86_400  # seconds
_YEAR = 365  # days, after which a passage is as old as any


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """
    What the budget holds of an excerpt: all that is `shown` of it, or the `beginning` of that.

    `content` is how an agent gets it, marked if it is cut.
    """

    excerpt: Excerpt
    beginning: str
    is_cut: bool

    @property
    def content(self) -> str:
        return self.beginning + _CUT if self.is_cut else self.beginning


@dataclass(frozen=True, kw_only=True)
class Selection:
    """For the `omitted` ones there is no room; the others have `tokens` in all."""

    fitted: tuple[Fitted, ...]
    omitted: int
    tokens: int


def fit(found: Sequence[Excerpt], budget: Budget) -> Selection:
    """
    Those that the budget holds, in order of its priority.

    The last of them may be cut: at the end of a sentence, if that leaves more than 80 % of the
    room, or else between two words. A text that has neither is left out, and so is any text if no
    more than 100 tokens are left for it.
    """
    fitted: list[Fitted] = []
    left = budget.max_tokens
    for excerpt in _in_order(found, budget):
        whole = excerpt.shown
        fits = estimated_tokens(whole) <= left
        text = whole if fits else _beginning(whole, left)
        if text or fits:
            fitted.append(Fitted(excerpt=excerpt, beginning=text, is_cut=not fits))
            left -= estimated_tokens(fitted[-1].content)
        if not fits:
            break
    return Selection(
        fitted=tuple(fitted), omitted=len(found) - len(fitted), tokens=budget.max_tokens - left
    )


def _in_order(found: Sequence[Excerpt], budget: Budget) -> Sequence[Excerpt]:
    if budget.prioritize_by is Priority.SIMILARITY:
        return found
    now = budget.now()

    def rank(excerpt: Excerpt) -> tuple[bool, float]:
        age = _age(excerpt.passage.attributes, now)
        is_newest_first = budget.prioritize_by is Priority.RECENCY
        # A table of contents answers nothing, however new: it comes last as in every order.
        comes_last = excerpt.cited.place.is_navigation
        return comes_last, age if is_newest_first else -_weight(excerpt.passage.score, age)

    return sorted(found, key=rank)


def _weight(score: float, age: float) -> float:
    similarity = min(1.0, max(0.0, score))
    return 0.7 * similarity + 0.3 * max(0.0, 1 - age / _YEAR)


def _age(attributes: Mapping[str, object], now: datetime) -> float:
    """In days, with a fraction; 0 for what lies in the future, infinite without a date."""
    dates = (_date(attributes.get(name)) for name in _DATES)
    date = next((each for each in dates if each is not None), None)
    return float("inf") if date is None else max(0.0, (now - date).total_seconds() / _DAY)


def _date(value: object) -> datetime | None:
    """Of ISO 8601, in UTC unless it says otherwise; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _beginning(text: str, tokens: int) -> str:
    """As much of a text that is too long as may stand before the mark; empty if it can't be cut."""
    if tokens <= _LEAST_CUT:
        return ""
    room = CHARACTERS_A_TOKEN * tokens - len(_CUT)
    sentence = _last(_SENTENCE_END.finditer(text), room)
    if 5 * sentence > 4 * room:
        return text[:sentence]
    return text[: _last(_WORD_END.finditer(text), room)]


def _last(ends: Iterable[re.Match[str]], room: int) -> int:
    """The last of them that is within the room; 0 if none is."""
    last = 0
    for end in ends:
        if end.end() > room:
            break
        last = end.end()
    return last
