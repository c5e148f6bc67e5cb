"""
Letters that make no words of any language, as a PDF's broken font map gives them.

Known by how often each letter comes, which charset-normalizer compares with some forty languages.
Measured on 360 texts of three languages for each length, and on the same texts with their letters
shifted: none of the sound ones falls below the bound of its length.
"""

import re

from charset_normalizer.cd import coherence_ratio

# Of scripts with upper and lower case; codes of parts, and abbreviations, are no words.
_WORD = re.compile(r"[^\W\d_]{3,}")
_LONG = 200  # characters of a line that is judged by itself
_MOST = 1_500  # letters that are looked at
# From so many letters on, what is less like a language than this is a cipher.
_BOUNDS = ((400, 0.6), (150, 0.5), (60, 0.4))


def is_cipher(text: str) -> bool:
    """Whether the words of a text have the letters of no language; False where they are few."""
    words = (each for each in _WORD.findall(text[: 4 * _MOST]) if _is_word(each))
    letters = " ".join(words)[:_MOST]
    bound = next((bound for least, bound in _BOUNDS if len(letters) >= least), None)
    if bound is None:
        return False
    return max((ratio for _, ratio in coherence_ratio(letters)), default=0.0) < bound


def _is_word(token: str) -> bool:
    return token.islower() or token.istitle()


def without_ciphers(text: str) -> str:
    """Leave out paragraphs that are ciphers: of a page that is one, nothing is left."""
    if is_cipher(text):
        return ""
    lines = text.split("\n")
    kept = [line for line in lines if len(line) < _LONG or not is_cipher(line)]
    return text if len(kept) == len(lines) else "\n".join(kept)
