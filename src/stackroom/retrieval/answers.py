"""
Answering a question from one catalog: what a model says, and the passages that it cites.

    Answering(pool={"KB1": BedrockKnowledgeBase(...)}, answers={"KB1": BedrockAnswers(...)}, ...)
        .ask("how many days of leave?", catalog)

Who generates tells no scores, so a search with the same filter is asked beside it. What it finds is
what the model was shown, too: it is checked as the citations are.
"""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    NoResults,
    RetrievalFailed,
    Throttled,
    Unavailable,
    ValidationError,
)
from stackroom.model import Catalog
from stackroom.ports.answers import Answers, Generated
from stackroom.ports.retrieval import KnowledgeBase, Passage, PlaceMaps, Retrieved
from stackroom.retrieval.citations import Source, sources_of
from stackroom.retrieval.quoting import cleaned, quoted
from stackroom.tenancy import Tenant

logger = logging.getLogger(__name__)

MAX_QUERY = 1000  # RetrieveAndGenerateInput.text in the API model, in characters

_WRITTEN = "A guardrail intervened; it wrote or changed what follows."
_HELD_BACK = "A guardrail intervened; it held back passages that were found."

_Key = tuple[str | None, str]


@dataclass(frozen=True, kw_only=True)
class CitedSource:
    """A cited passage; its score is None where the search didn't answer, or without the passage."""

    source: Source
    chunk_text: str
    relevance_score: float | None


@dataclass(frozen=True, kw_only=True)
class CatalogAnswer:
    """
    `[1]` in the text is a mark for the first of `sources`, which are in order of first citation.

    There are none if a guardrail intervened, for it doesn't look at them [AWS: Query a knowledge
    base and generate responses]; then `guardrail_action` is INTERVENED and the text says so.
    """

    text: str
    sources: tuple[CitedSource, ...]
    guardrail_action: str


@dataclass(frozen=True, kw_only=True)
class Answering:
    """`pool` and `answers` by knowledge base id; what scores less than `min_score` is no result."""

    pool: Mapping[str, KnowledgeBase]
    answers: Mapping[str, Answers]
    place_maps: PlaceMaps
    min_score: float = 0.0

    def ask(self, query: str, catalog: Catalog, num_results: int = 5) -> CatalogAnswer:
        """
        An answer from at most `num_results` passages of the catalog, every one of them cited.

        Raises NoResults rather than tell what no passage says, Throttled or RetrievalFailed if
        nobody answered or if what was answered is not from the catalog alone.
        """
        if not 1 <= len(query) <= MAX_QUERY:
            raise ValidationError(f"query must be text of 1 to {MAX_QUERY:,} characters")
        if catalog.knowledge_base_id is None:
            raise NoResults
        try:
            generated, found = self._asked(query, catalog, num_results)
            _refuse_foreign(generated, found, catalog)
        except KnowledgeBaseThrottled as error:
            failures = {catalog.knowledge_base_id: str(error)}
            raise Throttled("the model is busy; try again in a few seconds", failures) from error
        except Unavailable as error:
            failures = {catalog.knowledge_base_id: str(error)}
            problem = "the question got no answer; try again, or tell the operator"
            raise RetrievalFailed(problem, failures) from error
        return _guarded(generated, found) or self._answer(generated, found)

    def _asked(
        self, query: str, catalog: Catalog, num_results: int
    ) -> tuple[Generated, Retrieved | None]:
        """Of both at once; a search that fails costs the scores alone."""
        home = str(catalog.knowledge_base_id)
        if home not in self.pool or home not in self.answers:  # shrunk under a catalog
            raise KnowledgeBaseUnavailable("RetrieveAndGenerate", "not in the pool")
        asked = (query, Tenant.of(catalog).filter(), num_results)
        with ThreadPoolExecutor(1) as thread:
            search = thread.submit(self.pool[home].retrieve, *asked)
            generated = self.answers[home].generate(*asked)
            try:
                return generated, search.result()
            except Unavailable as error:
                logger.warning("an answer without scores: %s", error)
                return generated, None

    def _answer(self, generated: Generated, found: Retrieved | None) -> CatalogAnswer:
        scores = _scores(found)
        cited = _cited(generated)
        if not cited or (found is not None and max(scores.values(), default=-1) < self.min_score):
            raise NoResults
        sources = sources_of(tuple(cited.values()), self.place_maps)
        return CatalogAnswer(
            text=_marked(generated, {key: number for number, key in enumerate(cited, 1)}),
            sources=tuple(
                CitedSource(source=source, chunk_text=passage.text, relevance_score=scores.get(key))
                for (key, passage), source in zip(cited.items(), sources, strict=True)
            ),
            guardrail_action="NONE",
        )


def _refuse_foreign(generated: Generated, found: Retrieved | None, catalog: Catalog) -> None:
    """The whole answer, for nobody can tell which of its words a passage of somebody else's has."""
    shown = [passage for each in generated.citations for passage in each.passages]
    shown += found.passages if found is not None else ()
    own = Tenant.of(catalog).proven(shown, owner_of={catalog.catalog_id: catalog.user_id}.get)
    if len(own) < len(shown):
        logger.warning("an answer kept from %r: it may tell what is not theirs", catalog.user_id)
        raise KnowledgeBaseUnavailable("RetrieveAndGenerate", "passages from outside the catalog")


def _guarded(generated: Generated, found: Retrieved | None) -> CatalogAnswer | None:
    """What is left to tell if a guardrail intervened anywhere; None if none did."""
    if generated.guardrail_action != "NONE":
        text = f"{_WRITTEN}\n\n{_marked(generated, {})}"
        return CatalogAnswer(text=text, sources=(), guardrail_action=generated.guardrail_action)
    if found is None or found.guardrail_action == "NONE":
        return None
    # The answer itself passed; without a citation it would be the model's invention all the same.
    answer = f"\n\n{_marked(generated, {})}" if generated.citations else ""
    return CatalogAnswer(
        text=_HELD_BACK + answer, sources=(), guardrail_action=found.guardrail_action
    )


def _cited(generated: Generated) -> dict[_Key, Passage]:
    """Each passage once, in order of first citation."""
    cited: dict[_Key, Passage] = {}
    for citation in generated.citations:
        for passage in citation.passages:
            cited.setdefault(_key(passage), passage)
    return cited


def _scores(found: Retrieved | None) -> dict[_Key, float]:
    """The best one where a file says the same twice: passages come best first."""
    return {_key(each): each.score for each in reversed(found.passages)} if found else {}


def _key(passage: Passage) -> _Key:
    return (passage.custom_id or passage.uri, passage.text)


def _marked(generated: Generated, numbers: Mapping[_Key, int]) -> str:
    """The answer, quoted, with the numbers of what it cites behind each piece that cites."""
    pieces, at = [], 0
    for citation in generated.citations:
        piece = cleaned(generated.text[at : citation.end])
        marked = {numbers[_key(each)] for each in citation.passages if _key(each) in numbers}
        marks = "".join(f"[{number}]" for number in sorted(marked))
        text = piece.rstrip()
        pieces.append(f"{text} {marks}{piece[len(text) :]}" if marks and text else piece + marks)
        at = citation.end
    return quoted("".join(pieces) + cleaned(generated.text[at:]))
