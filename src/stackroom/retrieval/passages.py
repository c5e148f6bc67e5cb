"""Which of the passages found are worth an agent's context, and how long they are."""

import math
from collections.abc import Iterable

from stackroom.passage_source import document_id_in
from stackroom.ports.retrieval import Passage

CHARACTERS_A_TOKEN = 4


def identity(passage: Passage) -> object:
    """What two findings of the same passage have in common: its source, and its text."""
    return (document_id_in(passage) or passage.uri, passage.text)


def distinct(found: Iterable[Passage], *, min_score: float) -> tuple[Passage, ...]:
    """In the order they come in, each text of a file once, none below the threshold."""
    kept: dict[object, Passage] = {}
    for passage in found:
        if passage.score >= min_score:
            kept.setdefault(identity(passage), passage)
    return tuple(kept.values())


def estimated_tokens(text: str) -> int:
    """
    About how many tokens a language model makes of it, without knowing the model: a quarter of its
    characters, rounded up.

    That is the rule of thumb that AWS gives for English, and it is taken for every character, so
    that anybody can count an answer again. Of Chinese, Japanese and Korean text, where a character
    is about a token, a model makes up to four times as many.
    """
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)
