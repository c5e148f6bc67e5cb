"""What a way to search gives for a question."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stackroom.documents.passages import Passage, Retrieved, Search
from stackroom.search.fan_out import Reply
from stackroom.search.results import Result
from stackroom_evaluation.judging import Shown

CANDIDATES = 100  # what the product asks a knowledge base for


@dataclass(frozen=True, kw_only=True)
class Given:
    """
    To one question, best first; a file is called as the questions call it. `passages` are the
    store's own, of a ranking; `is_refused` is an answer that says that the documents don't answer.
    """

    found: tuple[Shown, ...]
    passages: tuple[Passage, ...] = ()
    search: Search | None = None
    is_refused: bool = False


Way = Callable[[str], Given]


def reply_of(found: Retrieved) -> Reply:
    """As the product's core has what a knowledge base finds."""
    return Reply(
        target="",
        passages=found.passages,
        withheld=(),
        guardrail_action=found.guardrail_action,
        search=found.search,
        is_reranked=found.is_reranked,
        notice=found.notice,
    )


def of_passage(passage: Passage) -> Shown:
    return Shown(
        text=passage.text,
        file=_stem(passage.attributes.get("filename")),
        page=passage.page,
        score=passage.score,
    )


def of_result(result: Result) -> Shown:
    source = result.source
    return Shown(
        text=result.text,
        file=_stem(source.filename),
        page=source.page,
        page_first=source.page_first,
        page_last=source.page_last,
        section=source.section,
        score=result.score,
        others=tuple(_stem(each.filename) for each in result.other_sources),
    )


def _stem(filename: object) -> str:
    return Path(filename).stem if isinstance(filename, str) else ""
