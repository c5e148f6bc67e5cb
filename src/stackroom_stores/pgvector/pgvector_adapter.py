"""A knowledge base in PostgreSQL, as an adapter of the port."""

from collections.abc import Iterator

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.filters import AllOf, Filter, Has
from stackroom.model.passages import Passage, Retrieved, Search
from stackroom.search.cached_embeddings import Embeddings
from stackroom_stores.pgvector.repository import OPERATION, Match, Repository


class PgvectorKnowledgeBase:
    """
    A `KnowledgeBase` over the tables of `schema`.

    With `tenant_key`, the name of an attribute, a search must filter by its owner, and finds only
    that owner's documents, or nothing without an owner. Without it, a search finds shared documents
    and none that have an owner.

    A passage's score is its similarity. The order says what is best, not the scores: a hybrid
    search ranks by both.
    """

    def __init__(
        self,
        repository: Repository,
        knowledge_base_id: str,
        *,
        embeddings: Embeddings,
        search: Search = Search.SEMANTIC,
        tenant_key: str | None = None,
    ) -> None:
        assert search in (Search.SEMANTIC, Search.HYBRID), "these are the ways that there are"
        self._repository = repository
        self._id = knowledge_base_id
        self._embeddings = embeddings
        self._search = search
        self._tenant_key = tenant_key

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        user_id = None
        if self._tenant_key is not None:
            user_id = next(_demanded(condition, self._tenant_key), None)
            if user_id is None:
                return Retrieved(passages=(), search=self._search)
        deadline.check(OPERATION)
        vector = self._embeddings.embed(query)
        seen = self._repository.of(user_id, deadline)
        if self._search is Search.HYBRID:
            text = _sendable(query)
            found = seen.search_hybrid(
                self._id, text, vector, limit, condition=condition, owner_key=self._tenant_key
            )
        else:
            found = seen.search_similar(
                self._id, vector, limit, condition=condition, owner_key=self._tenant_key
            )
        return Retrieved(passages=tuple(map(self._passage, found)), search=self._search)

    def _passage(self, found: Match) -> Passage:
        attributes = dict(found.attributes)
        if self._tenant_key is not None:
            attributes[self._tenant_key] = found.user_id
        return Passage(
            text=found.content,
            score=found.similarity,
            similarity=found.similarity,
            uri=found.source_uri,
            custom_id=None if found.source_uri is not None else found.document_name,
            page=found.page,
            attributes=attributes,
        )


def _demanded(condition: Filter | None, key: str) -> Iterator[str]:
    """Yield the texts that the condition requires every passage to have in an attribute."""
    match condition:
        case Has(each, str(value)) if each == key and value:
            yield value
        case AllOf(conditions):
            for member in conditions:
                yield from _demanded(member, key)


def _sendable(text: str) -> str:
    """Return the part of a question that PostgreSQL accepts: no null, no half a character."""
    return text.encode(errors="replace").decode().replace("\x00", " ")
