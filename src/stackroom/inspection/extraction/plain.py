"""
TXT and CSV: text in whatever encoding it was saved.

A CSV stays as it is written, broken quoting and all: nothing is lost to a parser's opinion.
"""

import codecs
import re
import unicodedata
from typing import NamedTuple

from charset_normalizer import from_bytes

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.page import Page, unpaged

# UTF-32 before UTF-16: the little-endian mark of the first begins with that of the second.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_TEXT = (
    "the file is not text, whatever its name says; save it as UTF-8 text and upload it again"
)
_SAMPLE_BYTES = 65_536  # enough to tell an encoding by; detection reads its input many times over
_ASCII = bytes(range(128))
# What no text has, but for its marks of layout: tab, line, page, backspace, escape.
_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\t\n\v\f\r\b\x1b")
_CONTROL_CHARACTERS = _CONTROLS.decode()
_NO_CHARACTERS = {"Cn", "Co", "Cs"}  # unassigned, private, half a pair
_ACCENT = re.compile(rb"[\x80-\xff]")


class Decoded(NamedTuple):
    """Text, and a sentence on its encoding if nothing but its bytes told it."""

    text: str
    missing: tuple[str, ...] = ()

    @classmethod
    def guessed(cls, text: str, encoding: str) -> "Decoded":
        # The name that editors show: Windows-1251 for Python's cp1251.
        name = encoding.upper().replace("CP125", "Windows-125").replace("_", "-")
        return cls(text, (f"read as {name}, a guess; save it as UTF-8",))


def read(body: bytes) -> tuple[Page, ...]:
    text, missing = lines_of(body)
    return unpaged(text, missing=missing)


def lines_of(body: bytes) -> Decoded:
    """Decode as `decode` does, and end each line by a line feed."""
    text, missing = decode(body)
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), missing)


def decode(body: bytes) -> Decoded:
    """
    Read UTF-8 if it is, else what its mark or bytes tell; raises `Unreadable` for a binary file.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return Decoded(_strictly(body, encoding))
    if b"\0" in body:
        return _without_mark(body)
    sample = body[:_SAMPLE_BYTES]
    if len(sample.translate(None, delete=_CONTROLS)) < 0.98 * len(sample):
        raise Unreadable(_NOT_TEXT)
    text = body.decode("utf-8", errors="replace")
    # A few bad bytes in UTF-8 are damage; in any other encoding nearly every accent is one.
    if text.count("\ufffd") <= 0.05 * len(body.translate(None, delete=_ASCII)):
        return Decoded(text)
    encoding = _guess(body)
    return Decoded.guessed(body.decode(encoding, errors="replace"), encoding)


def _strictly(body: bytes, encoding: str) -> str:
    if not _is_credible(body, encoding):
        raise Unreadable(_NOT_TEXT)
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"the file says it is {encoding.upper()} text but is damaged or cut off; "
            "save it as UTF-8 text and upload it again"
        ) from error


def _is_credible(body: bytes, encoding: str) -> bool:
    """Whether it reads as characters, in the main; other bytes are now and then none that exist."""
    text = body[:_SAMPLE_BYTES].decode(encoding, errors="replace")
    strange = sum(
        each in _CONTROL_CHARACTERS or unicodedata.category(each) in _NO_CHARACTERS for each in text
    )
    return strange <= 0.05 * len(text)


def _without_mark(body: bytes) -> Decoded:
    # Western text in UTF-16 has a zero in nearly every second byte; a binary file has not, or has
    # them in the other half too.
    sample = body[:_SAMPLE_BYTES]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if zeros.count(0) > 0.7 * len(zeros):
            return Decoded.guessed(_strictly(body, encoding), encoding)
    raise Unreadable(_NOT_TEXT)


def _guess(body: bytes) -> str:
    """What the detector says, except that Western text is Windows-1252, which includes Latin-1."""
    accent = _ACCENT.search(body)
    assert accent is not None, "all-ASCII bytes are UTF-8"
    sample = body[max(0, accent.start() - 1_000) : accent.start() + _SAMPLE_BYTES]
    best = from_bytes(sample).best()
    if best is None or (not best.multi_byte_usage and _is_western(sample)):
        return "cp1252"
    return best.encoding


def _is_western(sample: bytes) -> bool:
    # Few accents among plain letters; the detector takes short texts of that kind for Baltic or
    # Icelandic. In Cyrillic, Greek or Hebrew nearly every letter is above 127.
    accented = sum(byte > 127 for byte in sample)
    return accented < 0.4 * (accented + sum(chr(byte).isalpha() for byte in sample if byte < 128))
