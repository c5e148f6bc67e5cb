"""An answer as its page shows it: its citations linked, the question's words marked."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from stackroom.catalog_tools.texts import counted
from stackroom.formats import extension_of
from stackroom.model import Catalog
from stackroom.retrieval.citations import Source
from stackroom.retrieval.cited_answers import AskedAndAnswered, CatalogAnswer, CitedSource
from stackroom.retrieval.question_words import MarkedPiece, marked_pieces
from stackroom.retrieval.results import Result, SearchAnswer

_MARK = re.compile(r"\[([0-9]{1,3})\]")


@dataclass(frozen=True, kw_only=True)
class Stands:
    """Where a passage stands; `href` is None where the file is not this user's to open."""

    filename: str
    place: str
    catalog: str
    href: str | None


@dataclass(frozen=True, kw_only=True)
class Said:
    """A piece of the answer; `number` is that of a cited passage."""

    text: str
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class ShownPassage:
    number: int
    stands: tuple[Stands, ...]  # the first of them, and who says the same
    score: str
    pieces: tuple[MarkedPiece, ...]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """`text` is None where there is no answer; `unanswered` says why then."""

    text: tuple[Said, ...] | None
    unanswered: str
    cited: tuple[ShownPassage, ...]
    others: tuple[ShownPassage, ...]
    left_out: tuple[str, ...]


def shown(query: str, found: AskedAndAnswered, catalogs: Mapping[str, Catalog]) -> Shown:
    """`catalogs` are the asker's own, by id."""
    answer = found.answer
    cited = () if answer is None else answer.sources
    others = [each for each in found.passages.results if not _is_cited(each, cited)]
    first = len(cited) + 1
    return Shown(
        text=None if answer is None else tuple(_said(answer)),
        unanswered=found.unanswered,
        cited=tuple(
            _cited(number, each, query, catalogs) for number, each in enumerate(cited, start=1)
        ),
        others=tuple(
            _passage(number, each, query, catalogs) for number, each in enumerate(others, first)
        ),
        left_out=tuple(_left_out(found.passages)),
    )


def _said(answer: CatalogAnswer) -> Iterator[Said]:
    at = 0
    for mark in _MARK.finditer(answer.text):
        if 1 <= int(mark[1]) <= len(answer.sources):
            yield Said(text=answer.text[at : mark.start()])
            yield Said(text=mark[0], number=int(mark[1]))
            at = mark.end()
    yield Said(text=answer.text[at:])


def _is_cited(result: Result, cited: Collection[CitedSource]) -> bool:
    return any((each.source, each.chunk_text) == (result.source, result.text) for each in cited)


def _cited(
    number: int, each: CitedSource, query: str, catalogs: Mapping[str, Catalog]
) -> ShownPassage:
    return ShownPassage(
        number=number,
        stands=_stands((each.source, *each.other_sources), catalogs),
        score=f"{each.relevance_score:.2f}",
        pieces=marked_pieces(query, each.chunk_text),
    )


def _passage(
    number: int, each: Result, query: str, catalogs: Mapping[str, Catalog]
) -> ShownPassage:
    return ShownPassage(
        number=number,
        stands=_stands((each.source, *each.other_sources), catalogs),
        score=f"{each.score:.2f}",
        pieces=marked_pieces(query, each.text),
    )


def _stands(sources: Collection[Source], catalogs: Mapping[str, Catalog]) -> tuple[Stands, ...]:
    return tuple(_where(each, catalogs.get(each.catalog_id or "")) for each in sources)


def _where(source: Source, catalog: Catalog | None) -> Stands:
    filename = source.filename or "an unnamed file"
    href = None
    if catalog is not None and source.document_id is not None:
        # Browsers' PDF viewers open it there: RFC 8118, 3.
        at = f"#page={source.page}" if source.page and extension_of(filename) == "pdf" else ""
        href = f"/catalogs/{catalog.catalog_id}/documents/{source.document_id}/file{at}"
    name = "shared with you" if catalog is None else catalog.name
    return Stands(filename=filename, place=_place(source), catalog=name, href=href)


def _place(source: Source) -> str:
    parts = []
    if source.page is not None:
        first, last = source.page_first or source.page, source.page_last or source.page
        parts.append(f"page {source.page}" if first == last else f"pages {first} to {last}")
    if source.section:
        parts.append(f"section {source.section}")
    return ", ".join(parts)


def _left_out(answer: SearchAnswer) -> Iterator[str]:
    if answer.omitted:
        passages = counted(answer.omitted, "relevant passage")
        yield f"{passages} left out: the budget of text ({answer.tokens:,} tokens used) is full."
    if answer.withheld:
        passages = counted(answer.withheld, "passage")
        yield f"{passages} withheld: from documents that aren't yours."
    if answer.best_score_below is not None:
        yield (
            "What was found is too far from the question to answer it: the best passage scores"
            f" {answer.best_score_below:.2f}."
        )
    if answer.failures:
        failed = counted(len(answer.failures), "knowledge base")
        yield f"{failed} didn't answer, so something may be missing. Ask again in a moment."
    if answer.notices:
        yield "Part of it was searched in another way than usual; the best may not come first."
    if answer.guardrail_action != "NONE":
        yield "A guardrail held back something of what was found."
