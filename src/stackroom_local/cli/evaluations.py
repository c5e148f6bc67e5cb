"""evaluate: how right the answers are, by questions whose answers are known."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bedrock_kb_simulator.conversation_parts import Conversation, Text, Turn
from bedrock_kb_simulator.model_endpoint import (
    EndpointFailed,
    MalformedToolUse,
    Misconfigured,
    ModelEndpoint,
)
from stackroom.documents.model import DocumentStatus
from stackroom.errors import StackroomError
from stackroom.inspection.extraction import Page
from stackroom.inspection.extraction.apart import read_pages_apart
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE, RetrieveArguments
from stackroom.tools.texts import counted, scores
from stackroom_client.answers import Document as FoundDocument
from stackroom_client.calls import SEARCH
from stackroom_client.errors import StackroomError as ClientError
from stackroom_evaluation.comparing import PairedDifference, RunsCompared, compared
from stackroom_evaluation.drafting import FAR, Model, drafted
from stackroom_evaluation.evaluation import MEASURES, Evaluation, QuestionOutcome, Retrieve
from stackroom_evaluation.least_score import MOST_LOST, FoundBar, calibrated, sure
from stackroom_evaluation.question_file import (
    TOLD,
    EvaluationError,
    KnownQuestion,
    QuestionsWrong,
    read,
    unwritten,
)
from stackroom_evaluation.spending import spending
from stackroom_local.cli.callers import Asker
from stackroom_local.cli.document_lookup import did_you_mean, downloaded
from stackroom_local.cli.failures import WrongUsage
from stackroom_local.cli.json_output import (
    BarTold,
    ComparedTold,
    DraftAnswer,
    EvaluateAnswer,
    GateTold,
    InsteadTold,
    MissTold,
)
from stackroom_local.cli.kept_questions import require_new, write_new
from stackroom_local.cli.output import Output, TerminalConsole
from stackroom_local.cli.untrusted_text import one_line
from stackroom_local.servers import MODEL_PREFIX
from stackroom_local.sites.site import AwsSite

_INSTEAD = 3  # passages told of a miss
_LETTERS = 90  # of each of them
_DRAFTED_FROM = 20  # documents, evenly from the catalog: each is downloaded
_READ_SECONDS = 60.0


class GateMissed(EvaluationError):
    pass


@dataclass(frozen=True)
class Gate:
    """As somebody types it: `top3=90` is at least 90 %, `lost=3` at most 3 %."""

    measure: str
    threshold: float

    @classmethod
    def of(cls, typed: str) -> Self:
        name, _, number = typed.partition("=")
        with suppress(ValueError):
            if name in MEASURES and math.isfinite(float(number)):
                if MEASURES[name].is_percent and MEASURES[name].is_least and 0 < float(number) < 1:
                    percent = f"{100 * float(number):g}"
                    raise WrongUsage(f"--gate {typed!r}: in percent: --gate {name}={percent}")
                return cls(name, float(number))
        raise WrongUsage(f"--gate {typed!r}: allowed: NUMBER behind {'=, '.join(MEASURES)}=")

    def told(self, figures: Mapping[str, float | None]) -> GateTold:
        """What nothing was measured of is not passed."""
        figure, measure = figures[self.measure], MEASURES[self.measure]
        scale = 100 if measure.is_percent else 1
        value = None if figure is None else round(figure * scale, 9)  # 0.29 is 29 %, and no less
        passed = value is not None and (
            value >= self.threshold if measure.is_least else value <= self.threshold
        )
        return GateTold(
            measure=self.measure, threshold=self.threshold, measured=value, passed=passed
        )


@dataclass(frozen=True, kw_only=True)
class EvaluationOrder:
    """What somebody wants of an evaluation, beside its figures."""

    options: Mapping[str, Any]
    gates: Sequence[Gate] = ()
    compare: Path | None = None
    calibrates: bool = False
    out: Path | None = None
    takes_unaccepted: bool = False
    is_confirmed: bool = False


def options_of(typed: Sequence[str]) -> dict[str, Any]:
    """Of `min_score=0.3` and such: arguments of the tool, checked as the tool checks them."""
    allowed = RetrieveArguments.model_fields.keys() - {"query", "catalog_id"}
    options: dict[str, Any] = {}
    for each in typed:
        name, is_there, value = each.partition("=")
        if name not in allowed or not is_there:
            told = ", ".join(f"{one}=" for one in sorted(allowed))
            raise WrongUsage(f"--with {each!r}: allowed: a value behind {told}")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value  # a text may stand there without quotes
    KNOWLEDGE_BASE_RETRIEVE.parse({**options, "query": "a question"})
    return options


def evaluate(
    asker: Asker, path: Path, order: EvaluationOrder, *, catalog: str, told: Output
) -> None:
    """Raises EvaluationError if something kept it from being measured, GateMissed by a gate."""
    read_questions = read(path)
    before = None if order.compare is None else Evaluation.read(order.compare)
    if order.out is not None:
        _make(order.out)
    chosen = _accepted(path, read_questions, order)
    _require_indexed(path, chosen, asker, catalog)
    questions = list(chosen.values())
    _confirm(asker, questions, order)
    retrieve = _tool(asker, catalog)
    with _progress(told.people, "asking", len(questions)) as progress:
        evaluation = Evaluation.of(
            questions,
            retrieve,
            catalog=catalog,
            site=asker.site.told,
            options=order.options,
            told=progress,
        )
    unkept = _kept(evaluation, order.out)
    bar = None
    if order.calibrates:
        with _progress(told.people, "without a bar", len(questions)) as progress:
            bar = calibrated(questions, retrieve, order.options, told=progress)
    figures = evaluation.figures()
    compares = None if before is None else compared(before, evaluation)
    gates = [each.told(figures) for each in order.gates]
    left_out = len(read_questions) - len(chosen)
    _print(told.people, evaluation, left_out)
    if compares is not None:
        assert before is not None, "it is compared with"
        _print_compared(told.people, compares, before)
    if bar is not None:
        _print_bar(told.people, bar)
        if {each.question for each in questions if each.nothing} <= set(FAR):
            told.people.print(
                "  all questions without an answer are the draft's, far from any document: this bar"
                " says nothing of those that are near to yours; add some"
            )
    for gate in gates:
        told.people.print(f"gate {'passed' if gate.passed else 'missed'}: {_stands(gate)}")
    if order.out is not None and unkept is None:
        told.people.print(f"\nwritten to {order.out}: {', '.join(Evaluation.FILES)}", markup=False)
    told.answer(_answer(evaluation, left_out, compares, bar, gates))
    if unkept is not None:
        raise unkept
    if missed := [each for each in gates if not each.passed]:
        raise GateMissed(f"gates missed: {', '.join(map(_stands, missed))}")


def draft(asker: Asker, path: Path, *, catalog: str, count: int, told: Output) -> None:
    """Writes a new file. What can't be read of the catalog is told, and left out."""
    require_new(path)
    if not path.parent.is_dir():
        raise WrongUsage(f"there is no folder {path.parent}")
    catalog_id = asker.catalog_id(catalog)
    indexed = [
        each
        for each in asker.client.documents(catalog_id)
        if each.indexing_status == DocumentStatus.INDEXED
    ]
    step = max(1, len(indexed) // _DRAFTED_FROM)
    documents: dict[str, tuple[Page, ...]] = {}
    for each in indexed[::step][:_DRAFTED_FROM]:
        try:
            documents[each.filename] = _read(asker, each)
        except (StackroomError, ClientError) as error:
            told.people.print(f"left out: {one_line(f'{each.filename}: {error}')}", markup=False)
    found = drafted(documents, count=count, model=_model(asker))
    if not found:
        raise EvaluationError(f"no sentence of {catalog!r} could be asked for")
    write_new(path, found)
    told.people.print(
        f"{counted(len(found), 'question')} from {counted(len(documents), 'document')} stand in"
        f' {path}, none of them accepted. Read each, say it in your own words, set "accepted" to'
        " true, and add some that your documents don't answer; then: stackroom evaluate",
        markup=False,
    )
    told.answer(
        DraftAnswer(path=one_line(str(path)), questions=len(found), documents=list(documents))
    )


def _model(asker: Asker) -> Model | None:
    """That answers in the local mode, where one is named; what a deployment has goes to none."""
    if isinstance(asker.site, AwsSite):
        return None
    try:
        endpoint = ModelEndpoint.of(os.environ, MODEL_PREFIX)
    except Misconfigured as error:
        raise WrongUsage(str(error)) from None
    if endpoint is None:
        return None

    def say(prompt: str) -> str:
        turn = Turn(role="user", blocks=[Text(text=prompt)])
        try:
            said = endpoint.complete(Conversation(model=endpoint.model, prompt="", turns=[turn]))
        except (EndpointFailed, MalformedToolUse) as error:
            raise EvaluationError(f"the model {endpoint.model!r} {error}") from None
        return said.text

    return say


def _read(asker: Asker, document: FoundDocument) -> tuple[Page, ...]:
    body = downloaded(asker, document)
    pages = read_pages_apart(body, document.filename, seconds=_READ_SECONDS)
    if pages is None:
        raise EvaluationError(f"it could not be read in {_READ_SECONDS:g} s")
    return pages


def _make(folder: Path) -> None:
    """Before anything is asked, and paid for. What lies there stays: it is somebody's, or a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise unwritten(folder, error) from error
    if there := [name for name in Evaluation.FILES if os.path.lexists(folder / name)]:
        raise EvaluationError(f"{folder} has {', '.join(there)} already; name another folder")


def _kept(evaluation: Evaluation, folder: Path | None) -> EvaluationError | None:
    """Why it could not be written: what was asked is told all the same."""
    try:
        if folder is not None:
            evaluation.write(folder)
    except EvaluationError as error:
        return error
    return None


def _accepted(
    path: Path, found: Mapping[int, KnownQuestion], order: EvaluationOrder
) -> dict[int, KnownQuestion]:
    chosen = {
        line: each
        for line, each in found.items()
        if each.accepted or (order.takes_unaccepted and not each.is_open)
    }
    if not chosen:
        raise EvaluationError(
            f"{path}: nobody has accepted any of its {counted(len(found), 'question')}: read them,"
            ' set "accepted" to true where one is good, or ask them all with --unaccepted'
        )
    return chosen


def _require_indexed(
    path: Path, questions: Mapping[int, KnownQuestion], asker: Asker, catalog: str
) -> None:
    """A question about a file that nothing is found of would measure nothing of the answers."""
    files = {
        each.filename: DocumentStatus(each.indexing_status)
        for each in asker.client.documents(asker.catalog_id(catalog))
    }
    wrong = [
        (line, place.file)
        for line, question in questions.items()
        for place in question.places
        if files.get(place.file) is not DocumentStatus.INDEXED
    ]
    if wrong:
        # To look for a name that is alike takes its time: only of those that are told.
        told = [f"line {line}: {_not_there(file, files)}" for line, file in wrong[:TOLD]]
        raise QuestionsWrong(path, told, len(wrong))


def _not_there(file: str, files: Mapping[str, DocumentStatus]) -> str:
    status = files.get(file)
    if status is not None:
        return f"{file!r} is {status}, so nothing is found of it"
    return f"there is no file {file!r} in the catalog{did_you_mean(file, files)}"


def _confirm(asker: Asker, questions: Sequence[KnownQuestion], order: EvaluationOrder) -> None:
    if not isinstance(asker.site, AwsSite) or order.is_confirmed:
        return
    cost = spending([each.question for each in questions], times=2 if order.calibrates else 1)
    typer.confirm(
        f"{counted(len(questions), 'question')}, {counted(cost.calls, 'call')} of the tool on"
        f" {asker.site.told}: about ${cost.dollars:.4f}; ${cost.extra:.2f} more where a reranking"
        " model or a managed knowledge base is asked. Go on?",
        abort=True,
        err=True,
    )


def _tool(asker: Asker, catalog: str) -> Retrieve:
    within = asker.within(catalog)
    return lambda arguments: asker.client.call(SEARCH, {**arguments, **within})


@contextmanager
def _progress(out: TerminalConsole, what: str, total: int) -> Iterator[Any]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    quiet = not out.is_terminal
    with Progress(*columns, console=out, transient=True, disable=quiet) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.update(task, completed=count)


# What people read.


def _print(out: TerminalConsole, evaluation: Evaluation, left_out: int) -> None:
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
        out.print(f"left out: {left_out} that nobody has accepted; --unaccepted asks them, too")
    width = max(len(each.told) for each in MEASURES.values())
    for name, measure in MEASURES.items():
        figure = _figure(name, figures[name])
        of = f"  {sum(values[name].values()):.0f} of {len(values[name])}"
        out.print(f"  {measure.told:{width}}  {figure:>7}{of if measure.is_percent else ''}")


def _where(evaluation: Evaluation) -> str:
    """Whom it asked, and how."""
    set_to = "".join(f", {name}={json.dumps(each)}" for name, each in evaluation.options.items())
    return one_line(f"in {evaluation.catalog!r} of {evaluation.site}{set_to}")


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "nothing to measure"
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
        return f"nothing answers it, and {counted(len(outcome.shown), 'passage')} came:"
    place = outcome.places[0]
    page = "" if place.page is None else f", page {place.page}"
    words = "" if place.words is None else f": “{place.words[:_LETTERS]}”"
    came = "it is number {rank}; before it came:" if outcome.rank else "instead came:"
    if not outcome.shown:
        came = "nothing was shown, for its best passage is below the bar"
    return one_line(f"answered in {place.file}{page}{words}; {came.format(rank=outcome.rank)}")


def _print_compared(out: TerminalConsole, compares: RunsCompared, before: Evaluation) -> None:
    told = f"\nagainst the run of {before.began.date()}, {_where(before)}, in pairs:"
    out.print(told, markup=False)
    for each in compares.differences:
        out.print(f"  {_compared_line(each)}")
    if compares.alone:
        out.print(f"left out: {counted(compares.alone, 'question')} that only one of the runs has")


def _compared_line(each: PairedDifference) -> str:
    before, after = (_figure(each.measure, value) for value in (each.before, each.after))
    scale, unit = (100, " points") if MEASURES[each.measure].is_percent else (1, "")
    digits = 1 if unit else 3
    low, high = (f"{scale * value:+.{digits}f}" for value in (each.low, each.high))
    told = f"{MEASURES[each.measure].told}: {before} -> {after}"
    if not each.difference and each.low == each.high:
        return f"{told}: the same for each question"
    verdict = (
        f"noise with {counted(each.questions, 'question')}" if each.is_noise else "more than chance"
    )
    return f"{told} ({low} to {high}{unit} with 95 %, p {each.chance:.3f}): {verdict}"


def _print_bar(out: TerminalConsole, bar: FoundBar) -> None:
    lost_of, refused_of = len(bar.limits.answerable), len(bar.limits.unanswerable)
    out.print(
        f"\nthe bar: {bar.least:g}; other such questions would have set it, with 95 %, between"
    )
    out.print(f"  {bar.low:g} and {bar.high:g}: the more questions, the nearer these two")
    for told, count, of in (
        ("unanswerable refused", bar.refused, refused_of),
        ("answerable lost", bar.lost, lost_of),
    ):
        low, high = sure(count, of)
        others = f"of others like them {low:.0%} to {high:.0%}"
        out.print(f"  {told}: {count} of {of}, {count / of:.0%}; {others}")
    if not bar.least:
        out.print(f"  no bar refuses any and loses at most {MOST_LOST:.0%}")
        return
    out.print(f'  deploy it:  make deploy ARGS="-c retrieve_least_score={bar.least:g}"')
    out.print(
        f"  here:       stackroom down; at each start: stackroom up --least-score {bar.least:g}"
    )
    out.print("  and measure again under it: a passage with most of a question's words is shown")
    out.print("  below the bar, too, so both figures may differ")


# What programs read.


def _answer(
    evaluation: Evaluation,
    left_out: int,
    compares: RunsCompared | None,
    bar: FoundBar | None,
    gates: list[GateTold],
) -> EvaluateAnswer:
    unanswerable = sum(not each.is_answerable for each in evaluation.outcomes)
    return EvaluateAnswer(
        answerable=len(evaluation.outcomes) - unanswerable,
        unanswerable=unanswerable,
        unaccepted=left_out,
        figures=evaluation.figures(),
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
        shown=[
            InsteadTold(file=each.file, page=each.page, score=each.score, text=each.text)
            for each in outcome.shown[:_INSTEAD]
        ],
    )


def _difference(each: PairedDifference) -> ComparedTold:
    return ComparedTold(
        measure=each.measure,
        questions=each.questions,
        before=each.before,
        after=each.after,
        low=each.low,
        high=each.high,
        chance=each.chance,
        noise=each.is_noise,
    )


def _bar(bar: FoundBar) -> BarTold:
    return BarTold(
        least_score=bar.least,
        low=bar.low,
        high=bar.high,
        refused=bar.refused / len(bar.limits.unanswerable),
        lost=bar.lost / len(bar.limits.answerable),
        context=f"retrieve_least_score={bar.least:g}",
    )


def _stands(gate: GateTold) -> str:
    measured = "not measured" if gate.measured is None else f"{gate.measured:.4g}"
    than = "at least" if MEASURES[gate.measure].is_least else "at most"
    return f"{gate.measure} is {measured}, {than} {gate.threshold:g} was wanted"
