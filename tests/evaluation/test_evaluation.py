"""Tests of an evaluation: its questions, judgements, figures and saved run."""

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from stackroom_evaluation.evaluation import RUN, Evaluation
from stackroom_evaluation.judging import Shown, Spot, is_page_right, is_right
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion
from tests.evaluation.answering import answer, evaluated, passage

LEAVE = KnownQuestion(question="leave?", file="a b.pdf", page=2, words="thirty days of leave")
PAY = KnownQuestion(question="pay?", file="pay.md")
CODE = KnownQuestion(question="code?", file="code.txt", words="the code is 4711")
FAR = KnownQuestion(question="far?", nothing=True)
NEAR = KnownQuestion(question="near?", nothing=True)


@pytest.fixture
def evaluation() -> Evaluation:
    return evaluated(
        {
            LEAVE: [
                passage("Nothing of it.", "a b.pdf", page=1),
                passage("Everybody has thirty days of leave.", "a b.pdf", page=3),
            ],
            PAY: [passage("Pay comes monthly.", "pay.md")],
            CODE: [],
            FAR: [],
            NEAR: [passage("Something.", "pay.md", score=1.5)],
        },
        relevance={LEAVE: "strong", PAY: "weak", NEAR: "strong"},
    )


def test_figures_cover_all_questions(evaluation: Evaluation) -> None:
    figures = evaluation.figures()

    assert figures.pop("p50") is not None
    assert figures == {
        "top1": pytest.approx(1 / 3),
        "top3": pytest.approx(2 / 3),
        "top5": pytest.approx(2 / 3),
        "top10": pytest.approx(2 / 3),
        "mrr": pytest.approx((1 / 2 + 1) / 3),
        "nothing": pytest.approx(1 / 3),
        "answerable_weak": pytest.approx(2 / 3),
        "unanswerable_weak": 1 / 2,
        "pages": 0.0,
    }
    assert [each.question for each in evaluation.outcomes if each.is_miss] == ["code?", "near?"]


def test_plain_retrieve_is_asked_the_answerable_questions(evaluation: Evaluation) -> None:
    asked: list[tuple[str, int]] = []

    def plain(question: str, count: int) -> list[Shown]:
        asked.append((question, count))
        wrong = Shown(text="Nothing.", file="b.md")
        return [*[wrong] * 3, Shown(text="Pay.", file="pay.md")]

    with_plain = evaluation.with_plain_ranks(plain)

    assert asked == [("leave?", 10), ("pay?", 10), ("code?", 10)]
    assert {name: sum(each.values()) for name, each in with_plain.plain_values().items()} == {
        "top1": 0,
        "top3": 0,
        "top5": 1,
        "top10": 1,
    }
    assert (evaluation.has_plain_ranks, with_plain.has_plain_ranks) == (False, True)
    assert with_plain.figures() == evaluation.figures()


def test_written_run_is_read_back_and_scored_by_other_tools(
    evaluation: Evaluation, tmp_path: Path
) -> None:
    evaluation.write(tmp_path)

    # ir-measures has no types for its readers
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))  # type: ignore[no-untyped-call]
    run = list(ir_measures.read_trec_run(str(tmp_path / "run.txt")))  # type: ignore[no-untyped-call]
    measure = ir_measures.Success @ 3
    assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(2 / 3)
    assert Evaluation.read(tmp_path) == Evaluation.read(tmp_path / RUN) == evaluation


@pytest.mark.parametrize(
    "change",
    [
        {"outcomes": []},
        {"figures": {"top1": 1.0}},
        {"outcomes": "twice"},
        {"outcomes.id": "q-1\n2 Q0"},
        {"x" * 1_000_000: 1},
    ],
    ids=lambda change: next(iter(change))[:60],
)
def test_forged_run_is_refused(
    evaluation: Evaluation, tmp_path: Path, change: dict[str, Any]
) -> None:
    evaluation.write(tmp_path)
    run = json.loads((tmp_path / RUN).read_text())
    [(where, value)] = change.items()
    place, _, name = where.rpartition(".")
    outcome = run["outcomes"][0]
    within = {"": run, "outcomes": outcome, "outcomes.shown": outcome["shown"][0]}[place]
    within[name] = 2 * run["outcomes"] if value == "twice" else value
    (tmp_path / RUN).write_text(json.dumps(run))

    with pytest.raises(
        EvaluationError, match="is not a run of `stackroom evaluate --out`"
    ) as error:
        Evaluation.read(tmp_path)

    assert len(str(error.value)) < 500


def test_run_that_is_missing_broken_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom_evaluation.evaluation._LARGEST_RUN", 10)
    (tmp_path / "folder" / RUN).mkdir(parents=True)

    for name, text, message in (
        ("none.json", None, "none.json does not exist; --out DIR saves a run"),
        ("folder", None, "can't be read: Is a directory"),
        ("large.json", "[" * 11, "is larger than the 10 bytes of any run"),
        ("broken.json", "[", "is not a run of `stackroom evaluate --out`: Expecting value"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(EvaluationError, match=message):
            Evaluation.read(tmp_path / name)


def test_throttled_question_is_retried_after_the_given_time() -> None:
    answers = [
        {"success": False, "errorType": "Throttled", "error": "", "metadata": wait, "results": []}
        for wait in ({"retry_after_seconds": 3}, {})
    ]
    answers.append(answer(passage("Pay.", "pay.md")))
    waited: list[float] = []

    found = Evaluation.of(
        [PAY], lambda _: answers.pop(0), catalog="c", site="s", wait=waited.append
    )

    assert (waited, found.figures()["top1"]) == ([3, 2.0], 1.0)


@pytest.mark.parametrize(
    "failed_answer",
    [
        {"success": False, "errorType": "RetrievalFailed", "error": "no store", "metadata": {}},
        answer(failed_knowledge_bases=[{"knowledge_base_id": "KB1", "reason": "busy"}]),
    ],
    ids=["failed", "partly failed"],
)
def test_question_without_an_answer_ends_the_evaluation(failed_answer: dict[str, Any]) -> None:
    with pytest.raises(EvaluationError, match=r"pay\?"):
        Evaluation.of([PAY], lambda _: failed_answer, catalog="c", site="s")


PAGED = Shown(text="It is thirty days of leave.", file="a.pdf", page=2, page_first=1, page_last=3)


@pytest.mark.parametrize(
    ("spot", "right", "page"),
    [
        (Spot("a.pdf"), True, None),
        (Spot("b.pdf"), False, None),
        (Spot("same.pdf", "thirty days"), True, None),
        (Spot("a.pdf", pages=(3,)), True, None),
        (Spot("a.pdf", pages=(4,)), False, None),
        (Spot("a.pdf", "THIRTY  days, of leave", (3,)), True, True),
        (Spot("a.pdf", "thirty days of leave", (4, 5)), True, False),
        (Spot("a.pdf", "It is thirty long days of leave"), True, None),  # one word differs
        (Spot("a.pdf", "leave of days thirty is it"), False, None),
    ],
    ids=str,
)
def test_passage_answers_by_file_page_and_words(spot: Spot, right: bool, page: bool | None) -> None:
    shown = Shown(**{**vars(PAGED), "others": ("same.pdf",)})

    assert (is_right(shown, [spot]), is_page_right(shown, [spot])) == (right, page)
