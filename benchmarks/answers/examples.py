"""Ten questions in full: what was found before, what is answered now, and the pages."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.answers.given import Given
from benchmarks.answers.questions import Question
from benchmarks.answers.ways import BARE
from stackroom.tools.texts import scores
from stackroom_evaluation.judging import Shown, first_right, is_right

_ANSWERABLE, _UNANSWERABLE = 8, 2
_TOP = 3
_LETTERS = 320
_BEFORE = 80


def chosen(asked: Sequence[Question]) -> list[Question]:
    """Evenly from the whole list, in its order: nobody picks what looks well."""
    return [
        *_evenly([each for each in asked if not each.unanswerable], _ANSWERABLE),
        *_evenly([each for each in asked if each.unanswerable], _UNANSWERABLE),
    ]


def written(
    questions: Sequence[Question], given: Mapping[str, Mapping[str, Given]], now: str
) -> Iterator[str]:
    """Markdown, a section for each."""
    for question in questions:
        yield f"### {question.question}\n"
        yield f"{_expected(question)}\n"
        for title, way in (("Before: Retrieve as it is", BARE), (f"Now: {now}", now)):
            answer = given[way][question.id]
            yield f"{title} ({_verdict(question, answer)})\n"
            yield from _lines(question, answer.found[:_TOP])
            yield ""


def _evenly(those: Sequence[Question], count: int) -> list[Question]:
    step = max(1, len(those) // count)
    return list(those[step // 2 :: step][:count])


def _expected(question: Question) -> str:
    if question.unanswerable:
        return f"The documents don't answer it: {question.why}"
    spot = question.spots[0]
    pages = ", ".join(map(str, spot.pages))
    where = f"{spot.file}, page {pages}" if pages else spot.file
    return f"Answered in {where}: “{spot.words}”"


def _verdict(question: Question, answer: Given) -> str:
    if answer.is_refused:
        return "no passage: the best score is below the bar"
    if question.unanswerable:
        return f"{len(answer.found)} passages, none of which can answer"
    rank = first_right(question.spots, answer.found)
    return f"the right passage is number {rank}" if rank else "the right passage was not found"


def _lines(question: Question, found: Sequence[Shown]) -> Iterator[str]:
    told = scores([each.score for each in found])
    for rank, (each, score) in enumerate(zip(found, told, strict=True), start=1):
        right = is_right(each, question.spots)
        mark = " **right**" if right else ""
        text = " ".join(each.text.split())
        start = _start(question, text) if right else 0
        stands = ", ".join(filter(None, [f"{_cited(each)}{mark}", score]))
        yield f"{rank}. {stands}: {_excerpt(text, start)}"


def _start(question: Question, text: str) -> int:
    """A little before the quote, if it is there as it was written."""
    openings = (" ".join((spot.words or "").split()[:4]) for spot in question.spots)
    at = max(text.find(opening) for opening in openings)
    return text.rfind(" ", 0, at - _BEFORE) + 1 if at > _BEFORE else 0


def _cited(found: Shown) -> str:
    if found.page is None:
        return f"{found.file}, “{found.section}”" if found.section else found.file
    first, last = found.page_first or found.page, found.page_last or found.page
    reach = f" ({first} to {last})" if first != last else ""
    return f"{found.file}, page {found.page}{reach}"


def _excerpt(text: str, start: int) -> str:
    rest = text[start:]
    cut = rest if len(rest) <= _LETTERS else rest[:_LETTERS].rsplit(" ", 1)[0] + " …"
    # Markdown's own marks would change how the rest looks.
    plain = "".join(f"\\{letter}" if letter in r"\`*_<>|[]#" else letter for letter in cut)
    return f"… {plain}" if start else plain
