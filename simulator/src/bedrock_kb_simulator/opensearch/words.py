"""BM25 as Lucene ranks a field of text: rule opensearch.match."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"\w+")
_SATURATION, _LENGTH = 1.2, 0.75  # k1 and b


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def ranked(question: str, texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The score of each text, by its key, that has any of the question's words."""
    counted = {key: Counter(words_of("\n".join(values))) for key, values in texts.items()}
    counted = {key: words for key, words in counted.items() if words}
    if not counted:
        return {}
    average = sum(words.total() for words in counted.values()) / len(counted)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in words_of(question):
        having = [key for key, words in counted.items() if word in words]
        weight = math.log(1 + (len(counted) - len(having) + 0.5) / (len(having) + 0.5))
        for key in having:
            often, length = counted[key][word], counted[key].total() / average
            scores[key] += weight * often / (often + _SATURATION * (1 - _LENGTH + _LENGTH * length))
    return dict(scores)
