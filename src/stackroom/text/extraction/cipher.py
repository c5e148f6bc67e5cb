"""
Letters that make no words of any language, as a PDF's broken font map gives them.

Known by how often each letter comes, which charset-normalizer compares with some forty languages.
Names, code, parts lists and some languages are like none of them either: so letters must lack
vowels too, or make words when each is moved by as many places of the alphabet.
"""

import re
import unicodedata
from string import ascii_lowercase

from charset_normalizer.cd import coherence_ratio

_WORD = re.compile(r"[^\W\d_]{3,}")
_ENGLISH = re.compile(r"\b(?:the|and|for)\b")
_MOST_ENGLISH = 0.05  # of words, that such may be by chance
_LONG = 200  # characters of a line that is judged by itself
_MOST = 1_500  # letters that are looked at
_FEWEST = 60  # letters of words that differ: a list of links repeats a few
# From so many letters on, what is less like a language than this may be a cipher.
_BOUNDS = ((400, 0.6), (150, 0.5), (60, 0.4))
_PLAINER = 0.2  # by which letters are more like a language when they are moved back
_LEAST_PLAIN = 0.6  # that letters of a language reach
_FEWEST_VOWELS = 0.22  # of the letters of a to z; the languages written with them have a third


def is_cipher(text: str) -> bool:
    """Return True if the words of a text have the letters of no language, and are not few."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text[: 4 * _MOST]))
    text = " ".join(words)[:_MOST].lower()
    if len(_ENGLISH.findall(text)) > _MOST_ENGLISH * len(words):
        return False
    # A form repeats its labels: with how often they come, they are like no language.
    letters = " ".join(dict.fromkeys(words))[:_MOST].lower()
    if len(letters) < _FEWEST:
        return False
    likeness, lacks_vowels = _likeness(letters), _lacks_vowels(letters)
    is_unlike = likeness < next(bound for least, bound in _BOUNDS if len(text) >= least)
    if not (is_unlike or lacks_vowels):
        return False
    least = max(likeness + _PLAINER, _LEAST_PLAIN)
    if any(_likeness(each) >= least for each in _moved(letters)):
        return True
    return is_unlike and lacks_vowels and _is_prose(words)


def _likeness(letters: str) -> float:
    return max((ratio for _, ratio in coherence_ratio(letters)), default=0.0)


def _moved(letters: str) -> list[str]:
    if not any(each in ascii_lowercase for each in letters):
        return []
    return [
        letters.translate(
            str.maketrans(ascii_lowercase, ascii_lowercase[by:] + ascii_lowercase[:by])
        )
        for by in range(1, len(ascii_lowercase))
    ]


def _is_prose(words: list[str]) -> bool:
    """Return False for codes of parts and abbreviations."""
    return 2 * sum(each.islower() or each.istitle() for each in words) > len(words)


def _lacks_vowels(letters: str) -> bool:
    plain = [each for each in unicodedata.normalize("NFD", letters) if each in ascii_lowercase]
    return sum(each in "aeiouy" for each in plain) <= _FEWEST_VOWELS * len(plain)


def without_ciphers(text: str) -> str:
    """Leave out paragraphs that are ciphers: of a page that is one, nothing is left."""
    if is_cipher(text):
        return ""
    lines = text.split("\n")
    kept = [line for line in lines if len(line) < _LONG or not is_cipher(line)]
    return text if len(kept) == len(lines) else "\n".join(kept)
