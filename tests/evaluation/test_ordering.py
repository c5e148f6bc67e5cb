"""Tests of an evaluation's options, files and costs."""

import io
from pathlib import Path

import pytest
import typer

from simulator.tests.chat_endpoint import chat_endpoint
from stackroom.model.prices import PRICES
from stackroom_cli import evaluations
from stackroom_cli.callers import Asker
from stackroom_cli.evaluations import EvaluationOrder, Gate
from stackroom_cli.failures import WrongUsage
from stackroom_cli.output import create_output
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion
from stackroom_evaluation.spending import spending
from tests.evaluation.answering import evaluated
from tests.local.running import ON_AWS, an_instance

QUESTIONS = [KnownQuestion(question=f"question {each}?", nothing=True) for each in range(30)]


def test_cost_on_aws_is_printed_before_anything_is_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asker = Asker(site=ON_AWS, user=None)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))

    with pytest.raises(typer.Abort):
        evaluations._confirm(asker, QUESTIONS, EvaluationOrder(options={}, calibrates=True))
    evaluations._confirm(asker, QUESTIONS, EvaluationOrder(options={}, is_confirmed=True))

    printed = capsys.readouterr()
    assert printed.out.strip() == ""
    assert (
        "30 questions, 90 calls of the tool and of Retrieve on deployment 'prod' in eu-west-1"
        in printed.err
    )
    assert "about $0.0037; $0.09 more with a reranking model" in printed.err


def test_cost_doubles_with_the_calls_and_every_price_has_its_source() -> None:
    once, twice = (spending(["How many days?"], times=each) for each in (1, 2))

    assert twice.dollars == pytest.approx(2 * once.dollars)
    assert all("https://" in each.source for each in PRICES.values())


@pytest.mark.parametrize(
    ("typed", "figures", "passed", "measured"),
    [
        ("top3=90", {"top3": 0.9}, True, 90),
        ("top3=90", {"top3": 0.89}, False, 89),
        ("top3=90", {"top3": None}, False, None),
        ("nothing=3", {"nothing": 0.04}, False, 4),
        ("mrr=0.7", {"mrr": 0.71}, True, 0.71),
    ],
)
def test_gate_compares_a_figure_with_a_number(
    typed: str, figures: dict[str, float | None], passed: bool, measured: float | None
) -> None:
    result = Gate.of(typed).check(figures)

    assert result.passed is passed
    assert result.measured == (None if measured is None else pytest.approx(measured))


@pytest.mark.parametrize("typed", ["top3", "top4=3", "top3=nan"])
def test_invalid_gate_is_refused_with_the_allowed_form(typed: str) -> None:
    with pytest.raises(WrongUsage, match="a measure of top1, top3, top5"):
        Gate.of(typed)


def test_settings_are_arguments_of_the_tool() -> None:
    assert evaluations.options_of(["min_score=0.3", "prioritize_by=recency"]) == {
        "min_score": 0.3,
        "prioritize_by": "recency",
    }
    assert evaluations.options_of(['filter={"year": 2024}']) == {"filter": {"year": 2024}}


@pytest.mark.processes
def test_draft_is_written_by_the_locally_configured_model_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with chat_endpoint() as endpoint:
        monkeypatch.setenv("STACKROOM_OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("STACKROOM_OPENAI_MODEL", "scribe")
        endpoint.says = "Who keeps the keys?"
        model = evaluations._model(Asker(site=an_instance(tmp_path), user="alice"))

        assert model is not None
        assert model("Ask for the porter.") == "Who keeps the keys?"
        assert endpoint.asked[0]["model"] == "scribe"
        assert evaluations._model(Asker(site=ON_AWS, user=None)) is None


@pytest.mark.parametrize("name", ["questions.jsonl", "questions.jsonl/run"])
def test_unwritable_folder_is_refused_before_any_question(tmp_path: Path, name: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(QUESTIONS[0].line)
    order = EvaluationOrder(options={}, out=tmp_path / name)

    with pytest.raises(EvaluationError, match=f"{name} can't be written"):
        evaluations.evaluate(
            Asker(site=ON_AWS, user=None), path, order, catalog="books", output=create_output(False)
        )


def test_existing_file_of_the_folder_is_not_overwritten(tmp_path: Path) -> None:
    name = "qrels.txt"
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / name).symlink_to(mine)

    with pytest.raises(EvaluationError, match=f"already has {name}"):
        evaluations._make(tmp_path)

    evaluated({QUESTIONS[0]: []}).write(tmp_path)  # a run without results
    assert mine.read_text() == "mine"


def test_draft_overwrites_nothing_and_names_an_existing_folder(tmp_path: Path) -> None:
    asker = Asker(site=ON_AWS, user=None)

    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    for path in (tmp_path, tmp_path / "link", tmp_path / "nowhere" / "questions.jsonl"):
        with pytest.raises(WrongUsage):
            evaluations.draft(asker, path, catalog="books", count=3, output=create_output(False))
