"""Search for documents to check whether they are found."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from stackroom.access.tenancy import Leftovers, Owners, document_id_in, key_of
from stackroom.concurrency import RunParallel, chunks, run_in_threads
from stackroom.model.filters import Conditions, Has, any_of
from stackroom.model.keys import document_id_of
from stackroom.model.passages import KnowledgeBase, Passage
from stackroom.model.records import Catalog, Document

T = TypeVar("T")

_QUERY = "document"  # any: the filter says what is looked for
_GROUP = 5  # filters in a group [Bedrock user guide: kb-test-config]
_MOST = 100  # results of one Retrieve [API model: numberOfResults]


@dataclass(frozen=True, kw_only=True)
class SearchCheck:
    """
    Searches for documents to check whether they are found, which proves every other report on them.

    People's searches come first, so documents are asked for together if possible: those that should
    be found by their ids, across catalogs; those that should not be, a whole catalog first.
    `knowledge_base` returns the searchable one of that id, and `at_once` is how many documents one
    question of it can name. Raises what a search raises.
    """

    knowledge_base: Callable[[str], KnowledgeBase]
    at_once: Callable[[str], int] = lambda _: _GROUP
    run_parallel: RunParallel = run_in_threads

    def found(self, documents: Iterable[tuple[Catalog, Document]]) -> set[str]:
        """Return the ids of the documents of which their owners find any passage."""
        by_home: dict[str, list[tuple[Catalog, Document]]] = {}
        for catalog, document in documents:
            by_home.setdefault(str(catalog.knowledge_base_id), []).append((catalog, document))
        found: set[str] = set()
        questions = [
            partial(self._found_of, home, group)
            for home, wanted in by_home.items()
            for group in chunks(wanted, of=self.at_once(home))
        ]
        return found.union(*self.run_parallel(questions))

    def left(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """
        Return the ids of the documents of which a search finds a passage, whoever owns them.
        """
        wanted = list(documents)
        if not wanted or not self._leftovers(catalog, (), limit=1):
            return set()

        def ask(group: Sequence[Document]) -> set[str]:
            any_of_them = any_of(Has("document_id", each.document_id) for each in group)
            return self._leftovers(catalog, (any_of_them,), limit=_MOST)

        groups = chunks(wanted, of=_GROUP)
        return set[str]().union(
            *(_all_of(each, lambda each: each.document_id, ask) for each in groups)
        )

    def _found_of(self, home: str, group: Sequence[tuple[Catalog, Document]]) -> set[str]:
        homes = {catalog.catalog_id: catalog for catalog, _ in group}

        def ask(some: Sequence[tuple[Catalog, Document]]) -> set[str]:
            owners = Owners.of(some)
            answer = self.knowledge_base(home).retrieve(_QUERY, owners.filter(), _MOST)
            proven = owners.proven(answer.passages)
            wanted = {document.document_id: document for _, document in some}
            ids = ((_document_id(homes[where], each), each) for where, each in proven)
            return {
                document_id
                for document_id, each in ids
                if document_id in wanted and _is_sought(each, wanted[document_id])
            }

        return _all_of(group, lambda each: each[1].document_id, ask)

    def _leftovers(self, catalog: Catalog, narrowed: Conditions, *, limit: int) -> set[str]:
        """Return the ids of documents with passages left in the index."""
        view, searched = Leftovers.of(catalog), self.knowledge_base(str(catalog.knowledge_base_id))
        answer = searched.retrieve(_QUERY, view.filter(narrowed), limit)
        passages = view.proven(answer.passages, catalog_of=lambda _: catalog)
        return {_document_id(catalog, each) for each in passages}


def _all_of(
    group: Sequence[T], id_of: Callable[[T], str], ask: Callable[[Sequence[T]], set[str]]
) -> set[str]:
    """
    Return all that is found of a group. Documents that one search misses are asked for alone,
    because another's passages may have left no room for theirs.
    """
    found = ask(group)
    unseen = [each for each in group if id_of(each) not in found]
    if len(group) > 1 and found and unseen:
        return found.union(*(ask([each]) for each in unseen))
    return found


def _is_sought(passage: Passage, document: Document) -> bool:
    """
    Return True if the passage proves that the document is found.

    A late call can bring back the text of an earlier version, which proves nothing. Any passage
    proves that a removal has not taken effect. A job's passages have a URI instead of a text id.
    """
    is_crawled = passage.sent_text_id is None and passage.uri is not None
    return document.should_be_absent or is_crawled or passage.sent_text_id == document.text_id


def _document_id(catalog: Catalog, passage: Passage) -> str:
    """
    Return the document's id by the passage's source: an attribute repeats the sidecar, whoever
    wrote it, unless it is proven.
    """
    if (ingested := document_id_in(passage)) is not None:
        return ingested
    filename = key_of(str(passage.uri)).removeprefix(catalog.s3_prefix)
    return document_id_of(catalog.catalog_id, filename)
