"""Words and phrases in a text, as a reader sees them."""

import re
import unicodedata


def folded(text: str) -> str:
    """Without what a reader doesn't see a difference in: case, width, kinds and runs of spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def stands_in(phrase: str, text: str) -> bool:
    """Whole, never within a word; both are folded."""
    if not phrase or phrase not in text:  # most aren't, and a guardrail may have 10,000
        return False
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
