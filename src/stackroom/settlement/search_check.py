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
from stackroom.tenancy import Leftovers, Tenant, View

_LONGEST_QUERY = 1000  # characters [AWS General Reference: Amazon Bedrock quotas, User query size]
_GROUP = 5  # filters in a group [Bedrock user guide: kb-test-config]
_MOST = 100  # results of one Retrieve [API model: numberOfResults]


@dataclass(frozen=True, kw_only=True)
class SearchCheck:
    """`knowledge_base` answers the searchable one of that id. Raises what a search raises."""

    knowledge_base: Callable[[str], KnowledgeBase]

    def found(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """The ids of those documents of the catalog of which its owner finds any passage."""
        return self._looking(catalog, Tenant.of(catalog)).for_all(documents)

    def left(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """The ids of those of which anybody would find a passage, whoever's it says it is."""
        return self._looking(catalog, Leftovers.of(catalog)).for_all(documents)

    def _looking(self, catalog: Catalog, view: View) -> "_Looking":
        searched = self.knowledge_base(str(catalog.knowledge_base_id))
        return _Looking(catalog=catalog, view=view, searched=searched)


@dataclass(frozen=True, kw_only=True)
class _Looking:
    """A search for a catalog's documents, as far as the view lets one see."""

    catalog: Catalog
    view: View
    searched: KnowledgeBase

    def for_all(self, documents: Iterable[Document]) -> set[str]:
        wanted = list(documents)
        if not wanted or not self.for_any(wanted[0].filename, (), limit=1):
            return set()
        found: set[str] = set()
        for group in _groups(wanted):
            found |= self.for_group(group)
        return found

    def for_group(self, group: list[Document]) -> set[str]:
        any_of_them = any_of(Has("document_id", each.document_id) for each in group)
        found = self.for_any(group[0].filename, (any_of_them,), limit=_MOST)
        unseen = [each for each in group if each.document_id not in found]
        if len(group) > 1 and found and unseen:
            # One document's passages may have left no room for the others'.
            return found.union(*(self.for_group([each]) for each in unseen))
        return found

    def for_any(self, query: str, narrowed: Conditions, *, limit: int) -> set[str]:
        narrow = self.view.filter(narrowed)
        answer = self.searched.retrieve(query[:_LONGEST_QUERY], narrow, limit)
        passages = self.view.proven(answer.passages, owner_of=lambda _: self.catalog.user_id)
        return {_document_id(self.catalog, each) for each in passages}


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
