"""Text as it is compared."""

import re
import unicodedata

_NOT_BARE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """
    Letters and digits alone, in one case, ligatures and full-width forms resolved.

    Lines can be normalised one by one: together they are what the whole text is.
    """
    return _NOT_BARE.sub("", unicodedata.normalize("NFKC", text).casefold())
