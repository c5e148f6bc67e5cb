"""
What a model has written, kept for a while: whoever comes back to a question reads the answer again
that they have read, and nobody pays for it twice.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock

from cachetools import TTLCache

from stackroom.search.cited_answers import Writer, Written

_MOST = 200  # answers; each is some kilobytes
_SECONDS = 900.0


class KeptAnswers:
    """
    A `Writer` in front of another, within one process. What is kept is known by the question and by
    all that was found for it. So nobody is shown what a search of theirs wouldn't find now, and
    what is new, or deleted, makes another answer.
    """

    def __init__(self, writer: Writer, *, now: Callable[[], float] = time.monotonic) -> None:
        self.writer = writer
        self._kept: TTLCache[str, Written] = TTLCache(_MOST, _SECONDS, timer=now)
        self._lock = Lock()

    def write(self, question: str, passages: Sequence[str]) -> Written:
        told = json.dumps([question, *passages])
        key = hashlib.sha256(told.encode()).hexdigest()
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            kept = self.writer.write(question, passages)  # outside the lock: it takes seconds
            with self._lock:
                # The next time nothing is billed.
                self._kept[key] = replace(kept, input_tokens=0, output_tokens=0)
        return kept
