"""Models that answer as the test has it, in memory."""

from collections.abc import Sequence

from stackroom.errors import Unavailable
from stackroom.search.cited_answers import Hear, Mark, Written
from tests.fakes.disturbed import Disturbed


class FakeWriter(Disturbed):
    """
    A `Writer` that says what `say` had it learn, piece by piece; else that it doesn't know.

    `failure` is raised instead; `asked` are the questions, with the passages.
    """

    def __init__(self) -> None:
        self.written = Written(text="I do not know.")
        self.asked: list[tuple[str, list[str]]] = []
        self.failure: Unavailable | None = None

    def say(
        self, *pieces: tuple[str, Sequence[int]], rest: str = "", guardrail: str = "NONE"
    ) -> None:
        """Each piece is text and the numbers that it cites; `rest` is said without a citation."""
        text, marks = "", []
        for piece, numbers in pieces:
            text += piece
            marks.append(Mark(end=len(text), numbers=tuple(numbers)))
        self.written = Written(text=text + rest, marks=tuple(marks), guardrail_action=guardrail)

    def write(self, question: str, passages: Sequence[str], *, hear: Hear | None = None) -> Written:
        self.asked.append((question, list(passages)))
        if self.failure is not None:
            raise self.failure
        return self.written
