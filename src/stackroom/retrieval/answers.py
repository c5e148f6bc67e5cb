"""
Answering a question from one catalog: a model writes, from the passages that a search finds there.

    Answering(retrieval=Retrieval(...), writer=ConverseWriter(...)).ask("how much leave?", catalog)

What an agent would be shown for the same question is what the model is told, and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stackroom.errors import NoResults, RetrievalFailed
from stackroom.model import Catalog
from stackroom.ports.answers import Writer, Written
from stackroom.retrieval import cited
from stackroom.retrieval.cited import CatalogAnswer, CitedSource
from stackroom.retrieval.quoting import cleaned
from stackroom.retrieval.results import Answer, Result
from stackroom.retrieval.search import Retrieval

_TOO_LONG = "what was found is longer than what a model is told; tell the operator"
_NONE_FITS = "no passage fits into the budget"


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Where `retrieval` finds nothing, no model is asked."""

    retrieval: Retrieval
    writer: Writer

    def ask(self, query: str, catalog: Catalog, num_results: int = 5) -> CatalogAnswer:
        """
        An answer from at most `num_results` passages of the catalog, with those that it cites.

        Raises ValidationError for a query that is too long or empty, NoResults rather than tell
        what no passage says, Throttled or RetrievalFailed if nobody answered.
        """
        cited.check(query)
        return self.written(query, self.retrieval.in_catalog(query, catalog, num_results))

    def written(self, query: str, found: Answer) -> CatalogAnswer:
        """An answer from what a search found for it; raises as `ask` does."""
        homes = ", ".join(found.knowledge_bases)
        if not found.results:
            if found.guardrail_action != "NONE":
                return cited.held_back(found.guardrail_action)
            if found.omitted:
                raise RetrievalFailed(_TOO_LONG, {homes: _NONE_FITS})
            raise NoResults
        with cited.failures_of(homes):
            written = self.writer.write(query, [cleaned(each.content) for each in found.results])
        return _answer(written, found)


def _answer(written: Written, found: Answer) -> CatalogAnswer:
    if written.guardrail_action != "NONE":
        return cited.written_by_guardrail(written.text, written.guardrail_action)
    places = _places(written, found.results)
    if found.guardrail_action != "NONE":
        # Without a citation it would be the model's invention all the same.
        return cited.held_back(found.guardrail_action, written.text if places else "")
    if not places:
        raise NoResults
    marks = [(each.end, {places[number] for number in each.numbers}) for each in written.marks]
    return CatalogAnswer(
        text=cited.marked(written.text, marks),
        sources=tuple(_source(found.results[number - 1]) for number in places),
        guardrail_action="NONE",
    )


def _places(written: Written, results: Sequence[Result]) -> dict[int, int]:
    """Of the passages that are cited, their places among the sources, by their numbers."""
    numbers = [number for mark in written.marks for number in mark.numbers]
    assert all(1 <= number <= len(results) for number in numbers), "the port promises so"
    return {number: place for place, number in enumerate(dict.fromkeys(numbers), start=1)}


def _source(result: Result) -> CitedSource:
    return CitedSource(
        source=result.source,
        other_sources=result.other_sources,
        chunk_text=result.text,
        relevance_score=result.score,
    )
