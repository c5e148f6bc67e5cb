"""A model that answers as the test has it, in memory."""

from collections.abc import Iterable

from stackroom.errors import Unavailable
from stackroom.filters import Filter
from stackroom.ports.answers import Citation, Generated
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
