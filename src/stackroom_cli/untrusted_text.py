"""
What others wrote - names, reasons, passages - made safe to show.

A terminal obeys control characters, and characters of format turn or hide those round them: a name
could clear the screen, or read as another name. They are shown as escapes.
"""

import json
import unicodedata

# Control, format (directions, joiners, tags), half a pair, ends of a line and of a paragraph
# [Unicode Standard, table 4-4].
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def one_line(text: str) -> str:
    """For a name or a reason, which has no line of its own to begin."""
    return _escaped(text, kept="")


def lines(text: str) -> str:
    """For a text that may have lines and tabs."""
    return _escaped(text, kept="\n\t")


def in_json(text: str) -> str:
    """For a JSON text, whose strings may tell any character by its code: it stays the same JSON."""
    return "".join(
        json.dumps(each)[1:-1] if each != "\n" and _is_unsafe(each) else each for each in text
    )


def _escaped(text: str, *, kept: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each.encode("unicode_escape").decode() if each not in kept and _is_unsafe(each) else each
        for each in text
    )


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE
