"""The `evaluate` command: measure how often answers are right, by questions with known answers."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

import typer
from botocore.exceptions import BotoCoreError
from botocore.exceptions import ClientError as AWSError

from bedrock_kb_simulator.conversation_parts import Conversation, Text, Turn
from bedrock_kb_simulator.model_endpoint import (
    EndpointFailed,
    MalformedToolUse,
    Misconfigured,
    ModelEndpoint,
)
from stackroom.errors import StackroomError
from stackroom.model.records import DocumentStatus
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE, RetrieveArguments
from stackroom.text.extraction import Page
from stackroom.text.extraction.apart import read_pages_apart
from stackroom.tools.texts import counted
from stackroom_cli.callers import Asker
from stackroom_cli.document_lookup import did_you_mean, downloaded
from stackroom_cli.evaluation_output import (
    GateTold,
    evaluate_answer,
    print_bar,
    print_compared,
    print_evaluation,
    standing_of,
)
from stackroom_cli.failures import WrongUsage
from stackroom_cli.json_output import DraftAnswer
from stackroom_cli.kept_questions import require_new, write_new
from stackroom_cli.output import Output, counting
from stackroom_cli.sites.aws_refusals import sentence
from stackroom_cli.sites.site import AwsSite
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_client.answers import Document as FoundDocument
from stackroom_client.calls import SEARCH
from stackroom_client.errors import StackroomError as ClientError
from stackroom_evaluation.comparing import compare, compare_with_plain
from stackroom_evaluation.drafting import GENERAL_QUESTIONS, Model, draft_questions
from stackroom_evaluation.evaluation import MEASURES, Evaluation, Retrieve
from stackroom_evaluation.least_score import calibrate
from stackroom_evaluation.plain_retrieve import PlainRetrieve
from stackroom_evaluation.question_file import (
    SHOWN_LINES,
    EvaluationError,
    KnownQuestion,
    QuestionsWrong,
    read,
    write_error,
)
from stackroom_evaluation.spending import spending
from stackroom_local.servers import MODEL_PREFIX

_DRAFTED_FROM = 20  # documents, evenly from the catalog: each is downloaded
_READ_SECONDS = 60.0


class GateMissed(EvaluationError):
    pass


@dataclass(frozen=True)
class Gate:
    """A limit for a measure: `top3=90` means at least 90 %, `nothing=3` at most 3 %."""

    measure: str
    threshold: float

    @classmethod
    def of(cls, typed: str) -> Self:
        name, _, number = typed.partition("=")
        with suppress(ValueError):
            if name in MEASURES and math.isfinite(float(number)):
                if (
                    MEASURES[name].is_percent
                    and MEASURES[name].is_minimum
                    and 0 < float(number) < 1
                ):
                    percent = f"{100 * float(number):g}"
                    raise WrongUsage(f"--gate {typed!r}: use percent: --gate {name}={percent}")
                return cls(name, float(number))
        raise WrongUsage(
            f"--gate {typed!r}: use MEASURE=NUMBER with a measure of {', '.join(MEASURES)}"
        )

    def check(self, figures: Mapping[str, float | None]) -> GateTold:
        """Compare the gate with the figures. A measure without a figure does not pass."""
        figure, measure = figures[self.measure], MEASURES[self.measure]
        scale = 100 if measure.is_percent else 1
        value = None if figure is None else round(figure * scale, 9)  # 0.29 is 29 %, and no less
        passed = value is not None and (
            value >= self.threshold if measure.is_minimum else value <= self.threshold
        )
        return GateTold(
            measure=self.measure, threshold=self.threshold, measured=value, passed=passed
        )


@dataclass(frozen=True, kw_only=True)
class EvaluationOrder:
    """The options of an evaluation."""

    options: Mapping[str, Any]
    gates: Sequence[Gate] = ()
    compare: Path | None = None
    calibrates: bool = False
    out: Path | None = None
    takes_unaccepted: bool = False
    is_confirmed: bool = False


def options_of(typed: Sequence[str]) -> dict[str, Any]:
    """Parse arguments of the tool, such as `min_score=0.3`, and check them as the tool does."""
    allowed = RetrieveArguments.model_fields.keys() - {"query", "catalog_id"}
    options: dict[str, Any] = {}
    for each in typed:
        name, is_there, value = each.partition("=")
        if name not in allowed or not is_there:
            names = ", ".join(sorted(allowed))
            raise WrongUsage(f"--with {each!r}: use NAME=VALUE with a name of {names}")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value  # a text may lack quotes
    KNOWLEDGE_BASE_RETRIEVE.parse({**options, "query": "a question"})
    return options


def evaluate(
    asker: Asker, path: Path, order: EvaluationOrder, *, catalog: str, output: Output
) -> None:
    """
    Evaluate and print the result.

    Raises EvaluationError if it could not be measured, or GateMissed if a gate is missed.
    """
    read_questions = read(path)
    before = None if order.compare is None else Evaluation.read(order.compare)
    if order.out is not None:
        _make(order.out)
    chosen = _accepted(path, read_questions, order)
    _require_indexed(path, chosen, asker, catalog)
    questions = list(chosen.values())
    _confirm(asker, questions, order)
    retrieve = _tool(asker, catalog)
    with counting(output.people, "asking", len(questions)) as progress:
        evaluation = Evaluation.of(
            questions,
            retrieve,
            catalog=catalog,
            site=asker.site.label,
            options=order.options,
            report_progress=progress,
        )
    evaluation, why_not = _beside_plain(asker, catalog, evaluation)
    unkept = _kept(evaluation, order.out)
    bar = None
    if order.calibrates:
        with counting(output.people, "asking without a minimum score", len(questions)) as progress:
            bar = calibrate(questions, retrieve, order.options, report_progress=progress)
    figures = evaluation.figures()
    compares = None if before is None else compare(before, evaluation)
    gates = [each.check(figures) for each in order.gates]
    left_out = len(read_questions) - len(chosen)
    beside = compare_with_plain(evaluation)
    print_evaluation(output.people, evaluation, left_out, beside=beside, why_not=why_not)
    if compares is not None:
        assert before is not None, "it is compared with"
        print_compared(output.people, compares, before)
    if bar is not None:
        is_far = {each.question for each in questions if each.nothing} <= set(GENERAL_QUESTIONS)
        print_bar(output.people, bar, is_far=is_far)
    for gate in gates:
        output.people.print(f"gate {'passed' if gate.passed else 'missed'}: {standing_of(gate)}")
    if order.out is not None and unkept is None:
        output.people.print(
            f"\nwritten to {order.out}: {', '.join(Evaluation.FILES)}", markup=False
        )
    output.answer(
        evaluate_answer(
            evaluation,
            left_out,
            beside=beside,
            why_not=why_not,
            compares=compares,
            bar=bar,
            gates=gates,
        )
    )
    if unkept is not None:
        raise unkept
    if missed := [each for each in gates if not each.passed]:
        raise GateMissed(f"gates missed: {', '.join(map(standing_of, missed))}")


def draft(asker: Asker, path: Path, *, catalog: str, count: int, output: Output) -> None:
    """
    Write a new file of drafted questions. Documents that can't be read are reported and left out.
    """
    require_new(path)
    if not path.parent.is_dir():
        raise WrongUsage(f"folder {str(path.parent)!r} does not exist")
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
            output.people.print(f"left out: {one_line(f'{each.filename}: {error}')}", markup=False)
    found = draft_questions(documents, count=count, model=_model(asker))
    if not found:
        raise EvaluationError(f"no document in {catalog!r} has a sentence to ask about")
    write_new(path, found)
    output.people.print(
        f"wrote {counted(len(found), 'question')} from {counted(len(documents), 'document')} to"
        f' {path}, none accepted yet. Review each, reword it in your own words, set "accepted" to'
        " true, and add some that your documents don't answer. Then run: stackroom evaluate",
        markup=False,
    )
    output.answer(
        DraftAnswer(path=one_line(str(path)), questions=len(found), documents=list(documents))
    )


def _model(asker: Asker) -> Model | None:
    """
    Return the model that writes the local mode's answers, or None.

    On a deployment it is always None: documents of a deployment are sent to no such model.
    """
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
            reply = endpoint.complete(Conversation(model=endpoint.model, prompt="", turns=[turn]))
        except (EndpointFailed, MalformedToolUse) as error:
            raise EvaluationError(f"the model {endpoint.model!r} {error}") from None
        return reply.text

    return say


def _read(asker: Asker, document: FoundDocument) -> tuple[Page, ...]:
    body = downloaded(asker, document)
    pages = read_pages_apart(body, document.filename, seconds=_READ_SECONDS)
    if pages is None:
        raise EvaluationError(f"it could not be read within {_READ_SECONDS:g} s")
    return pages


def _make(folder: Path) -> None:
    """
    Create the folder for the results, before any question is asked and paid for.

    Existing results are never overwritten.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise write_error(folder, error) from error
    if there := [name for name in Evaluation.FILES if os.path.lexists(folder / name)]:
        raise EvaluationError(f"{folder} already has {', '.join(there)}; name another folder")


def _kept(evaluation: Evaluation, folder: Path | None) -> EvaluationError | None:
    """Write the evaluation. An error is returned, so that the result can still be printed."""
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
            f"{path}: none of its {counted(len(found), 'question')} is accepted; review them and"
            " set"
            ' "accepted" to true where one is good, or ask all with --unaccepted'
        )
    return chosen


def _require_indexed(
    path: Path, questions: Mapping[int, KnownQuestion], asker: Asker, catalog: str
) -> None:
    """Refuse questions about files that are not indexed, which would not measure the answers."""
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
        # Suggesting a similar name is slow, so only shown lines get one.
        problems = [f"line {line}: {_not_there(file, files)}" for line, file in wrong[:SHOWN_LINES]]
        raise QuestionsWrong(path, problems, len(wrong))


def _not_there(file: str, files: Mapping[str, DocumentStatus]) -> str:
    status = files.get(file)
    if status is not None:
        return f"{file!r} is {status}, so no search finds it"
    return f"there is no file {file!r} in the catalog{did_you_mean(file, files)}"


def _confirm(asker: Asker, questions: Sequence[KnownQuestion], order: EvaluationOrder) -> None:
    if not isinstance(asker.site, AwsSite) or order.is_confirmed:
        return
    # Calls of the tool, and of plain Retrieve, which costs less.
    cost = spending([each.question for each in questions], times=3 if order.calibrates else 2)
    typer.confirm(
        f"{counted(len(questions), 'question')}, {counted(cost.calls, 'call')} of the tool and of"
        f" Retrieve on {asker.site.label}: about ${cost.dollars:.4f}; ${cost.extra:.2f} more with a"
        " reranking model or a managed knowledge base. Continue?",
        abort=True,
        err=True,
    )


def _beside_plain(
    asker: Asker, catalog: str, evaluation: Evaluation
) -> tuple[Evaluation, str | None]:
    """
    Add plain Retrieve's ranks, which needs an operator's rights, or return why they are missing.
    """
    try:
        return evaluation.with_plain_ranks(_plain(asker, catalog)), None
    except (AWSError, BotoCoreError, StackroomError) as error:
        return evaluation, one_line(sentence(error) or str(error))


def _plain(asker: Asker, catalog: str) -> PlainRetrieve:
    catalog_id = asker.catalog_id(catalog)
    found = SiteServices(asker.site).stores.catalogs.get(catalog_id)
    if found is None or found.knowledge_base_id is None:
        raise EvaluationError("the catalog is in no knowledge base yet")
    return PlainRetrieve(
        client=asker.site.client("bedrock-agent-runtime"),
        knowledge_base_id=found.knowledge_base_id,
        user_id=found.user_id,
        catalog_id=catalog_id,
    )


def _tool(asker: Asker, catalog: str) -> Retrieve:
    within = asker.within(catalog)
    return lambda arguments: asker.client.call(SEARCH, {**arguments, **within})
