"""
An answer of the page Ask, as it is shown: its citations linked, the question's words marked, and
what was left out.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from stackroom.access.tool import is_plain
from stackroom.catalogs.feedback import LONGEST_FILE
from stackroom.model.passages import PlaceMapReader
from stackroom.model.records import Catalog
from stackroom.search.cited_answers import AskedAndAnswered, CitedSource
from stackroom.search.excerpts import Source
from stackroom.search.ranking import Relevance
from stackroom.search.results import Result, SearchAnswer
from stackroom.tools.texts import WEAK, range_of_scores
from stackroom_console.messages import gettext, ngettext
from stackroom_console.safe_markdown import markdown
from stackroom_console.shown_citations import Citation, FoundPassage, citations_of, claims_by_number

_SEVERAL = 2  # passages, that come in an order


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """
    An answer as the page Ask shows it. `text` is None where there is no answer; `unanswered` says
    why then, and `is_too_early` if that is because nothing is searchable yet. `not_searched` says
    how many documents were not searched.
    """

    text: Markup | None
    unanswered: str
    cited: tuple[Citation, ...]
    others: tuple[Citation, ...]
    range_of_scores: str
    order: str  # how it came about, where there is one
    left_out: tuple[str, ...]
    weak: str  # a sentence where the passages may not answer
    places: tuple[tuple[str, str], ...]  # that a test question may name, each with its label
    written: str  # the answer as the model wrote it
    cited_marks: str  # of the passages that it cites, in the order of their numbers
    not_searched: str
    is_too_early: bool


def shown(
    query: str,
    found: AskedAndAnswered,
    catalogs: Mapping[str, Catalog],
    place_maps: PlaceMapReader,
    *,
    by_date: bool = False,
    is_too_early: bool = False,
) -> ShownAnswer:
    """`catalogs` are the asker's own, by id; `by_date` if how new a passage is orders them, too."""
    answer, passages = found.answer, found.passages
    cited, claims = ((), {}) if answer is None else (answer.sources, claims_by_number(answer.text))
    others = [each for each in passages.results if not _is_cited(each, cited)]
    scores = [*(each.relevance_score for each in cited), *(each.score for each in others)]
    score_range = range_of_scores(scores)
    why = {} if by_date else dict(_why(passages, with_scores=bool(score_range)))
    # To a person as to a model: without context lines.
    read = {(x.source, x.text): x.text if x.is_cut else x.content for x in passages.results}
    shown_first = [
        FoundPassage(
            sources=(each.source, *each.other_sources),
            text=read.get((each.source, each.chunk_text), each.chunk_text),
            score=each.relevance_score,
            why=why.get((each.source, each.chunk_text), ""),
            claim=claims.get(number, ""),
            gaps=each.gaps,
        )
        for number, each in enumerate(cited, 1)
    ]
    also = [
        FoundPassage(
            sources=(each.source, *each.other_sources),
            text=read[each.source, each.text],
            score=each.score,
            why=why.get((each.source, each.text), ""),
            gaps=each.gaps,
        )
        for each in others
    ]
    citations = citations_of(query, [*shown_first, *also], catalogs, place_maps)
    anchors = {each.number: each.anchor for each in citations[: len(cited)]}
    return ShownAnswer(
        text=None if answer is None else markdown(answer.text, cited=anchors),
        unanswered=found.unanswered,
        cited=citations[: len(cited)],
        others=citations[len(cited) :],
        range_of_scores=score_range,
        order="" if by_date or len(passages.results) < _SEVERAL else _order(passages),
        left_out=tuple(_left_out(passages)),
        weak=WEAK if passages.results and passages.relevance is Relevance.WEAK else "",
        places=tuple(_places([*shown_first, *also], citations, catalogs)),
        written="" if answer is None else answer.text,
        cited_marks=",".join(passage_mark(each.source, each.chunk_text) for each in cited),
        not_searched=passages.not_searched,
        is_too_early=is_too_early,
    )


def _places(
    found: Sequence[FoundPassage], citations: Sequence[Citation], own: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield each place once, under the number of the first passage there."""
    known = set[str]()
    for passage, citation in zip(found, citations, strict=True):
        place = urlencode(place_of(vars(passage.sources[0]), own))
        if place and place not in known:
            known.add(place)
            yield place, f"{citation.number}: {citation.label}"


def _is_cited(result: Result, cited: Collection[CitedSource]) -> bool:
    return any((each.source, each.chunk_text) == (result.source, result.text) for each in cited)


def _order(answer: SearchAnswer) -> str:
    if answer.is_reranked:
        return gettext("A model read the question and the passages, and ranked them.")
    if any(each.ranks for each in answer.results):
        return gettext("Passages are ranked by meaning and by the question's words together.")
    return gettext("The knowledge base ranked the passages.")


def _why(answer: SearchAnswer, *, with_scores: bool) -> Iterator[tuple[tuple[Source, str], str]]:
    """
    Yield each passage's place, with its score if `with_scores`: whoever tries a threshold needs it.
    """
    for rank, each in enumerate(answer.results, 1):
        ranks = None if answer.is_reranked else each.ranks
        fields = {} if ranks is None else {**vars(ranks), "found": f"{ranks.found:,}"}
        if ranks is None:
            sentences = [gettext("Rank %(rank)s in the search.")]
        elif ranks.by_words is None:
            sentences = [
                gettext(
                    "Rank %(rank)s in the search: rank %(by_meaning)s by meaning, of %(found)s"
                    " found. It has none of the question's words."
                )
            ]
        else:
            sentences = [
                gettext(
                    "Rank %(rank)s in the search: rank %(by_meaning)s by meaning and rank"
                    " %(by_words)s by words, of %(found)s found."
                )
            ]
        if with_scores and ranks is not None:
            sentences.append(gettext("Score %(score)s."))
        if each.is_navigation:
            sentences.append(gettext("A table of contents or an index comes last."))
        why = " ".join(sentences) % {**fields, "rank": rank, "score": f"{each.score:.2f}"}
        yield (each.source, each.text), why


def _left_out(answer: SearchAnswer) -> Iterator[str]:
    if answer.filter_notice:
        yield gettext("Filter: %(notice)s") % {"notice": answer.filter_notice}
    if number := answer.omitted:
        yield ngettext(
            "%(number)s relevant passage not shown: the text limit was reached (%(tokens)s tokens"
            " used).",
            "%(number)s relevant passages not shown: the text limit was reached (%(tokens)s tokens"
            " used).",
            number,
        ) % {"number": f"{number:,}", "tokens": f"{answer.tokens:,}"}
    if number := answer.withheld:
        yield ngettext(
            "%(number)s passage withheld: it is from a document that isn't yours.",
            "%(number)s passages withheld: they are from documents that aren't yours.",
            number,
        ) % {"number": f"{number:,}"}
    if number := len(answer.failures):
        yield ngettext(
            "%(number)s knowledge base didn't respond, so results may be missing. Ask again in a"
            " moment.",
            "%(number)s knowledge bases didn't respond, so results may be missing. Ask again in a"
            " moment.",
            number,
        ) % {"number": number}
    if answer.notices:
        yield gettext("Part of the search was limited; the best passages may not come first.")
    if answer.guardrail_action != "NONE":
        yield gettext("A guardrail withheld some results.")


def passage_mark(source: Source, text: str) -> str:
    """Return a digest that identifies a passage in a form."""
    identity = json.dumps([source.document_id, source.filename, text])
    return hashlib.sha256(identity.encode()).hexdigest()[:12]


def place_of(source: Mapping[str, Any], own: Collection[str]) -> dict[str, str]:
    """
    Return the place that feedback names, of a `Source` as a mapping. It leaves out another's
    catalog, and a name that no line of a question file can have, with its page.
    """
    file, page, catalog_id = (source.get(each) for each in ("filename", "page", "catalog_id"))
    place: dict[str, str] = {}
    if catalog_id is not None and catalog_id in own:
        place["catalog_id"] = catalog_id
    if file and len(file) <= LONGEST_FILE and all(map(is_plain, file)):
        place["file"] = file
        if page:
            place["page"] = str(page)
    return place
