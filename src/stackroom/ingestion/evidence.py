"""
What is known of each document, gathered once from everyone who knows something.

Bedrock's word on the document comes first, and how far that word goes (bedrock_evidence). Our
own inspection and searches complete it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from stackroom.clock import Pace, RealTime, utc_now
from stackroom.documents.formats import has_places
from stackroom.documents.model import Catalog, Document, DocumentStatus
from stackroom.documents.repositories import InspectionResults
from stackroom.ingestion.bedrock_evidence import INDEXED, BedrockEvidence, DocumentEvidence
from stackroom.ingestion.search_check import SearchCheck

# Documents that one task proves by searches; the others wait for the next task.
_MOST_PROVED = 500
# Seconds on AWS from Bedrock's word until a search should find the document: "the passages of a
# document that is INDEXED were found 3.4 s later" (rule job.searchable-lag), users of S3 Vectors
# saw longer. Of a file that our inspection has something against, nobody waits as long.
# [assumed: retrieve.filtered-lag]
FOUND_WITHIN, _DOUBTED = 60.0, 10.0
# Seconds from Bedrock's word that a document waits for our inspection, which makes its place map.
# Both begin with the object's event, and the inspection is mostly the sooner. While a document
# waits, its direct call makes room for no other.
_INSPECTED_WITHIN = 20.0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    `inspection_reason` is what our own inspection has against this version, and `is_inspected`
    tells that there was one; `awaits_inspection`: there should be one soon, that makes its place
    map. `is_found` asks the knowledge base whether a search finds the document, and `is_due` tells
    that it should by now.
    """

    bedrock: BedrockEvidence
    is_found: Callable[[], bool]
    is_due: bool = True
    inspection_reason: str | None = None
    is_inspected: bool = True
    awaits_inspection: bool = False


@dataclass(frozen=True, kw_only=True)
class Investigation:
    """What we find out by ourselves."""

    inspections: InspectionResults
    search_check: SearchCheck
    pace: Pace = field(default_factory=RealTime)
    now: Callable[[], datetime] = utc_now

    def complete(
        self, said_of: Sequence[DocumentEvidence]
    ) -> list[tuple[Catalog, Document, Evidence | None]]:
        """
        None for a document whose searches are left to a later task. Raises what a search raises.
        """
        now, later = _share(said_of)
        results = self.inspections.results_for([document for _, document, _ in now])
        searches = _Searches(self.search_check, now)
        known: list[tuple[Catalog, Document, Evidence | None]] = []
        for catalog, document, said in now:
            reason = results.get(document.document_id)
            is_inspected = document.document_id in results
            evidence = Evidence(
                bedrock=said,
                is_found=partial(searches.is_found, catalog, document),
                is_due=self._is_due(said, is_doubted=reason is not None),
                inspection_reason=reason,
                is_inspected=is_inspected,
                awaits_inspection=not is_inspected and self._awaits(document, said),
            )
            known.append((catalog, document, evidence))
        return known + [(catalog, document, None) for catalog, document, _ in later]

    def _is_due(self, said: BedrockEvidence, *, is_doubted: bool) -> bool:
        said_at = said.detail.updated_at
        if said_at is None:
            return True
        seconds = self.pace.here(_DOUBTED if is_doubted else FOUND_WITHIN)
        return self.now() - said_at >= timedelta(seconds=seconds)

    def _awaits(self, document: Document, said: BedrockEvidence) -> bool:
        said_at = said.detail.updated_at
        if said_at is None or not has_places(document.filename):
            return False
        return self.now() - said_at < timedelta(seconds=_INSPECTED_WITHIN)


class _Searches:
    """Documents are searched for together when the first of them is asked for."""

    def __init__(self, search_check: SearchCheck, said_of: Sequence[DocumentEvidence]) -> None:
        self._search_check = search_check
        self._removed: dict[str, list[Document]] = {}  # by catalog
        self._indexed: dict[str, tuple[Catalog, Document]] = {}  # these by document
        for catalog, document, said in said_of:
            if _is_removed(document) and not said.by_owner:
                self._removed.setdefault(catalog.catalog_id, []).append(document)
            elif said.detail.status in INDEXED:
                self._indexed[document.document_id] = (catalog, document)
        self._left: dict[str, set[str]] = {}
        self._found: dict[str, bool] = {}

    def is_found(self, catalog: Catalog, document: Document) -> bool:
        """Of what is to be out, whoever's it says it is; else as its owner finds it."""
        if document in self._removed.get(catalog.catalog_id, ()):
            return document.document_id in self._left_of(catalog)
        if document.document_id not in self._found:
            is_one_of_many = document.document_id in self._indexed
            self._ask(list(self._indexed.values()) if is_one_of_many else [(catalog, document)])
        return self._found[document.document_id]

    def _ask(self, documents: Sequence[tuple[Catalog, Document]]) -> None:
        found = self._search_check.found(documents)
        self._found |= {each.document_id: each.document_id in found for _, each in documents}

    def _left_of(self, catalog: Catalog) -> set[str]:
        if catalog.catalog_id not in self._left:
            removed = self._removed[catalog.catalog_id]
            self._left[catalog.catalog_id] = self._search_check.left(catalog, removed)
        return self._left[catalog.catalog_id]


def _share(
    said_of: Sequence[DocumentEvidence],
) -> tuple[list[DocumentEvidence], list[DocumentEvidence]]:
    """Those to decide on now, and those to be proved by a later task."""
    now: list[DocumentEvidence] = []
    later: list[DocumentEvidence] = []
    proved = 0
    for each in said_of:
        _, document, said = each
        needs = _is_removed(document) or said.detail.status in INDEXED
        proved += needs
        (later if needs and proved > _MOST_PROVED else now).append(each)
    return now, later


def _is_removed(document: Document) -> bool:
    """Only a search proves that something is not there any more."""
    return document.status in (DocumentStatus.DELETING, DocumentStatus.FAILED)
