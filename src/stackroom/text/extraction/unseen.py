"""
Characters that nobody sees, such as tags, zero-width letters, bidirectional and other controls.

They can carry a text of their own, and keep words from being found. Those that spell what people
see stay: joiners of Persian and Hindi, sequences of emoji, variants of a character, and spaces
without a width in scripts that have no others.
"""

import re

_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Soft hyphen, combining grapheme joiner, marks, embeddings and isolates of bidirectional text,
# zero-width spaces and joiners, operators of equations, byte order mark, annotations, and tags.
# A soft hyphen at the end of a line of a PDF is a hyphen that people see.
_UNSEEN = re.compile(
    "(?:[\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    f"{_SELECTORS}\U000e0000-\U000e007f]|\u00ad(?!\n))+"
)
_SELECTOR = re.compile(f"[{_SELECTORS}]")
# What no text needs, wherever it stands: tags, overrides of direction, controls out of use.
_NEVER_NEEDED = re.compile("[\U000e0000-\U000e007f\u202d\u202e\u206a-\u206f]")
# What parts a word, or hides in it; soft hyphens and operators of equations may well stand there.
_PARTS_WORDS = re.compile(f"[\u034f\u180e\u200b-\u200f\u2060\ufeff{_SELECTORS}]")
_MOST_IN_A_ROW = 5  # that any layout has
# Scripts from Arabic to Khmer that are spelled with joiners, symbols, and emoji.
_JOINED = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1700-\u1cff\ua800-\ua95f\ua980-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\u2190-\u2bff\U00010800-\U00011fff\U0001e900-\U0001efff\U0001f000-\U0001faff]"
)
# Symbols, punctuation and ideographs that have variants, and digits in the frame of a key.
_VARIED = re.compile(
    "[^\\w\\s]|[#*0-9](?=.\u20e3)|[\u2139\u1000-\u109f\u1800-\u18af\u2e80-\u30ff\u3200-\u9fff"
    "\ua840-\ua87f\uf900-\ufaff\U00010ac0-\U00010aff\U00020000-\U0003ffff]",
    re.DOTALL,
)
# Thai to Myanmar, Khmer, Tai, Chinese and Japanese, whose words have no spaces between them.
_UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aad\u2e80-\u30ff\u3400-\u9fff\ua9e0-\ua9ff"
    "\uaa60-\uaadf]"
)
# What a terminal obeys: it may clear, hide or recolour what people see.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Of a region, such as "gbeng" for England.
_FLAG, _REGION = (
    "\U0001f3f4",
    re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"),
)


def as_seen(text: str) -> tuple[str, int]:
    """Return the text as people see it, and how many characters no layout or script explains."""
    text = _CONTROLS.sub("", text)
    if text.isascii():
        return text, 0
    hidden = 0

    def spelled(found: re.Match[str]) -> str:
        nonlocal hidden
        start, end = found.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        kept = _kept(found[0], before, after)
        hidden += _hidden(found[0][len(kept) :], before, after)
        return kept

    return _UNSEEN.sub(spelled, text), hidden


def _kept(run: str, before: str, after: str) -> str:
    """Return how much of the beginning of a run of such characters spells what people see."""
    first = run[0]
    if before == _FLAG and (region := _REGION.match(run)):
        return region[0]
    if first == "\u200b":
        return first if _UNSPACED.match(before) and _UNSPACED.match(after) else ""
    if first in "\u200c\u200d":
        return first if _JOINED.match(before) or _JOINED.match(after) else ""
    if before and _SELECTOR.match(first) and _VARIED.match(before + first + after):
        return run[: 2 if run[1:] == "\u200d" else 1]  # an emoji that is joined to another
    return ""


def _hidden(run: str, before: str, after: str) -> int:
    """Return how many of them may have been put there to hide something."""
    if len(run) > _MOST_IN_A_ROW:
        return len(run)
    is_in_word = before.isalnum() and after.isalnum() and not _UNSPACED.match(before)
    return len(_NEVER_NEEDED.findall(run)) + is_in_word * len(_PARTS_WORDS.findall(run))
