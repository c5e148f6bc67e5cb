"""
What an answer of ours can carry. Python reads more from JSON than JSON can say: `1e999`, `NaN`,
half of a surrogate pair. Lambda's runtime client ends its process over an answer with any of these.
"""

import json
import math
from typing import Any


def is_encodable(value: Any) -> bool:
    """Whether JSON in UTF-8 can say it."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # UnicodeEncodeError is a ValueError
        return False
    return True


def encodable(value: Any) -> Any:
    """The same, with U+FFFD for each half of a surrogate pair, and null for what is no number."""
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
