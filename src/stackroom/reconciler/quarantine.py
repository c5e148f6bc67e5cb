"""
Passages of rejected files in the index, which nobody's search finds and one without a filter does.

What a run takes out it proves by itself; here is found what came in past every run, by what the
knowledge base answers to a search and not by what it lists.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stackroom.keys import Location, locate
from stackroom.model import Document, DocumentStatus, PoolMember
from stackroom.passage_source import key_of
from stackroom.ports.documents import Documents
from stackroom.ports.retrieval import KnowledgeBase, Passage
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.evictions import Evictions
from stackroom.reconciler.mending import Mending
from stackroom.tenancy import Rejected

_MOST = 100  # results of one Retrieve [API model: numberOfResults]; the next time finds the others


@dataclass(frozen=True, kw_only=True)
class QuarantineAudit:
    """A step is a knowledge base of the pool."""

    documents: Documents
    evictions: Evictions
    knowledge_base: Callable[[str], KnowledgeBase]
    mending: Mending
    pool: Sequence[PoolMember]

    def step(self, cursor: str | None) -> Step:
        number = int(cursor or 0)
        if number >= len(self.pool):
            return None
        knowledge_base_id = self.pool[number].knowledge_base_id
        where = f"rejected files in {knowledge_base_id}"
        yield from self.mending.apart(where, self._in(knowledge_base_id))
        return str(number + 1) if number + 1 < len(self.pool) else None

    def _in(self, knowledge_base_id: str) -> Iterator[Discrepancy]:
        rejected = Rejected()
        searched = self.knowledge_base(knowledge_base_id)
        answer = searched.retrieve("document", rejected.filter(), _MOST)
        sources = {_source_of(each) for each in rejected.proven(answer.passages)}
        for catalog_id, document_id in sorted(each for each in sources if each is not None):
            document = self.documents.get(catalog_id, document_id)
            # One without a record, the comparison with the listing finds.
            if document is not None:
                yield from self.mending.apart(document.s3_key, self._of(document))

    def _of(self, document: Document) -> Iterator[Discrepancy]:
        if document.is_open or not self.mending.is_settled(document.updated_at):
            return  # a run sees to it
        if document.status is DocumentStatus.FAILED:
            yield from self.evictions.of(document)
        elif document.status is DocumentStatus.INDEXED:
            # An earlier version's, which this one should have replaced.
            yield from self.mending.run_again(document, Kind.REJECTED_IN_INDEX)


def _source_of(passage: Passage) -> tuple[str, str] | None:
    """Catalog and document, by the key or the id that the knowledge base itself tells."""
    if passage.uri is None:
        catalog_id = passage.attributes.get("catalog_id")
        return (str(catalog_id), passage.custom_id) if passage.custom_id else None
    location = locate(key_of(passage.uri))
    return (location.catalog_id, location.document_id) if isinstance(location, Location) else None
