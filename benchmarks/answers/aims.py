"""What the way that is deployed is held to, on the set that nobody tuned on."""

from benchmarks.answers.citing import citations
from benchmarks.answers.layout import Row
from benchmarks.answers.ranking import ranks
from benchmarks.answers.subject import Subject
from benchmarks.answers.ways import BARE, BY_RETRIEVE
from benchmarks.serving import verdict
from stackroom_evaluation.least_score import MOST_LOST

_TOP_3, _PAGES, _REFUSED = 0.9, 0.99, 0.85


def aims(subject: Subject) -> list[Row]:
    """The first row has the heads."""
    heads = ["of the default", "measured", "aim", ""]
    return [heads, *_ranked(subject), _page(subject), *_refusals(subject), _speed(subject)]


def _ranked(subject: Subject) -> list[Row]:
    given = subject.answered.given
    found = ranks(given[subject.default], subject.asked).measures["at 3"]
    before = ranks(given[BARE], subject.asked).measures["at 3"]
    misses = f"{1 - found:.1%}, before {1 - before:.1%}"
    return [
        _row("right passage in the top 3", f"{found:.1%}", f"{_TOP_3:.0%}", met=found >= _TOP_3),
        _row("misses", misses, "halved", met=1 - found <= (1 - before) / 2),
    ]


def _page(subject: Subject) -> Row:
    told = citations(subject.answered.given[subject.default], subject.asked, subject.pages)
    right = told.most / told.passages
    return _row("page right", f"{right:.1%}", f"{_PAGES:.0%}", met=right >= _PAGES)


def _refusals(subject: Subject) -> list[Row]:
    refused = subject.refused(subject.default)
    unanswerable, answerable = subject.ids(unanswerable=True), subject.ids(unanswerable=False)
    right = len(refused & unanswerable) / len(unanswerable)
    lost = len(refused & answerable) / len(answerable)
    at_most = f"at most {MOST_LOST:.0%}"
    return [
        _row("unanswerable refused", f"{right:.1%}", f"{_REFUSED:.0%}", met=right >= _REFUSED),
        _row("answerable lost", f"{lost:.1%}", at_most, met=lost <= MOST_LOST),
    ]


def _speed(subject: Subject) -> Row:
    now, through_retrieve = subject.p50(subject.default), subject.p50(BY_RETRIEVE)
    aim = f"no slower than through Retrieve, {through_retrieve:.1f}"
    return _row("p50, milliseconds", f"{now:.1f}", aim, met=now <= through_retrieve)


def _row(what: str, measured: str, aim: str, *, met: bool) -> Row:
    return [what, measured, aim, verdict(met)]
