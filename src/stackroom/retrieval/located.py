"""
Where the documents of a shared data source lie in the bucket.

A knowledge base tells the object of a passage only if an ingestion job has crawled it. What was
ingested directly has our own id; catalog and file name say the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from stackroom import tenancy
from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.filters import Filter
from stackroom.model import Catalog
from stackroom.ports.retrieval import KnowledgeBase, Passage, Retrieved

_KEPT = 10_000  # prefixes, of some 100 bytes each


class CatalogReader(Protocol):
    def get(self, catalog_id: str) -> Catalog | None: ...


@dataclass
class Prefixes:
    """Of catalogs, by their ids; one never changes, so that each is read once."""

    catalogs: CatalogReader
    _known: dict[str, str] = field(default_factory=dict)

    def of(self, catalog_id: str) -> str | None:
        """None if there is no such catalog any more."""
        if (known := self._known.get(catalog_id)) is not None:
            return known
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:
            return None
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[catalog_id] = catalog.s3_prefix
        return catalog.s3_prefix


@dataclass(frozen=True)
class Located:
    """A `KnowledgeBase` in front of another, whose passages have the URI of their object."""

    knowledge_base: KnowledgeBase
    prefixes: Prefixes
    uri_of: Callable[[str], str]

    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002 - the port's name
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        found = self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
        return replace(found, passages=tuple(map(self._located, found.passages)))

    def _located(self, passage: Passage) -> Passage:
        if passage.uri is not None:
            return passage
        catalog_id = passage.attributes.get(tenancy.CATALOG)
        filename = passage.attributes.get("filename")
        if not isinstance(catalog_id, str) or not isinstance(filename, str):
            return passage
        prefix = self.prefixes.of(catalog_id)
        return passage if prefix is None else replace(passage, uri=self.uri_of(prefix + filename))
