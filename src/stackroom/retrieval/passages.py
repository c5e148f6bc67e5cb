"""Which of the passages found are worth an agent's context, and how much of them fits into it."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.ports.retrieval import Passage

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]|\n\n")
_WORD_END = re.compile(r"\S(?=\s|$)")
_CUT = " …"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """`texts` belongs to `passages` by position: what of each fits into the budget."""

    passages: tuple[Passage, ...]
    texts: tuple[str, ...]
    omitted: int
    tokens: int


def identity(passage: Passage) -> object:
    """What two findings of the same passage have in common: its source, and its text."""
    return (passage.custom_id or passage.uri, passage.text)


def ranked(found: Iterable[Passage], *, min_score: float, limit: int) -> tuple[Passage, ...]:
    """The best first, each text of a file once, none below the threshold."""
    distinct: dict[object, Passage] = {}
    for passage in sorted(found, key=lambda passage: passage.score, reverse=True):
        if passage.score >= min_score:
            distinct.setdefault(identity(passage), passage)
    return tuple(distinct.values())[:limit]


def within_budget(passages: tuple[Passage, ...], *, max_tokens: int) -> Selection:
    """
    Whole passages as long as they fit; the next one up to a sentence's end; the rest omitted.

    The very first is cut inside a sentence rather than left out: something was found.
    """
    texts: list[str] = []
    left = max_tokens
    for passage in passages:
        text = passage.text
        if estimated_tokens(text) > left:
            text = _shortened(text, left, anywhere=not texts)
        if text:
            texts.append(text)
            left -= estimated_tokens(text)
        if text != passage.text:
            break
    return Selection(
        passages=passages[: len(texts)],
        texts=tuple(texts),
        omitted=len(passages) - len(texts),
        tokens=max_tokens - left,
    )


def estimated_tokens(text: str) -> int:
    """
    About how many tokens a language model makes of it, without knowing the model.

    Four ASCII characters are a token, the rule of thumb that AWS gives for English; any other
    character counts as one, which is about right for Chinese, Japanese and Korean and too much for
    accented letters. It errs on the high side, so a budget holds.
    """
    ascii_characters = len(text.encode("ascii", errors="ignore"))
    return math.ceil(ascii_characters / 4) + len(text) - ascii_characters


def _shortened(text: str, max_tokens: int, *, anywhere: bool) -> str:
    """As much of it as fits, marked as cut; empty if that isn't even a sentence (or a word)."""
    ends = [_SENTENCE_END, _WORD_END] if anywhere else [_SENTENCE_END]
    for pattern in ends:
        cut = ""
        for end in pattern.finditer(text):
            candidate = text[: end.end()].rstrip() + _CUT
            if estimated_tokens(candidate) > max_tokens:
                break
            cut = candidate
        if cut:
            return cut
    return ""
