"""What `make bench-answers` asks, and how it judges: figures are only as good as these."""

import json
from pathlib import Path

import pytest

from benchmarks.answers.corpus import documents
from benchmarks.answers.given import Found, Given
from benchmarks.answers.judging import Pages, is_right
from benchmarks.answers.questions import Question, questions
from benchmarks.answers.ranking import ranks
from benchmarks.answers.refusal import Evidences
from benchmarks.serving import NotMeasured
from stackroom.inspection.extraction import Page
from stackroom.ports.retrieval import Search
from stackroom.retrieval.weighing import Weighed

QUOTE = "the pump must be bled before it is started again"
QUESTION = Question(
    id="pump-1",
    set="tune",
    question="What must I do before I start the pump again?",
    document="pump",
    pages=(3,),
    quote=QUOTE,
)
UNANSWERABLE = Question(
    id="far-1", set="tune", question="Who won?", unanswerable=True, kind="far", why="sports"
)


def test_a_line_that_is_no_question_is_named_and_so_is_an_id_that_is_used_twice(
    tmp_path: Path,
) -> None:
    line = UNANSWERABLE.model_dump_json(exclude_defaults=True)
    (tmp_path / "twice.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(NotMeasured, match="far-1"):
        questions(tmp_path)

    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "set": "tune", "question": "?"}))
    with pytest.raises(NotMeasured, match=r"a\.jsonl:1"):
        questions(tmp_path)


@pytest.mark.parametrize(
    ("text", "document", "right"),
    [
        ("Mind that the pump\nmust be bled be-\nfore it is started again.", "pump", True),
        ("pump must be bled before it is started again, and only then", "pump", True),
        (f"Mind that {QUOTE}.", "valve", False),
        ("The pump is started again. Before, it must be bled.", "pump", False),
        ("the pump must be", "pump", False),
    ],
    ids=["broken lines", "cut", "another document", "another order", "a part"],
)
def test_a_passage_is_right_that_has_most_of_the_quote(
    text: str, document: str, right: bool
) -> None:
    assert is_right(text, document, QUESTION) is right


def test_a_question_whose_answer_nobody_finds_counts_as_missed() -> None:
    lost = QUESTION.model_copy(update={"id": "pump-2"})
    right, wrong = Found(text=QUOTE, document="pump"), Found(text="other", document="pump")
    given = {"pump-1": Given(found=(wrong, right)), "pump-2": Given(found=(wrong,))}

    found = ranks(given, [QUESTION, lost, UNANSWERABLE])

    assert found.measures == {"at 1": 0.0, "at 3": 0.5, "at 5": 0.5, "MRR": 0.25}
    assert found.first == {"pump-1": 2, "pump-2": None}


def test_the_page_with_most_of_a_passage_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    header = "A Manual of Pumps and Valves, Release 4"
    texts = [f"{header} {part}" for part in (_sentences("valve"), _sentences("pump"))]
    pages = [Page(number=number, text=text) for number, text in enumerate(texts, start=1)]
    monkeypatch.setattr("benchmarks.answers.judging.pages_of", lambda _document: tuple(pages))
    manual = Pages(documents()[0])
    over_the_end = texts[0][-60:] + "\n" + texts[1][:300]

    assert manual.most_of(texts[0]) == {1}
    assert manual.most_of(over_the_end) == {2}
    assert manual.most_of("nothing of the kind stands anywhere") == frozenset()


def _sentences(what: str) -> str:
    return " ".join(f"The {what} of size {size} is for pipe {size + 7}." for size in range(20))


def test_the_best_threshold_refuses_most_and_loses_what_is_allowed() -> None:
    shown = Evidences(
        search=Search.HYBRID,
        answerable=[_evidence(0.35), *([_evidence(0.7)] * 39)],
        unanswerable=[_evidence(each) for each in (0.2, 0.3, 0.4, 0.72, 0.8)],
    )

    at = shown.at(shown.best)

    assert 0.4 < at.least[Search.HYBRID] < 0.7
    assert shown.refused(at) == 0.6
    assert shown.lost(at) == 1 / 40
    assert shown.auc == pytest.approx((39 * 3 + 2) / 200)


def _evidence(best: float) -> Weighed:
    return Weighed(passages=(), best=best)
