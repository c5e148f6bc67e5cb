"""Texts of tool calls without invisible or misleading characters."""

import json
import math
import unicodedata
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

# Characters that reorder a line [Unicode Standard Annex 9: explicit formatting characters].
_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_LINES = frozenset("\u2028\u2029")


def is_plain(character: str) -> bool:
    """Return True unless the character is a control character or reorders a line."""
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs") and character not in _BIDIRECTIONAL | _LINES


def _plain(text: Any) -> Any:
    if isinstance(text, str) and not all(is_plain(each) or each in "\t\r\n" for each in text):
        raise ValueError("has a control character, or one that reverses the direction of writing")
    return text


def _one_line(text: Any) -> Any:
    if isinstance(text, str) and not all(map(is_plain, text)):
        raise ValueError(
            "has a line break, a control character, or one that reverses the direction of writing"
        )
    return text


# Texts of arguments; the first may have several lines. They are checked before all else: a limit of
# length behind a validator would be reported as one of "items".
Text = Annotated[str, BeforeValidator(_plain)]
Line = Annotated[str, BeforeValidator(_one_line)]
Id = Annotated[str, Field(max_length=100), BeforeValidator(_one_line)]


# The values that our answers can carry. Python reads more from JSON than JSON can say: `1e999`,
# `NaN`, half of a surrogate pair. Lambda's runtime client ends its process over an answer with any
# of these.


def is_encodable(value: Any) -> bool:
    """Return True if JSON in UTF-8 can express the value."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # UnicodeEncodeError is a ValueError
        return False
    return True


def encodable(value: Any) -> Any:
    """Return the value with U+FFFD for half surrogate pairs, and null for NaN and infinity."""
    return value if is_encodable(value) else _mended(value)


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {_mended(name): _mended(member) for name, member in value.items()}
        case list() | tuple():
            return [_mended(member) for member in value]
        case _:
            return value
