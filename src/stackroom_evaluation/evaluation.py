"""
Every question asked through the tool that agents use, and what came of each.

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
from stackroom_evaluation.measures import QRELS, Ranked, Rankings, name_of, of_each, write_runs
from stackroom_evaluation.question_file import (
    NAME_TOLD,
    AnswerPlace,
    EvaluationError,
    KnownQuestion,
    object_of,
    replace,
)

# The tool: its arguments, and its answer.
Retrieve = Callable[[dict[str, Any]], dict[str, Any]]
# Bedrock's Retrieve: a question and how many passages, and the nearest ones.
Plain = Callable[[str, int], Sequence[Shown]]

MOST = 10  # passages that are asked for, unless an option says otherwise
AT = (1, 3, 5, 10)

RUN = "run.json"
_LARGEST_RUN = 64_000_000  # bytes: 5,000 questions with 20 passages each
_EXCERPT = 300  # characters
_TRIES, _WAIT_SECONDS = 6, 2.0  # of a question that was throttled

_Share = Annotated[float, Field(ge=0, le=1)]
_Name = Annotated[str, Field(pattern=r"^\S{1,4096}$")]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PassageShown(_Kept):
    """`text` is its beginning; `name` tells it from others in the run file."""

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


class QuestionOutcome(_Kept):
    """
    Of one question: what was shown, best first, after how long. No `places`: nothing answers.

    `plain_rank` is plain Retrieve's, 0 if the first ten have no right passage; None if it was not
    asked, or nothing answers.
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
        """Of the first right passage, counted from 1."""
        return next((at for at, each in enumerate(self.shown, 1) if each.is_right), None)

    @property
    def is_weak(self) -> bool:
        """Whether whoever asked was told that what was found may not answer, or got nothing."""
        return self.relevance == "weak" or not self.shown

    @property
    def is_miss(self) -> bool:
        """Answerable and not among the first three, or unanswerable and not told weak."""
        if not self.is_answerable:
            return not self.is_weak
        return self.rank is None or self.rank > 3


def _each_once(outcomes: tuple[QuestionOutcome, ...]) -> tuple[QuestionOutcome, ...]:
    if len({each.id for each in outcomes}) < len(outcomes):
        raise ValueError("a question stands there twice")
    return outcomes


class Measure(NamedTuple):
    """`told` is what it is called for people; at a gate it is a least value, or a most one."""

    told: str
    is_percent: bool = True
    is_least: bool = True


MEASURES: Mapping[str, Measure] = {
    "top1": Measure("right passage first"),
    "top3": Measure("right passage in the first three"),
    "top5": Measure("right passage in the first five"),
    "top10": Measure("right passage in the first ten"),
    "mrr": Measure("MRR", is_percent=False),
    "nothing": Measure("answerable that got nothing", is_least=False),
    "answerable_weak": Measure("answerable told weak", is_least=False),
    "unanswerable_weak": Measure("unanswerable told weak"),
    "pages": Measure("page right, of right passages"),
    "p50": Measure("p50, seconds", is_percent=False, is_least=False),
}


class Evaluation(_Kept):
    """A run: all that is needed to tell its figures again, or to compare another with it."""

    FILES: ClassVar = (RUN, "run.txt", QRELS)

    format: Literal[1] = 1
    catalog: Annotated[str, Field(max_length=1024)]
    site: Annotated[str, Field(max_length=1024)]
    options: Annotated[dict[str, JsonValue], Field(max_length=20)]
    began: AwareDatetime
    outcomes: Annotated[
        tuple[QuestionOutcome, ...],
        # At the first that is wrong: a forged run may have millions, and each error takes memory.
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
        told: Callable[[int], None] = lambda _count: None,
    ) -> Self:
        """
        One by one. `options` are arguments of the tool, which is asked for ten passages unless they
        say otherwise; `told` is told how many were asked.

        Raises EvaluationError if a question has no answer for any reason but that there is none:
        figures of the others would say nothing true.
        """
        options = {"top_k": MOST, **(options or {})}
        began, outcomes = datetime.now(UTC), list[QuestionOutcome]()
        for question in questions:
            outcomes.append(_outcome(question, retrieve, options, wait))
            told(len(outcomes))
        return cls(
            catalog=catalog, site=site, options=options, began=began, outcomes=tuple(outcomes)
        )

    def beside(self, plain: Plain) -> Self:
        """The same run with the ranks of plain Retrieve. Raises what that raises."""
        return self.model_copy(
            update={"outcomes": tuple(_beside(each, plain) for each in self.outcomes)}
        )

    @property
    def is_beside_plain(self) -> bool:
        """Whether all answerable questions were asked of plain Retrieve, too."""
        ranks = [each.plain_rank for each in self.outcomes if each.is_answerable]
        return bool(ranks) and None not in ranks

    def plain_values(self) -> dict[str, dict[str, float]]:
        """Of plain Retrieve, by `top1` to `top10` and by question, as in `values`."""
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
        """Of the questions that have an answer."""
        return {
            each.id: tuple(Ranked(one.name, one.is_right) for one in each.shown)
            for each in self.outcomes
            if each.is_answerable
        }

    def values(self) -> dict[str, dict[str, float]]:
        """By measure, of each question by its id; every figure but p50 is the mean of these."""
        answerable = [each for each in self.outcomes if each.is_answerable]
        ranks = of_each(self.rankings) if answerable else {}
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
        """By measure; None where no question tells."""
        return {
            name: (median if name == "p50" else fmean)(values.values()) if values else None
            for name, values in self.values().items()
        }

    def write(self, folder: Path) -> None:
        """`run.json`, and `run.txt` and `qrels.txt` in TREC's formats."""
        write_runs(folder, {"run": self.rankings})
        kept = json.dumps(self.model_dump(mode="json"), indent=1)  # ASCII: it is looked at, too
        replace(folder / RUN, kept.encode())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Of a folder, or of the file in it. Raises EvaluationError for what is no run."""
        path = path / RUN if path.is_dir() else path
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST_RUN + 1)
        except FileNotFoundError:
            raise EvaluationError(f"{path} is not there; --out DIR keeps a run") from None
        except OSError as error:
            raise EvaluationError(f"{path} can't be read: {error.strerror or error}") from error
        if len(text) > _LARGEST_RUN:
            raise EvaluationError(f"{path} is larger than any run, {_LARGEST_RUN:,} bytes")
        try:
            json.loads(text, object_pairs_hook=object_of)
            return cls.model_validate_json(text, strict=True)
        except (ValueError, RecursionError) as error:
            told = f"{path} is no run of `stackroom evaluate --out`: {_why(error)}"
            raise EvaluationError(told) from None


def _why(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where[:NAME_TOLD]!r}: {first['msg']}"


def _pages(answerable: Iterable[QuestionOutcome]) -> Iterable[tuple[str, float]]:
    """Of the first right passage whose page can be wrong."""
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
    answer, seconds = answered(question.question, retrieve, options, wait=wait)
    return QuestionOutcome(
        id=question.id,
        question=question.question,
        places=question.places,
        shown=tuple(PassageShown.of(each, question) for each in passages_of(answer)),
        seconds=seconds,
        search=str(answer["metadata"]["search"]),
        relevance=answer["metadata"].get("relevance"),
    )


def _beside(outcome: QuestionOutcome, plain: Plain) -> QuestionOutcome:
    if not outcome.is_answerable:
        return outcome
    spots = [each.spot for each in outcome.places]
    rank = first_right(spots, plain(outcome.question, MOST))
    return outcome.model_copy(update={"plain_rank": rank or 0})


def answered(
    question: str,
    retrieve: Retrieve,
    options: Mapping[str, Any],
    *,
    wait: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Any], float]:
    """The tool's answer, and the seconds it took. Raises EvaluationError if it is none."""
    for left in reversed(range(_TRIES)):
        began = time.perf_counter()
        answer = retrieve({**options, "query": question})
        seconds = time.perf_counter() - began
        if answer["success"] or answer["errorType"] != "Throttled" or not left:
            break
        wait(answer["metadata"].get("retry_after_seconds", _WAIT_SECONDS))
    if not answer["success"]:
        told = f"{answer['errorType']}: {answer['error']}"
        raise EvaluationError(f"{question!r} was not answered: {told}")
    if answer["metadata"].get("failed_knowledge_bases"):
        raise EvaluationError(f"{question!r}: not all knowledge bases could be searched")
    return answer, seconds


def passages_of(answer: Mapping[str, Any]) -> Iterable[Shown]:
    """Of the tool's answer, best first."""
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
