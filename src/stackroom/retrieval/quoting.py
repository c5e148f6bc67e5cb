"""
A model's words, so that nobody can take them for the tool's own.

The model has read documents that anyone may have written, and may repeat what they tell it to. What
a tool says around an answer is a heading, a list of numbered files, and numbers in brackets; a line
of the answer that looks like one of these is set as a quotation.
"""

import re
import unicodedata

_QUOTE = "> "
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_NO_TEXT = {"Cc", "Cf", "Co", "Cs"}  # control, format (bidirectional too), private use, halves
_KEPT = {"\n", "\t", "\u200c", "\u200d"}  # the joiners are part of Persian, of emoji and others
_IMAGE = re.compile(r"!(?=\[)")
_NUMBER = re.compile(r"\[(\s*[0-9]+\s*)\]")

_EMPHASIS = re.compile(r"\*{2,}|_{2,}")
_MARKS = re.compile(r"(?:\s*\[[0-9]+\])+$")
_NO_WORD = re.compile(r"[\W_0-9]+")
_HEADING = re.compile(r"sources?|references?|citations?|basedonyourdocuments|error", re.IGNORECASE)
_OPENING = re.compile(r"\W*(?:sources?|error|based on your documents)\W*:", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[0-9]+\s*[.):]|[-*+•])\s")
_FILE_AT_END = re.compile(r"(?:\.[a-z0-9]{2,5}|\((?:page|section)\b[^)]*\))\W*$", re.IGNORECASE)
_LONGEST_END = 300  # characters of a line that are looked at for a file: a section is no longer


def cleaned(text: str) -> str:
    """
    Without the characters that nobody sees and that turn text around.

    A number in brackets becomes one in parentheses, for brackets are the marks of our citations. An
    image becomes a link: who shows it would fetch it, and tell its address what it is asked to.
    """
    text = _LINE_ENDS.sub("\n", text)
    seen = (each for each in text if each in _KEPT or unicodedata.category(each) not in _NO_TEXT)
    return _IMAGE.sub("", _NUMBER.sub(r"(\1)", "".join(seen)))


def quoted(text: str) -> str:
    """A `cleaned` answer, with citation marks in it or not, none of whose lines is the tool's."""
    return "\n".join(_quoted(line) for line in text.strip().split("\n"))


def _quoted(line: str) -> str:
    # Nothing in bold, in whatever letters it is written: that is what the tool's headings are.
    line = _EMPHASIS.sub("", line).rstrip()
    return _QUOTE + line.lstrip() if _imitates(line) else line


def _imitates(line: str) -> bool:
    plain = _MARKS.sub("", unicodedata.normalize("NFKC", line))
    return (
        _HEADING.fullmatch(_NO_WORD.sub("", plain)) is not None
        or _OPENING.match(plain) is not None
        or (
            _ITEM.match(plain) is not None
            and _FILE_AT_END.search(plain[-_LONGEST_END:]) is not None
        )
    )
