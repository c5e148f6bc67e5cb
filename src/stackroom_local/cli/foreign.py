"""
What others wrote - names, reasons, passages - made safe to show.

A terminal obeys control characters, and characters of format turn or hide those round them: a name
could clear the screen, or read as another name. They are shown as escapes.
"""

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


def _escaped(text: str, *, kept: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each.encode("unicode_escape").decode()
        if each not in kept and unicodedata.category(each) in _UNSAFE
        else each
        for each in text
    )
