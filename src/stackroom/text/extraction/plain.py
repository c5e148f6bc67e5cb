"""Decode TXT, and whatever else is text, in whatever encoding it was saved."""

import codecs
import re
import unicodedata
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from chardet import detect_all

from stackroom.errors import Unreadable
from stackroom.text.extraction.page import Page, unpaged

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
_UNKNOWN = "the encoding of the file can't be told; save it as UTF-8 text and upload it again"
_SAMPLE_BYTES = 65_536  # enough to tell an encoding by
_ASCII = bytes(range(128))
# What no text has, but for its marks of layout: tab, line, page, backspace, escape.
_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\t\n\v\f\r\b\x1b")
_CONTROL_CHARACTERS = _CONTROLS.decode()
_MOST_NULS = 0.05  # of the bytes of a damaged text in UTF-8; UTF-16 has more, or is no UTF-8 then
_NO_CHARACTERS = {"Cn", "Co", "Cs"}  # unassigned, private, half a pair
_STRANGE = {*_NO_CHARACTERS, "Cc"}
_ACCENT = re.compile(rb"[\x80-\xff]")
# What people's programs saved text in before UTF-8, as the detector calls it; others, those of
# mainframes and of old Macs, are hardly ever met and often taken for one of these.
_OF_TWO_BYTES = ("big5hkscs", "cp932", "cp949", "euc_jis_2004", "gb18030")
_OF_ONE_BYTE = (
    *(f"cp{number}" for number in (*range(1250, 1259), 866, 874)),
    *("iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "koi8-r", "koi8-u"),
)
_OF_LATIN = {"cp1250", "cp1252", "cp1254", "cp1257", "cp1258", "iso8859-2"}
_NAMES = {"big5hkscs": "Big5", "cp932": "Shift_JIS", "cp949": "EUC-KR", "euc_jis_2004": "EUC-JP"}
_WORD = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")
# Of the bytes of words with any above 127. In words of Latin letters most are letters of ASCII; in
# East Asian text every character has one, if not two; a word of another alphabet has no others.
_LEAST_BEYOND_LATIN = 0.45
_MOST_OF_LATIN = 0.6
# Windows-1252 is by far the most common of them: another one has to be the more likely by this.
_MORE_LIKELY = 1.1
# Text of Western Europe is sure where all its letters beyond ASCII belong to one of these languages
# and no other encoding is as likely, not even those of DOS and old Macs.
_WESTERN = tuple(
    map(
        set,
        ("àâæçéèêëîïôùûüœ", "áàâãçéêíóôõúüñ", "àèéìíîïòóùúç", "äöüßéáèëïóê", "äåæéöøü"),
    )
)
_SIGNS = "’‘“”„«»‹›–—…·•°§€£¥©®™´\xa0\xad¿¡ºª¹²³¼½¾×÷±µ¶¬†‡‰"
_OLDER = ("mac-roman", "cp850")  # of old Macs, and of DOS; read so where nothing else fits
_RIVALS = {*_OF_LATIN, "cp437", "cp775", "cp850", "cp852", "iso8859-3", "mac-latin2", "mac-roman"}
_SURE = 1.005  # times as likely as any of those
_AS_LIKELY = 0.8  # as another encoding: what a page says of its own is believed
_CHARSET = re.compile(rb"charset|encoding", re.IGNORECASE)
_C1 = re.compile(r"[\x80-\x9f]")
_NO_WORD = re.compile(
    r"[\x80-\x9f]|[a-zß-ÿ][A-ZÀ-Þ]*[À-ÞŒŠŽŸ]|\w[^\w\s\x00-\x7f’«»“”…–—·]\w|[a-z][†‡‰‹Œ]"
)
_MOST_DAMAGED = 0.25  # of the characters beyond ASCII; in other encodings nearly all are
_MOST_STRANGE = 0.1  # of the characters beyond ASCII
_ISO_2022_JP = b"\x1b$B"


class Decoded(NamedTuple):
    """A decoded text, with a sentence if only its bytes told its encoding, or some are damaged."""

    text: str
    missing: tuple[str, ...] = ()

    @classmethod
    def guessed(cls, text: str, encoding: str) -> "Decoded":
        # The name that editors show: Windows-1251 for Python's cp1251.
        name = encoding.upper().replace("CP125", "Windows-125").replace("_", "-")
        name = _NAMES.get(encoding, name.replace("ISO8859", "ISO-8859"))
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
    Decode UTF-8, or else the encoding that a mark or the bytes indicate. Raises `Unreadable` for a
    binary file.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return Decoded(_strictly(body, encoding))
    sample = body[:_SAMPLE_BYTES]
    if b"\0" in body or len(sample.translate(None, delete=_CONTROLS)) < 0.98 * len(sample):
        return _without_mark(body)
    if _ISO_2022_JP in sample:
        return Decoded.guessed(body.decode("iso2022_jp", errors="replace"), "iso2022_jp")
    text = body.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    if not damaged:
        return Decoded(text)
    sound = sum(not each.isascii() for each in text) - damaged
    if damaged <= _MOST_DAMAGED * sound or damaged == 1 < sound:
        characters = "characters are" if damaged > 1 else "character is"
        return Decoded(text, (f"{damaged} {characters} damaged, and shown as \ufffd",))
    return _guessed(body)


def decode_declared(body: bytes, name: str) -> Decoded:
    """Decode as a page says that it is encoded, unless its bytes say otherwise."""
    found = decode(body)
    if not found.missing:
        return found
    with suppress(ValueError):  # no such encoding, or no character of it
        [codec] = _confidences(_sample(body), [name])
        # Templates say one of these of pages in any encoding.
        is_default = codec in {"ascii", "iso8859-1", "cp1252"}
        text = body.decode("cp1252" if is_default else codec)
        is_sound = not (_NO_WORD if is_default else _C1).search(text)
        if is_sound and (found.text == text or (not is_default and _is_likely(body, codec))):
            return Decoded(text)
    return found


def _is_likely(body: bytes, codec: str) -> bool:
    candidates = _candidates(_sample(body))
    if codec in {*_OF_ONE_BYTE, *_OF_TWO_BYTES} - candidates:
        return False
    if codec in _OF_LATIN:
        return True
    found = _confidences(_sample(body), {*candidates, codec})
    return found.get(codec, 0) >= _AS_LIKELY * max(found.values())


def _sample(body: bytes) -> bytes:
    """Return a part of the body that has characters beyond ASCII, and names no encoding."""
    accent = _ACCENT.search(body)
    begin = max(0, accent.start() - 1_000) if accent else 0
    # The detector would believe it.
    return _CHARSET.sub(b"", body[begin : begin + _SAMPLE_BYTES])


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
    """
    Return True if nearly all bytes are characters in this encoding; a few may be none that exist.
    """
    text = body[:_SAMPLE_BYTES].decode(encoding, errors="replace")
    strange = sum(
        each in _CONTROL_CHARACTERS or unicodedata.category(each) in _NO_CHARACTERS for each in text
    )
    return strange <= 0.05 * len(text)


def _without_mark(body: bytes) -> Decoded:
    """
    Decode UTF-16 in the byte order with more spaces, digits and full stops, unless a few bytes of
    zero in UTF-8 are all that is strange.
    """
    if b"\0" in body and body.rstrip(b"\0").count(b"\0") <= _MOST_NULS * len(body):
        with suppress(Unreadable):
            return Decoded(_strictly(body.replace(b"\0", b""), "utf-8"))
    texts = {each: body[:_SAMPLE_BYTES].decode(each, "replace") for each in _WIDE}
    encoding = max(_WIDE, key=lambda each: len(_COMMON.findall(texts[each])))
    if "\ufffd" in texts[encoding][:-1] or not _COMMON.search(texts[encoding]):
        raise Unreadable(_NOT_TEXT)
    return Decoded.guessed(_strictly(body, encoding), encoding)


_WIDE = ("utf-16-le", "utf-16-be")
_COMMON = re.compile(r"[ \n\r\t0-9.,;\u3000-\u3002\uff0c]")


def _guessed(body: bytes) -> Decoded:
    sample = _sample(body)
    encoding = _likeliest(sample)
    if encoding == "cp1252" and _is_western(sample):
        return Decoded(body.decode(encoding, errors="replace"))
    text = "" if encoding is None else body.decode(encoding, errors="replace")
    others = [each for each in text[:_SAMPLE_BYTES] if not each.isascii()]
    strange = sum(each == "\ufffd" or unicodedata.category(each) in _STRANGE for each in others)
    is_strange = encoding is None or strange > _MOST_STRANGE * len(others)
    if is_strange or (encoding in _OF_LATIN and _NO_WORD.search(text[:_SAMPLE_BYTES])):
        for older in _OLDER:
            if _is_of_one_language(sample.decode(older)):
                return Decoded.guessed(body.decode(older), older)
    if encoding is None or is_strange:
        raise Unreadable(_UNKNOWN)
    # Vietnamese has its tones apart there, and together everywhere else.
    text = unicodedata.normalize("NFC", text) if encoding == "cp1258" else text
    return Decoded.guessed(text, encoding)


def _likeliest(sample: bytes) -> str | None:
    """Return what the detector says of the candidates, but for what Western text is taken for."""
    candidates = _candidates(sample)
    found = _confidences(sample, candidates)
    best = max(found, key=lambda each: found[each], default=None)
    if best in _OF_LATIN and "cp1252" in found:
        is_same = sample.decode(best, "replace") == sample.decode("cp1252", "replace")
        return "cp1252" if is_same or found[best] < _MORE_LIKELY * found["cp1252"] else best
    return best


def _candidates(sample: bytes) -> set[str]:
    # "à" and "é" are words by themselves.
    words = b"".join(word for word in _WORD.findall(sample) if len(word) > 1)
    high = len(words.translate(None, delete=_ASCII))
    if high < _LEAST_BEYOND_LATIN * len(words) or not words:
        return {*_OF_LATIN}
    candidates = {*_OF_ONE_BYTE, *_OF_TWO_BYTES}
    return candidates - _OF_LATIN if high > _MOST_OF_LATIN * len(words) else candidates


def _confidences(sample: bytes, candidates: Collection[str]) -> dict[str, float]:
    found = detect_all(
        sample,
        ignore_threshold=True,
        include_encodings=sorted(candidates),
        no_match_encoding=min(candidates),
        compat_names=False,
    )
    return {str(each["encoding"]): each["confidence"] for each in found if each["encoding"]}


def _is_of_one_language(text: str) -> bool:
    """Return True if the letters beyond ASCII are those of one language of Western Europe."""
    used = {each for each in text.lower() if not each.isascii() and each not in _SIGNS}
    return bool(used) and not _NO_WORD.search(text) and any(used <= each for each in _WESTERN)


def _is_western(sample: bytes) -> bool:
    """Return True if the words are of one Western language in Windows-1252, and in nothing else."""
    text = sample.decode("cp1252", errors="replace")
    if not _is_of_one_language(text):
        return False
    found = _confidences(sample, _RIVALS)
    likely = found.pop("cp1252", 0)
    others = (each for each in found if sample.decode(each, errors="replace") != text)
    return likely >= _SURE * max((found[each] for each in others), default=0)
