"""
Makes names, reasons and passages that others wrote safe to show.

A terminal obeys control characters, and format characters turn or hide the characters around them:
a name could clear the screen, or read as another name. They are shown as escapes.
"""

import json
import unicodedata

# Control, format (directions, joiners, tags), half a pair, ends of a line and of a paragraph
# [Unicode Standard, table 4-4].
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def one_line(text: str) -> str:
    """Escape a name or a reason, which must stay on one line."""
    return _escaped(text, kept="")


def lines(text: str) -> str:
    """Escape a text that may contain line breaks and tabs."""
    return _escaped(text, kept="\n\t")


def in_json(text: str) -> str:
    """
    Escape a JSON text so that it stays the same JSON: its strings may spell any character by its
    code.
    """
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
