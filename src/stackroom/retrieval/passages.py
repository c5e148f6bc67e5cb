"""Which of the passages found are worth an agent's context, and how much of them fits into it."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackroom.ports.retrieval import Passage

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]|\n\n")
_WORD_END = re.compile(r"\S(?=\s|$)")
CUT = " …"  # behind a text that is shown in part


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What of each text fits into the budget: of the first ones, for the `omitted` ones don't."""

    texts: tuple[str, ...]
    omitted: int
    tokens: int


def identity(passage: Passage) -> object:
    """What two findings of the same passage have in common: its source, and its text."""
    return (passage.custom_id or passage.uri, passage.text)


def distinct(found: Iterable[Passage], *, min_score: float) -> tuple[Passage, ...]:
    """In the order they come in, each text of a file once, none below the threshold."""
    kept: dict[object, Passage] = {}
    for passage in found:
        if passage.score >= min_score:
            kept.setdefault(identity(passage), passage)
    return tuple(kept.values())


def within_budget(texts: Sequence[str], *, max_tokens: int) -> Selection:
    """
    Whole texts as long as they fit; the next one up to a sentence's end; the rest omitted.

    The very first is cut inside a sentence rather than left out: something was found.
    """
    kept: list[str] = []
    left = max_tokens
    for whole in texts:
        text = whole
        if estimated_tokens(text) > left:
            text = _shortened(text, left, anywhere=not kept)
        if text:
            kept.append(text)
            left -= estimated_tokens(text)
        if text != whole:
            break
    return Selection(texts=tuple(kept), omitted=len(texts) - len(kept), tokens=max_tokens - left)


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
            candidate = text[: end.end()].rstrip() + CUT
            if estimated_tokens(candidate) > max_tokens:
                break
            cut = candidate
        if cut:
            return cut
    return ""
