"""Whether the page that is cited is right, by the documents' own pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.answers.corpus import Document
from benchmarks.answers.given import Given
from benchmarks.answers.judging import Pages
from benchmarks.answers.questions import Question
from stackroom_evaluation.judging import is_page_right, is_right


@dataclass(frozen=True, kw_only=True)
class Citations:
    """
    Counts. `passages` of a PDF were shown; `cited` have a page, `most` the one with most of their
    text. Of the `right` passages, those that answer, `reached` span a page that the quote is on.
    """

    passages: int
    cited: int
    most: int
    right: int
    reached: int
    wrong: Sequence[str]  # the first few, for whoever looks why


def citations(
    given: Mapping[str, Given], asked: Sequence[Question], pages: Mapping[str, Pages]
) -> Citations:
    """Of what was shown; not of passages without pages, nor of those in no one place."""
    shown = [(question, found) for question in asked for found in given[question.id].found]
    paged = [
        (question, found, most)
        for question, found in shown
        if found.file in pages and (most := pages[found.file].most_of(found.text))
    ]
    right = [(question, found) for question, found, _ in paged if is_right(found, question.spots)]
    wrong = [
        f"{question.id}: {found.file}, page {found.page} cited, most on {sorted(most)}"
        for question, found, most in paged
        if found.page not in most
    ]
    return Citations(
        passages=len(paged),
        cited=sum(found.page is not None for _, found, _ in paged),
        most=len(paged) - len(wrong),
        right=len(right),
        reached=sum(bool(is_page_right(found, question.spots)) for question, found in right),
        wrong=wrong[:10],
    )


def paged(documents: Iterable[Document]) -> dict[str, Pages]:
    return {each.id: Pages(each) for each in documents if each.name.endswith(".pdf")}
