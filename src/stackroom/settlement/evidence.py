"""
What is known of each document of a round, gathered once from everyone who knows something.

Bedrock's word on the document comes first, and its standing: what the round itself tells of how far
that word goes, worked out by the type of the source. Our own inspection and searches
complete it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports.ingestion import DocumentDetail
from stackroom.ports.inspection import InspectionResults
from stackroom.settlement.search_check import SearchCheck

# Documents that one task proves by searches, five of them each: the account has twenty searches a
# second, most of them for its users. The others wait for the next task.
_MOST_PROVED = 500


@dataclass(frozen=True, kw_only=True)
class Standing:
    """
    How what Bedrock says of a document stands to the round that took the document up.

    `is_removal`: the round was to remove it. `is_out`: it is out of the index, if no search finds
    it. `is_current`: what is said is of this version, and of what the round did with it.
    `may_change`: ask again later. `is_unproven`: INDEXED may be left from before. `is_final`:
    Bedrock does not try it again by itself. `is_overdue`: past the deadline of its round.
    `by_owner`: out is what its owner finds no more, though it stays there as nobody's.
    """

    detail: DocumentDetail
    is_removal: bool
    is_out: bool
    is_current: bool
    may_change: bool
    is_overdue: bool
    why_never_taken_up: str  # the reason, should no more rounds follow
    is_unproven: bool = False
    is_final: bool = False
    by_owner: bool = False
    job_failure_reason: str | None = None  # the one that names the document


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    `inspection_reason` is what our own inspection has against this version; `is_found` asks the
    knowledge base whether a search finds the document.
    """

    standing: Standing
    is_found: Callable[[], bool]
    inspection_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Investigation:
    """What we find out by ourselves."""

    inspections: InspectionResults
    search_check: SearchCheck

    def complete(
        self, catalog: Catalog, standings: Sequence[tuple[Document, Standing]]
    ) -> list[tuple[Document, Evidence | None]]:
        """None for a document whose searches are left to a later task."""
        now, later = _share(standings)
        documents = [document for document, _ in now]
        reasons = self.inspections.reasons_for(documents)
        by_owner = frozenset(document.document_id for document, each in now if each.by_owner)
        searches = _Searches(self.search_check, catalog, documents, by_owner)
        known: list[tuple[Document, Evidence | None]] = [
            (
                document,
                Evidence(
                    standing=standing,
                    is_found=partial(searches.is_found, document),
                    inspection_reason=reasons.get(document.document_id),
                ),
            )
            for document, standing in now
        ]
        return known + [(document, None) for document, _ in later]


@dataclass(frozen=True)
class _Searches:
    """Documents are searched for together when the first of them is asked for."""

    search_check: SearchCheck
    catalog: Catalog
    documents: list[Document]
    by_owner: frozenset[str]
    _others: dict[str, bool] = field(default_factory=dict)

    def is_found(self, document: Document) -> bool:
        if self._is_removed(document):
            return document.document_id in self._removed_and_found
        known = self._others
        if document.document_id not in known:
            found = self.search_check.found(self.catalog, [document])
            known[document.document_id] = document.document_id in found
        return known[document.document_id]

    @cached_property
    def _removed_and_found(self) -> set[str]:
        return self.search_check.left(self.catalog, filter(self._is_removed, self.documents))

    def _is_removed(self, document: Document) -> bool:
        return _needs_search(document) and document.document_id not in self.by_owner


Standings = list[tuple[Document, Standing]]


def _share(standings: Iterable[tuple[Document, Standing]]) -> tuple[Standings, Standings]:
    """Those to decide on now, and those to be proved by a later task."""
    now: Standings = []
    later: Standings = []
    proved = 0
    for document, standing in standings:
        needs = _needs_search(document) or standing.is_unproven
        proved += needs
        (later if needs and proved > _MOST_PROVED else now).append((document, standing))
    return now, later


def _needs_search(document: Document) -> bool:
    """Only a search proves that something is not there any more."""
    return document.status in (DocumentStatus.DELETING, DocumentStatus.FAILED)
