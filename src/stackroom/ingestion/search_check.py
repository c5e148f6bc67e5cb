"""
Searching for documents to see whether they are found: the proof of every other word about them.

Searches are for people first, so documents are asked for together where that can be: those that
should be found by their ids, whatever catalogs they are of; of those that should not be, a whole
catalog first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from stackroom.access.passage_source import document_id_in, key_of
from stackroom.access.tenancy import Leftovers, Owners
from stackroom.concurrency import Beside, in_threads
from stackroom.documents.filters import Conditions, Has, any_of
from stackroom.documents.keys import document_id_of
from stackroom.documents.model import Catalog, Document
from stackroom.documents.passages import KnowledgeBase, Passage

T = TypeVar("T")

_QUERY = "document"  # any: the filter says what is looked for
_GROUP = 5  # filters in a group [Bedrock user guide: kb-test-config]
_MOST = 100  # results of one Retrieve [API model: numberOfResults]


@dataclass(frozen=True, kw_only=True)
class SearchCheck:
    """
    `knowledge_base` answers the searchable one of that id, and `at_once` how many documents one
    question of it can name. Raises what a search raises.
    """

    knowledge_base: Callable[[str], KnowledgeBase]
    at_once: Callable[[str], int] = lambda _: _GROUP
    beside: Beside = in_threads

    def found(self, documents: Iterable[tuple[Catalog, Document]]) -> set[str]:
        """The ids of those documents of which their owners find any passage."""
        by_home: dict[str, list[tuple[Catalog, Document]]] = {}
        for catalog, document in documents:
            by_home.setdefault(str(catalog.knowledge_base_id), []).append((catalog, document))
        found: set[str] = set()
        questions = [
            partial(self._found_of, home, group)
            for home, wanted in by_home.items()
            for group in _groups(wanted, self.at_once(home))
        ]
        return found.union(*self.beside(questions))

    def left(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """The ids of those of which anybody would find a passage, whoever's it says it is."""
        wanted = list(documents)
        looking = _Leftovers(
            catalog=catalog, searched=self.knowledge_base(str(catalog.knowledge_base_id))
        )
        if not wanted or not looking.any((), limit=1):
            return set()
        found: set[str] = set()
        for group in _groups(wanted, _GROUP):
            found |= looking.of(group)
        return found

    def _found_of(self, home: str, group: Sequence[tuple[Catalog, Document]]) -> set[str]:
        owners = Owners.of(group)
        answer = self.knowledge_base(home).retrieve(_QUERY, owners.filter(), _MOST)
        proven = owners.proven(answer.passages)
        wanted = {document.document_id for _, document in group}
        homes = {catalog.catalog_id: catalog for catalog, _ in group}
        found = wanted.intersection(_document_id(homes[where], each) for where, each in proven)
        unseen = [each for each in group if each[1].document_id not in found]
        if len(group) > 1 and found and unseen:
            # One document's passages may have left no room for the others'.
            return found.union(*(self._found_of(home, [each]) for each in unseen))
        return found


@dataclass(frozen=True, kw_only=True)
class _Leftovers:
    """A search for what is left of a catalog's documents."""

    catalog: Catalog
    searched: KnowledgeBase

    def of(self, group: Sequence[Document]) -> set[str]:
        any_of_them = any_of(Has("document_id", each.document_id) for each in group)
        found = self.any((any_of_them,), limit=_MOST)
        unseen = [each for each in group if each.document_id not in found]
        if len(group) > 1 and found and unseen:
            return found.union(*(self.of([each]) for each in unseen))  # as above
        return found

    def any(self, narrowed: Conditions, *, limit: int) -> set[str]:
        view = Leftovers.of(self.catalog)
        answer = self.searched.retrieve(_QUERY, view.filter(narrowed), limit)
        passages = view.proven(answer.passages, catalog_of=lambda _: self.catalog)
        return {_document_id(self.catalog, each) for each in passages}


def _document_id(catalog: Catalog, passage: Passage) -> str:
    """By its source: an attribute is what whoever wrote the sidecar says, unless it is proven."""
    if (ingested := document_id_in(passage)) is not None:
        return ingested
    filename = key_of(str(passage.uri)).removeprefix(catalog.s3_prefix)
    return document_id_of(catalog.catalog_id, filename)


def _groups(documents: list[T], size: int) -> Iterator[list[T]]:
    remaining = iter(documents)
    while group := list(islice(remaining, size)):
        yield group
