"""
Answering a question from one catalog where the store has a model answer from what it finds itself.

    StoreAnswering(pool={"KB1": BedrockKnowledgeBase(...)}, answers={"KB1": BedrockAnswers(...)})

Who generates tells no scores, so a search with the same filter is asked beside it. What it finds is
what the model was shown, too: it is checked as the citations are.
"""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stackroom.errors import KnowledgeBaseUnavailable, NoResults, RetrievalFailed, Unavailable
from stackroom.model import Catalog
from stackroom.passage_source import document_id_in
from stackroom.ports.answers import Answers, Generated
from stackroom.ports.documents import StayingDocuments
from stackroom.ports.retrieval import KnowledgeBase, Passage, PlaceMaps, Retrieved
from stackroom.retrieval import cited
from stackroom.retrieval.citations import sources_of
from stackroom.retrieval.cited import CatalogAnswer, CitedSource
from stackroom.retrieval.embeddings import asked_by
from stackroom.retrieval.staying import staying
from stackroom.tenancy import Tenant

logger = logging.getLogger(__name__)

_Key = tuple[str | None, str]


@dataclass(frozen=True, kw_only=True)
class StoreAnswering:
    """
    A `CatalogAnswers`, each from the knowledge base where the catalog is.

    `pool` and `answers` by knowledge base id; what scores less than `min_score` is no result.
    """

    pool: Mapping[str, KnowledgeBase]
    answers: Mapping[str, Answers]
    documents: StayingDocuments
    place_maps: PlaceMaps
    min_score: float = 0.0

    def ask(self, query: str, catalog: Catalog, num_results: int = 5) -> CatalogAnswer:
        """
        Raises RetrievalFailed, too, if what was answered is not from the catalog alone, or may tell
        what is being deleted.
        """
        cited.check(query)
        if catalog.knowledge_base_id is None:
            raise NoResults
        with cited.failures_of(catalog.knowledge_base_id):
            generated, found = self._asked(query, catalog, num_results)
            _refuse_foreign(generated, found, catalog)
        self._refuse_going(generated, found)
        return _guarded(generated, found) or self._answer(generated, found)

    def _asked(
        self, query: str, catalog: Catalog, num_results: int
    ) -> tuple[Generated, Retrieved | None]:
        """Of both at once; a search that fails costs the scores alone."""
        home = str(catalog.knowledge_base_id)
        if home not in self.pool or home not in self.answers:  # shrunk under a catalog
            raise KnowledgeBaseUnavailable("RetrieveAndGenerate", "not in the pool")
        asked = (query, Tenant.of(catalog).filter(), num_results)

        def found() -> Retrieved:
            with asked_by(catalog.user_id):
                return self.pool[home].retrieve(*asked)

        with ThreadPoolExecutor(1) as thread:
            search = thread.submit(found)
            generated = self.answers[home].generate(*asked)
            try:
                return generated, search.result()
            except Unavailable as error:
                logger.warning("an answer without scores: %s", error)
                return generated, None

    def _refuse_going(self, generated: Generated, found: Retrieved | None) -> None:
        """As above: the model has read it by now."""
        shown = _shown(generated, found)
        if len(staying(shown, self.documents)) < len(shown):
            problem = "a document that was found is being deleted; ask again in a minute"
            raise RetrievalFailed(problem)

    def _answer(self, generated: Generated, found: Retrieved | None) -> CatalogAnswer:
        scores, passages = _scores(found), _cited(generated)
        is_weak = found is not None and max(scores.values(), default=-1) < self.min_score
        if not passages or is_weak:
            raise NoResults
        places = {key: place for place, key in enumerate(passages, start=1)}
        marks = [
            (each.end, {places[_key(passage)] for passage in each.passages})
            for each in generated.citations
        ]
        sources = sources_of(tuple(passages.values()), self.place_maps)
        return CatalogAnswer(
            text=cited.marked(generated.text, marks),
            sources=tuple(
                CitedSource(source=source, chunk_text=passage.text, relevance_score=scores.get(key))
                for (key, passage), source in zip(passages.items(), sources, strict=True)
            ),
            guardrail_action="NONE",
        )


def _refuse_foreign(generated: Generated, found: Retrieved | None, catalog: Catalog) -> None:
    """The whole answer, for nobody can tell which of its words a passage of somebody else's has."""
    shown = _shown(generated, found)
    own = Tenant.of(catalog).proven(shown, catalog_of={catalog.catalog_id: catalog}.get)
    if len(own) < len(shown):
        logger.warning("an answer kept from %r: it may tell what is not theirs", catalog.user_id)
        raise KnowledgeBaseUnavailable("RetrieveAndGenerate", "passages from outside the catalog")


def _shown(generated: Generated, found: Retrieved | None) -> list[Passage]:
    cited_ones = [passage for each in generated.citations for passage in each.passages]
    return cited_ones + list(found.passages if found is not None else ())


def _guarded(generated: Generated, found: Retrieved | None) -> CatalogAnswer | None:
    """What is left to tell if a guardrail intervened anywhere; None if none did."""
    if generated.guardrail_action != "NONE":
        return cited.written_by_guardrail(generated.text, generated.guardrail_action)
    if found is None or found.guardrail_action == "NONE":
        return None
    # The answer itself passed; without a citation it would be the model's invention all the same.
    return cited.held_back(found.guardrail_action, generated.text if generated.citations else "")


def _cited(generated: Generated) -> dict[_Key, Passage]:
    """Each passage once, in order of first citation."""
    passages: dict[_Key, Passage] = {}
    for citation in generated.citations:
        for passage in citation.passages:
            passages.setdefault(_key(passage), passage)
    return passages


def _scores(found: Retrieved | None) -> dict[_Key, float]:
    """The best one where a file says the same twice: passages come best first."""
    return {_key(each): each.score for each in reversed(found.passages)} if found else {}


def _key(passage: Passage) -> _Key:
    return (document_id_in(passage) or passage.uri, passage.text)
