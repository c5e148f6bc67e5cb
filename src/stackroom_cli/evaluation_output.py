"""The output of `stackroom evaluate`, for people and for programs."""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from rich.markup import escape

from stackroom.tools.texts import counted, scores
from stackroom_cli.json_output import JsonAnswer
from stackroom_cli.output import TerminalConsole
from stackroom_cli.untrusted_text import one_line
from stackroom_evaluation.comparing import PairedDifference, RunComparison
from stackroom_evaluation.evaluation import MEASURES, Evaluation, QuestionOutcome
from stackroom_evaluation.least_score import MOST_LOST, BestScores, confidence_interval

_INSTEAD = 3  # passages shown for a miss
_LETTERS = 90  # of each of them

# What programs read.


class InsteadTold(JsonAnswer):
    file: str
    page: int | None
    score: float
    text: Annotated[str, Field(description="the beginning of the passage")]


class MissTold(JsonAnswer):
    question: str
    rank: Annotated[
        int | None, Field(description="rank of the right passage; null if it was not found")
    ]
    file: Annotated[
        str | None, Field(description="file that answers the question; null if none does")
    ]
    shown: Annotated[list[InsteadTold], Field(description="the first three passages found")]


class ComparedTold(JsonAnswer):
    """A paired comparison of two runs, or of a run and plain Retrieve, over common questions."""

    measure: Annotated[str, Field(description="name of a measure, as in `figures`")]
    questions: int
    before: Annotated[float, Field(description="the value of the named run, or of plain Retrieve")]
    after: float
    low: Annotated[
        float, Field(description="lower end of the difference's 95 % interval; `high` is the upper")
    ]
    high: float
    chance: Annotated[
        float, Field(description="probability that chance makes as large a difference")
    ]
    noise: Annotated[bool, Field(description="whether `chance` exceeds one in twenty")]


class BarTold(JsonAnswer):
    """The suggested minimum score of passages, with `--calibrate`; 0 if no score is worth it."""

    least_score: float
    unanswerable_nothing: Annotated[
        float, Field(description="share of unanswerable questions that find nothing, 0 to 1")
    ]
    answerable_lost: Annotated[
        float,
        Field(description="share of answerable questions that lose every right passage, 0 to 1"),
    ]
    context: Annotated[str, Field(description="the CDK context that deploys it, after `-c`")]


class GateTold(JsonAnswer):
    measure: Annotated[str, Field(description="name of a measure, as in `figures`")]
    threshold: Annotated[float, Field(description="in percent for shares")]
    measured: Annotated[
        float | None, Field(description="in the same unit; null if it can't be measured")
    ]
    passed: bool


class EvaluateAnswer(JsonAnswer):
    answerable: Annotated[int, Field(description="number of questions that have an answer")]
    unanswerable: int
    unaccepted: Annotated[
        int, Field(description="number of questions left out because nobody accepted them")
    ]
    figures: Annotated[
        dict[str, float | None],
        Field(
            description="`top1`, `top3`, `top5`, `top10`, `mrr`, `nothing`, `answerable_weak`,"
            " `unanswerable_weak`, `pages`: 0 to 1; `p50`: seconds; null if no question applies"
        ),
    ]
    plain: Annotated[
        list[ComparedTold],
        Field(description="`top1` to `top10` of plain Retrieve (`before`) and of this run"),
    ]
    not_compared: Annotated[
        str | None, Field(description="why plain Retrieve could not be asked, or null")
    ]
    misses: list[MissTold]
    compared: Annotated[list[ComparedTold], Field(description="with `--compare`")]
    bar: BarTold | None
    gates: list[GateTold]


# What people read.


def print_evaluation(
    out: TerminalConsole,
    evaluation: Evaluation,
    left_out: int,
    *,
    beside: Sequence[PairedDifference] = (),
    why_not: str | None = None,
) -> None:
    """
    Print an evaluation.

    `beside` is the comparison with plain Retrieve, and `why_not` the reason if there is none.
    """
    values, figures = evaluation.values(), evaluation.figures()
    unanswerable = sum(not each.is_answerable for each in evaluation.outcomes)
    answerable = len(evaluation.outcomes) - unanswerable
    misses = [each for each in evaluation.outcomes if each.is_miss]
    for each in misses:
        _print_miss(out, each)
    out.print(
        f"{counted(answerable, 'question')} with an answer, {unanswerable} without,"
        f" {_where(evaluation)}",
        markup=False,
    )
    if left_out:
        out.print(f"left out: {left_out} not accepted; use --unaccepted to ask them, too")
    width = max(len(each.title) for each in MEASURES.values())
    plain = {each.measure: f"  plain Retrieve {_beside(each)}" for each in beside}
    for name, measure in MEASURES.items():
        figure = _figure(name, figures[name])
        of = f"  {sum(values[name].values()):.0f} of {len(values[name])}"
        of = of if measure.is_percent else ""
        out.print(f"  {measure.title:{width}}  {figure:>7}{of}{plain.get(name, '')}")
    if why_not is not None:
        out.print(f"not compared with plain Retrieve: {why_not}", markup=False)


def _beside(each: PairedDifference) -> str:
    verdict = "may be chance" if each.is_noise else "significant"
    same = not each.difference
    return _figure(each.measure, each.before) + (", the same" if same else f", {verdict}")


def _where(evaluation: Evaluation) -> str:
    """Describe the catalog, the site and the options of an evaluation."""
    set_to = "".join(f", {name}={json.dumps(each)}" for name, each in evaluation.options.items())
    return one_line(f"in {evaluation.catalog!r} of {evaluation.site}{set_to}")


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:.1%}" if MEASURES[name].is_percent else f"{value:.3f}"


def _print_miss(out: TerminalConsole, outcome: QuestionOutcome) -> None:
    out.print(f"[bold]{escape(one_line(outcome.question))}[/bold]")
    out.print(f"  {escape(_expected(outcome))}")
    instead = outcome.shown[:_INSTEAD]
    for rank, (each, score) in enumerate(
        zip(instead, scores([each.score for each in instead]), strict=True), start=1
    ):
        page = "" if each.page is None else f"page {each.page}"
        stands = ", ".join(filter(None, (each.file, page, score)))
        out.print(f"  {rank}. {escape(one_line(f'{stands}: {each.text[:_LETTERS]}'))}")
    out.print()


def _expected(outcome: QuestionOutcome) -> str:
    if not outcome.is_answerable:
        return f"unanswerable, but {counted(len(outcome.shown), 'passage')} came as strong:"
    place = outcome.places[0]
    page = "" if place.page is None else f", page {place.page}"
    words = "" if place.words is None else f": “{place.words[:_LETTERS]}”"
    came = "it came as number {rank}, after:" if outcome.rank else "found instead:"
    if not outcome.shown:
        came = "nothing was found"
    return one_line(f"answered in {place.file}{page}{words}; {came.format(rank=outcome.rank)}")


def print_compared(out: TerminalConsole, compares: RunComparison, before: Evaluation) -> None:
    heading = f"\ncompared with the run of {before.began.date()}, {_where(before)}:"
    out.print(heading, markup=False)
    for each in compares.differences:
        out.print(f"  {_compared_line(each)}")
    if compares.alone:
        out.print(f"left out: {counted(compares.alone, 'question')} of only one run")


def _compared_line(each: PairedDifference) -> str:
    before, after = (_figure(each.measure, value) for value in (each.before, each.after))
    scale, unit = (100, " points") if MEASURES[each.measure].is_percent else (1, "")
    digits = 1 if unit else 3
    low, high = (f"{scale * value:+.{digits}f}" for value in (each.low, each.high))
    change = f"{MEASURES[each.measure].title}: {before} -> {after}"
    if not each.difference and each.low == each.high:
        return f"{change}: the same for each question"
    verdict = (
        f"noise with {counted(each.questions, 'question')}" if each.is_noise else "significant"
    )
    return f"{change} (95 % interval {low} to {high}{unit}, p {each.chance:.3f}): {verdict}"


def print_bar(out: TerminalConsole, found: BestScores, *, is_far: bool = False) -> None:
    """
    Print the suggested least score.

    `is_far` says that every question without an answer is a draft's, far from any document.
    """
    if not found.least:
        out.print(
            f"\nno minimum score is worth it: each loses more than {MOST_LOST:.0%} of answers, or"
            " empties none"
        )
        return
    out.print(f"\nsuggested minimum score: {found.least:g}; passages that score less are left out")
    for label, count, those in (
        ("unanswerable questions without passages", found.emptied, found.unanswerable),
        ("answerable questions that lose every right passage", found.lost, found.right),
    ):
        low, high = confidence_interval(count, len(those))
        others = f"95 % interval {low:.0%} to {high:.0%}"
        out.print(f"  {label}: {count} of {len(those)}, {count / len(those):.0%}; {others}")
    out.print(f'  on AWS:  make deploy ARGS="-c retrieve_least_score={found.least:g}"')
    out.print(
        f"  here:    stackroom down, then at each start stackroom up --least-score {found.least:g}"
    )
    if is_far:
        out.print(
            "  all unanswerable questions are the draft's, far from any document, so this score"
            " says nothing about questions closer to yours; add some"
        )


# An evaluation as programs read it.


def evaluate_answer(
    evaluation: Evaluation,
    left_out: int,
    *,
    beside: Sequence[PairedDifference],
    why_not: str | None,
    compares: RunComparison | None,
    bar: BestScores | None,
    gates: list[GateTold],
) -> EvaluateAnswer:
    unanswerable = sum(not each.is_answerable for each in evaluation.outcomes)
    return EvaluateAnswer(
        answerable=len(evaluation.outcomes) - unanswerable,
        unanswerable=unanswerable,
        unaccepted=left_out,
        figures=evaluation.figures(),
        plain=[_difference(each) for each in beside],
        not_compared=why_not,
        misses=[_miss(each) for each in evaluation.outcomes if each.is_miss],
        compared=[_difference(each) for each in compares.differences] if compares else [],
        bar=None if bar is None else _bar(bar),
        gates=gates,
    )


def _miss(outcome: QuestionOutcome) -> MissTold:
    return MissTold(
        question=outcome.question,
        rank=outcome.rank,
        file=outcome.places[0].file if outcome.places else None,
        shown=[InsteadTold.model_validate(each) for each in outcome.shown[:_INSTEAD]],
    )


def _difference(each: PairedDifference) -> ComparedTold:
    return ComparedTold(**vars(each), noise=each.is_noise)


def _bar(found: BestScores) -> BarTold:
    return BarTold(
        least_score=found.least,
        unanswerable_nothing=found.emptied / len(found.unanswerable),
        answerable_lost=found.lost / len(found.right) if found.right else 0.0,
        context=f"retrieve_least_score={found.least:g}",
    )


def standing_of(gate: GateTold) -> str:
    measured = "not measured" if gate.measured is None else f"{gate.measured:.4g}"
    than = "at least" if MEASURES[gate.measure].is_minimum else "at most"
    return f"{gate.measure} is {measured}, required: {than} {gate.threshold:g}"
