"""
Searching for documents to see whether they are found: the proof of every other word about them.

Retrieve answers twenty times a second for everybody, so documents are asked for together where that
can be: a whole catalog first, then five at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from stackroom.filters import Conditions, Has, any_of
from stackroom.keys import document_id_of
from stackroom.model import Catalog, Document
from stackroom.origins import key_of
from stackroom.ports.retrieval import KnowledgeBase, Passage
from stackroom.tenancy import Tenant

_LONGEST_QUERY = 1000  # characters [AWS General Reference: Amazon Bedrock quotas, User query size]
_GROUP = 5  # filters in a group [Bedrock user guide: kb-test-config]
_MOST = 100  # results of one Retrieve [API model: numberOfResults]


@dataclass(frozen=True, kw_only=True)
class SearchCheck:
    """`knowledge_base` answers the searchable one of that id. Raises what a search raises."""

    knowledge_base: Callable[[str], KnowledgeBase]

    def found(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """The ids of those documents of the catalog of which its owner finds any passage."""
        wanted = list(documents)
        if not wanted or not self._any(catalog, wanted[0].filename, (), limit=1):
            return set()
        found: set[str] = set()
        for group in _groups(wanted):
            found |= self._of_group(catalog, group)
        return found

    def _of_group(self, catalog: Catalog, group: list[Document]) -> set[str]:
        any_of_them = any_of(Has("document_id", each.document_id) for each in group)
        found = self._any(catalog, group[0].filename, (any_of_them,), limit=_MOST)
        unseen = [each for each in group if each.document_id not in found]
        if len(group) > 1 and found and unseen:
            # One document's passages may have left no room for the others'.
            return found.union(*(self._of_group(catalog, [each]) for each in unseen))
        return found

    def _any(self, catalog: Catalog, query: str, narrowed: Conditions, *, limit: int) -> set[str]:
        owner = Tenant.of(catalog)
        searched = self.knowledge_base(str(catalog.knowledge_base_id))
        answer = searched.retrieve(query[:_LONGEST_QUERY], owner.filter(narrowed), limit)
        passages = owner.proven(answer.passages, owner_of=lambda _: catalog.user_id)
        return {_document_id(catalog, each) for each in passages}


def _document_id(catalog: Catalog, passage: Passage) -> str:
    """By its source: an attribute is what whoever wrote the sidecar says."""
    if passage.custom_id is not None:
        return passage.custom_id
    filename = key_of(str(passage.uri)).removeprefix(catalog.s3_prefix)
    return document_id_of(catalog.catalog_id, filename)


def _groups(documents: list[Document]) -> Iterator[list[Document]]:
    remaining = iter(documents)
    while group := list(islice(remaining, _GROUP)):
        yield group
