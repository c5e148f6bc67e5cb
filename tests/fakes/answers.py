"""Models that answer as the test has it, in memory."""

from collections.abc import Iterable, Sequence

from stackroom.errors import Unavailable
from stackroom.filters import Filter
from stackroom.ports.answers import Citation, Generated, Mark, Written
from stackroom.ports.retrieval import Passage
from tests.fakes.disturbed import Disturbed

UNABLE = "Sorry, I am unable to assist you with this request."  # AWS's words, observed


class FakeAnswers(Disturbed):
    """
    An `Answers` that says what `say` had it learn, piece by piece; else that it is unable to.

    `failure` is raised instead; `asked` are the questions, with filter and limit.
    """

    def __init__(self, *, failure: Unavailable | None = None) -> None:
        self.generated = Generated(text=UNABLE)
        self.asked: list[tuple[str, Filter, int]] = []
        self.failure = failure

    def say(
        self, *pieces: tuple[str, Iterable[Passage]], rest: str = "", guardrail: str = "NONE"
    ) -> None:
        """Each piece is text and what is cited for it; `rest` is said without a citation."""
        text, citations = "", []
        for piece, passages in pieces:
            text += piece
            if cited := tuple(passages):
                citations.append(Citation(end=len(text), passages=cited))
        self.generated = Generated(
            text=text + rest, citations=tuple(citations), guardrail_action=guardrail
        )

    # A002: the port's name
    def generate(self, question: str, filter: Filter, limit: int) -> Generated:  # noqa: A002
        self.asked.append((question, filter, limit))
        if self.failure is not None:
            raise self.failure
        return self.generated


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

    def write(self, question: str, passages: Sequence[str]) -> Written:
        self.asked.append((question, list(passages)))
        if self.failure is not None:
            raise self.failure
        return self.written
