"""
A person's question, of one catalog or of all: what was found, what was left out, and an answer.

The answer is written from what is shown, so that each of its citations can be looked up there.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import NoResults, RetrievalError
from stackroom.identity import Caller
from stackroom.retrieval.answers import Answering
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.retrieval.cited import CatalogAnswer
from stackroom.retrieval.results import Answer
from stackroom.retrieval.search import Retrieval

_NOTHING_SAYS_SO = "What was found doesn't answer the question."
_TOO_SLOW = (
    "No answer was written in the time that there is for it: ask again, or read what was found."
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """`answer` is None where there is none; then `unanswered` says why, to a person."""

    passages: Answer
    answer: CatalogAnswer | None = None
    unanswered: str = ""


@dataclass(frozen=True, kw_only=True)
class Questions:
    retrieval: Retrieval
    answering: Answering

    def ask(
        self, asked: RetrieveArguments, caller: Caller, *, deadline: Deadline = NO_DEADLINE
    ) -> Found:
        """
        A model that doesn't answer, or not by the deadline, costs nobody the passages. Raises what
        `Retrieval.search` does.
        """
        passages = self.retrieval.search(asked, caller, deadline=deadline)
        if not passages.results:
            return Found(passages=passages, unanswered=_NOTHING_SAYS_SO)
        try:
            answer = _by(deadline, partial(self.answering.written, asked.query, passages))
        except TimeoutError:
            return Found(passages=passages, unanswered=_TOO_SLOW)
        except NoResults:
            return Found(passages=passages, unanswered=_NOTHING_SAYS_SO)
        except RetrievalError as error:
            return Found(passages=passages, unanswered=f"No answer was written: {error}.")
        return Found(passages=passages, answer=answer)


def _by(deadline: Deadline, write: Callable[[], CatalogAnswer]) -> CatalogAnswer:
    """
    Raises TimeoutError for what isn't written by then. It goes on until the model's own timeout,
    and nobody reads it.
    """
    thread = ThreadPoolExecutor(1)
    try:
        left = None if math.isinf(deadline.at) else deadline.left()
        return thread.submit(write).result(timeout=left)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
