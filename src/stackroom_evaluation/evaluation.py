"""
A run of all questions through the tool that agents use, with the outcome of each.

    evaluation = Evaluation.of(questions, tool, catalog="handbook", site="here")

    evaluation.figures()["top3"]
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
)

from stackroom_evaluation.judging import Shown, first_right, is_page_right, is_right
from stackroom_evaluation.measures import (
    QRELS,
    Ranked,
    Rankings,
    name_of,
    values_by_question,
    write_runs,
)
from stackroom_evaluation.question_file import (
    SHOWN_LETTERS,
    AnswerPlace,
    EvaluationError,
    KnownQuestion,
    replace,
    unique_members,
)

# The tool: it takes its arguments and returns its answer.
Retrieve = Callable[[dict[str, Any]], dict[str, Any]]
# Bedrock's Retrieve: it takes a question and a number, and returns the nearest passages.
Plain = Callable[[str, int], Sequence[Shown]]

MOST = 10  # passages per question, unless an option changes it
AT = (1, 3, 5, 10)

RUN = "run.json"
_LARGEST_RUN = 64_000_000  # bytes: 5,000 questions with 20 passages each
_EXCERPT = 300  # characters
_TRIES, _WAIT_SECONDS = 6, 2.0  # for a throttled question

_Share = Annotated[float, Field(ge=0, le=1)]
_Name = Annotated[str, Field(pattern=r"^\S{1,4096}$")]


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PassageShown(_Saved):
    """A passage in a run; `text` is its beginning, and `name` identifies it in the run file."""

    name: _Name
    file: Annotated[str, Field(max_length=4096)]
    page: int | None
    section: str | None
    score: _Share
    is_right: bool
    is_page_right: bool | None
    text: Annotated[str, Field(max_length=_EXCERPT)]

    @classmethod
    def of(cls, shown: Shown, question: KnownQuestion) -> Self:
        right = is_right(shown, question.spots)
        return cls(
            name=name_of(shown),
            file=shown.file,
            page=shown.page,
            section=shown.section,
            score=min(1.0, max(0.0, shown.score)),
            is_right=right,
            is_page_right=is_page_right(shown, question.spots) if right else None,
            text=" ".join(shown.text.split())[:_EXCERPT],
        )


class QuestionOutcome(_Saved):
    """
    The outcome of a question: what was shown, best first; without `places` it is unanswerable.

    `plain_rank` is plain Retrieve's: 0 if its first ten passages have no right one, None if it was
    not asked or the question is unanswerable.
    """

    id: Annotated[str, Field(pattern=r"^q-[0-9a-f]{12}$")]
    question: Annotated[str, Field(min_length=1, max_length=1000)]
    places: Annotated[tuple[AnswerPlace, ...], Field(fail_fast=True)]
    shown: Annotated[tuple[PassageShown, ...], Field(max_length=20, fail_fast=True)]
    seconds: Annotated[float, Field(ge=0, le=1e6)]
    search: Annotated[str, Field(max_length=200)]
    relevance: Literal["strong", "weak"] | None = None
    plain_rank: Annotated[int, Field(ge=0, le=MOST)] | None = None

    @property
    def is_answerable(self) -> bool:
        return bool(self.places)

    @property
    def rank(self) -> int | None:
        """The rank of the first right passage, from 1."""
        return next((at for at, each in enumerate(self.shown, 1) if each.is_right), None)

    @property
    def is_weak(self) -> bool:
        """True if the results were marked as weak, or empty."""
        return self.relevance == "weak" or not self.shown

    @property
    def is_miss(self) -> bool:
        """
        True if answerable without a right passage in the first three, or unanswerable and not weak.
        """
        if not self.is_answerable:
            return not self.is_weak
        return self.rank is None or self.rank > 3


def _each_once(outcomes: tuple[QuestionOutcome, ...]) -> tuple[QuestionOutcome, ...]:
    if len({each.id for each in outcomes}) < len(outcomes):
        raise ValueError("a question occurs twice")
    return outcomes


class Measure(NamedTuple):
    """A measure with its `title`; a gate requires a minimum of it, or a maximum."""

    title: str
    is_percent: bool = True
    is_minimum: bool = True


MEASURES: Mapping[str, Measure] = {
    "top1": Measure("right passage first"),
    "top3": Measure("right passage in the first three"),
    "top5": Measure("right passage in the first five"),
    "top10": Measure("right passage in the first ten"),
    "mrr": Measure("MRR", is_percent=False),
    "nothing": Measure("answerable that got nothing", is_minimum=False),
    "answerable_weak": Measure("answerable marked weak", is_minimum=False),
    "unanswerable_weak": Measure("unanswerable marked weak"),
    "pages": Measure("page right, of right passages"),
    "p50": Measure("p50, seconds", is_percent=False, is_minimum=False),
}


class Evaluation(_Saved):
    """A run, with all that is needed to show its figures again or to compare it with another."""

    FILES: ClassVar = (RUN, "run.txt", QRELS)

    format: Literal[1] = 1
    catalog: Annotated[str, Field(max_length=1024)]
    site: Annotated[str, Field(max_length=1024)]
    options: Annotated[dict[str, JsonValue], Field(max_length=20)]
    began: AwareDatetime
    outcomes: Annotated[
        tuple[QuestionOutcome, ...],
        # Fails at the first error: a forged run may have millions, and each error takes memory.
        Field(min_length=1, max_length=5_000, fail_fast=True),
        AfterValidator(_each_once),
    ]

    @classmethod
    def of(
        cls,
        questions: Iterable[KnownQuestion],
        retrieve: Retrieve,
        *,
        catalog: str,
        site: str,
        options: Mapping[str, Any] | None = None,
        wait: Callable[[float], None] = time.sleep,
        report_progress: Callable[[int], None] = lambda _count: None,
    ) -> Self:
        """
        Ask all questions, one by one.

        `options` are arguments of the tool, by default with ten passages; `report_progress` gets
        the number of questions asked so far.

        Raises EvaluationError if a question fails, since figures of the others would be misleading.
        """
        options = {"top_k": MOST, **(options or {})}
        began, outcomes = datetime.now(UTC), list[QuestionOutcome]()
        for question in questions:
            outcomes.append(_outcome(question, retrieve, options, wait))
            report_progress(len(outcomes))
        return cls(
            catalog=catalog, site=site, options=options, began=began, outcomes=tuple(outcomes)
        )

    def with_plain_ranks(self, plain: Plain) -> Self:
        """Return the run with the ranks of plain Retrieve. Raises Retrieve's errors."""
        return self.model_copy(
            update={"outcomes": tuple(_with_plain_rank(each, plain) for each in self.outcomes)}
        )

    @property
    def has_plain_ranks(self) -> bool:
        """True if plain Retrieve was also asked all answerable questions."""
        ranks = [each.plain_rank for each in self.outcomes if each.is_answerable]
        return bool(ranks) and None not in ranks

    def plain_values(self) -> dict[str, dict[str, float]]:
        """Return plain Retrieve's values for `top1` to `top10`, by question, like `values`."""
        return {
            f"top{at}": {
                each.id: float(0 < each.plain_rank <= at)
                for each in self.outcomes
                if each.plain_rank is not None
            }
            for at in AT
        }

    @property
    def rankings(self) -> Rankings:
        """The ranked passages of answerable questions."""
        return {
            each.id: tuple(Ranked(one.name, one.is_right) for one in each.shown)
            for each in self.outcomes
            if each.is_answerable
        }

    def values(self) -> dict[str, dict[str, float]]:
        """Return values by measure and question id; every figure but p50 is the mean of these."""
        answerable = [each for each in self.outcomes if each.is_answerable]
        ranks = values_by_question(self.rankings) if answerable else {}
        return {
            **{f"top{at}": ranks.get(f"at {at}", {}) for at in AT},
            "mrr": ranks.get("MRR", {}),
            "nothing": {each.id: float(not each.shown) for each in answerable},
            "answerable_weak": {each.id: float(each.is_weak) for each in answerable},
            "unanswerable_weak": {
                each.id: float(each.is_weak) for each in self.outcomes if not each.is_answerable
            },
            "pages": dict(_pages(answerable)),
            "p50": {each.id: each.seconds for each in self.outcomes},
        }

    def figures(self) -> dict[str, float | None]:
        """Return figures by measure; None if no question has a value."""
        return {
            name: (median if name == "p50" else fmean)(values.values()) if values else None
            for name, values in self.values().items()
        }

    def write(self, folder: Path) -> None:
        """Write `run.json`, and `run.txt` and `qrels.txt` in TREC's formats."""
        write_runs(folder, {"run": self.rankings})
        text = json.dumps(
            self.model_dump(mode="json"), indent=1
        )  # ASCII, since people read it, too
        replace(folder / RUN, text.encode())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Load a run from a folder or its file. Raises EvaluationError for anything else."""
        path = path / RUN if path.is_dir() else path
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST_RUN + 1)
        except FileNotFoundError:
            raise EvaluationError(f"{path} does not exist; --out DIR saves a run") from None
        except OSError as error:
            raise EvaluationError(f"{path} can't be read: {error.strerror or error}") from error
        if len(text) > _LARGEST_RUN:
            raise EvaluationError(f"{path} is larger than the {_LARGEST_RUN:,} bytes of any run")
        try:
            json.loads(text, object_pairs_hook=unique_members)
            return cls.model_validate_json(text, strict=True)
        except (ValueError, RecursionError) as error:
            problem = f"{path} is not a run of `stackroom evaluate --out`: {_reason(error)}"
            raise EvaluationError(problem) from None


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where[:SHOWN_LETTERS]!r}: {first['msg']}"


def _pages(answerable: Iterable[QuestionOutcome]) -> Iterable[tuple[str, float]]:
    """Yield, by question, if the page of the first right passage with a known page is right."""
    for each in answerable:
        known = [one.is_page_right for one in each.shown if one.is_page_right is not None]
        if known:
            yield each.id, float(known[0])


def _outcome(
    question: KnownQuestion,
    retrieve: Retrieve,
    options: Mapping[str, Any],
    wait: Callable[[float], None],
) -> QuestionOutcome:
    answer, seconds = ask(question.question, retrieve, options, wait=wait)
    return QuestionOutcome(
        id=question.id,
        question=question.question,
        places=question.places,
        shown=tuple(PassageShown.of(each, question) for each in passages_of(answer)),
        seconds=seconds,
        search=str(answer["metadata"]["search"]),
        relevance=answer["metadata"].get("relevance"),
    )


def _with_plain_rank(outcome: QuestionOutcome, plain: Plain) -> QuestionOutcome:
    if not outcome.is_answerable:
        return outcome
    spots = [each.spot for each in outcome.places]
    rank = first_right(spots, plain(outcome.question, MOST))
    return outcome.model_copy(update={"plain_rank": rank or 0})


def ask(
    question: str,
    retrieve: Retrieve,
    options: Mapping[str, Any],
    *,
    wait: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Any], float]:
    """Return the tool's answer and its seconds. Raises EvaluationError for a failure."""
    for left in reversed(range(_TRIES)):
        began = time.perf_counter()
        answer = retrieve({**options, "query": question})
        seconds = time.perf_counter() - began
        if answer["success"] or answer["errorType"] != "Throttled" or not left:
            break
        wait(answer["metadata"].get("retry_after_seconds", _WAIT_SECONDS))
    if not answer["success"]:
        problem = f"{answer['errorType']}: {answer['error']}"
        raise EvaluationError(f"{question!r} was not answered: {problem}")
    if answer["metadata"].get("failed_knowledge_bases"):
        raise EvaluationError(f"{question!r}: not all knowledge bases could be searched")
    return answer, seconds


def passages_of(answer: Mapping[str, Any]) -> Iterable[Shown]:
    """Yield the passages of a tool's answer, best first."""
    for each in answer["results"]:
        source = each["source"]
        yield Shown(
            text=each["content"],
            file=source["filename"] or "",
            page=source.get("page"),
            page_first=source.get("page_first"),
            page_last=source.get("page_last"),
            section=source.get("section"),
            score=each["score"],
            others=tuple(one["filename"] or "" for one in each.get("other_sources", ())),
        )
