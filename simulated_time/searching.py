"""
The documents that a search finds, and since when; replaces vectors, because nothing is embedded.

A search finds every document that passes its filter, by the simulator's own filters.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator import metadata_filters
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.embedder import Vector
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_indexes import Owner
from bedrock_kb_simulator.metadata import BEDROCK_TEXT, OF_VECTOR, shown_owner
from bedrock_kb_simulator.metadata_filters import DocumentFilter, Filter
from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from bedrock_kb_simulator.vectors import Hit, Passage
from simulated_time.hub import Hub

_INDEXED = ("catalog_id", "document_id")  # attributes with a lookup table


@dataclass
class _Version:
    key: str
    text: str
    since: float
    until: float = float("inf")


@dataclass
class _Searchable:
    """A document with its current passage and, until that is found, the previous one."""

    attributes: dict[str, Value]
    versions: list[_Version] = field(default_factory=list)


@dataclass
class _Shelf:
    documents: dict[Owner, _Searchable] = field(default_factory=dict)
    owners: dict[tuple[str, Any], set[Owner]] = field(default_factory=dict)


class SearchableDocuments:
    """
    The simulator's `Vectors`: one passage per document, found in the order of indexing.

    `removed` is called with the attributes of each document that is no longer found.
    """

    def __init__(self, hub: Hub) -> None:
        self.removed: Callable[[dict[str, Value]], None] = lambda _attributes: None
        self._hub = hub
        self._shelves: dict[str, _Shelf] = {}
        self._since: dict[str, dict[Owner, float]] = {}  # by text
        self._homes: dict[str, str] = {}  # knowledge bases, by the ARN of their index

    def replace(
        self,
        knowledge_base_id: str,
        owner: Owner,
        *,
        index: Index,
        passages: Sequence[Passage],
        attributes: dict[str, Value],
        late: float = 0.0,
    ) -> None:
        self._homes[index.arn] = knowledge_base_id
        self.describe(knowledge_base_id, owner, attributes)
        document = self._shelf(knowledge_base_id).documents[owner]
        since = self._hub.time + SEARCHABLE_LAG.value + late
        for version in document.versions:
            version.until = min(version.until, since)
        document.versions = [each for each in document.versions if each.until > self._hub.time]
        document.versions += [
            _Version(key=each.key, text=each.text, since=since) for each in passages
        ]
        for each in passages:
            self._since.setdefault(each.text, {}).setdefault(owner, since)

    def describe(self, knowledge_base_id: str, owner: Owner, attributes: dict[str, Value]) -> None:
        shelf = self._shelf(knowledge_base_id)
        document = shelf.documents.setdefault(owner, _Searchable(attributes))
        self._forget_attributes(shelf, owner, document)
        document.attributes = attributes
        for name in _INDEXED:
            if name in attributes:
                shelf.owners.setdefault((name, attributes[name]), set()).add(owner)

    def texts(self, owner: Owner) -> dict[str, tuple[str, str | None]]:
        found = (shelf.documents.get(owner) for shelf in self._shelves.values())
        return {
            version.key: (version.text, None)
            for document in found
            if document is not None
            for version in document.versions
            if version.until == float("inf")
        }

    def remove(self, knowledge_base_id: str, owner: Owner) -> None:
        shelf = self._shelf(knowledge_base_id)
        document = shelf.documents.pop(owner, None)
        if document is not None:
            self._forget_attributes(shelf, owner, document)
            for version in document.versions:
                self._since[version.text].pop(owner, None)
            self.removed(document.attributes)

    def found_since(self, text: str) -> float | None:
        """Return when searches find the text, past or future; None if the index lacks it."""
        return min(self._since.get(text, {}).values(), default=None)

    def found(self) -> Iterator[tuple[dict[str, Value], str]]:
        """Yield attributes and text of every document that a search finds now."""
        now = self._hub.time
        for shelf in self._shelves.values():
            for document in shelf.documents.values():
                for version in document.versions:
                    if version.since <= now < version.until:
                        yield document.attributes, version.text

    def remove_data_source(self, knowledge_base_id: str, data_source_id: str) -> None:
        for owner in [
            each for each in self._shelf(knowledge_base_id).documents if each[0] == data_source_id
        ]:
            self.remove(knowledge_base_id, owner)

    def disown(self, knowledge_base_id: str, data_source_id: str) -> None:
        self.remove_data_source(knowledge_base_id, data_source_id)

    def forget_index(self, arn: str) -> None:  # noqa: ARG002 - there is one index a knowledge base
        self._shelves.clear()

    def search(
        self,
        knowledge_base_id: str,
        query: Vector,  # noqa: ARG002 - nothing is nearer than anything else
        limit: int,
        document_filter: DocumentFilter,
    ) -> list[Hit]:
        shelf, now = self._shelf(knowledge_base_id), self._hub.time
        owners = candidates(document_filter.condition, shelf.owners)
        hits: list[Hit] = []
        for owner in shelf.documents if owners is None else sorted(owners):
            document = shelf.documents[owner]
            shown = shown_owner(owner, document.attributes)
            if not document_filter(shown, document.attributes):
                continue
            hits += [
                Hit(
                    key=version.key,
                    text=version.text,
                    score=1.0,
                    owner=shown,
                    attributes=document.attributes,
                )
                for version in document.versions
                if version.since <= now < version.until
            ]
            if len(hits) >= limit:
                break
        return hits[:limit]

    def query_vectors(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Answer a QueryVectors call by its filter alone, because all vectors are equally near."""
        lets_through = metadata_filters.compile_filter(parameters["filter"])
        home, now = self._homes.get(parameters["indexArn"]), self._hub.time
        vectors = [
            {"key": version.key, "metadata": {**metadata, BEDROCK_TEXT: version.text}}
            for owner, document in (self._shelf(home).documents.items() if home else ())
            for version in document.versions
            if version.since <= now < version.until
            and lets_through(
                metadata := {
                    **document.attributes,
                    **OF_VECTOR.of_vector(shown_owner(owner, document.attributes), version.key),
                }
            )
        ]
        return {"vectors": vectors[: parameters["topK"]], "distanceMetric": "cosine"}

    def _shelf(self, knowledge_base_id: str) -> _Shelf:
        return self._shelves.setdefault(knowledge_base_id, _Shelf())

    def _forget_attributes(self, shelf: _Shelf, owner: Owner, document: _Searchable) -> None:
        for name in _INDEXED:
            shelf.owners.get((name, document.attributes.get(name)), set()).discard(owner)


def candidates(
    condition: Filter | None, owners: dict[tuple[str, Any], set[Owner]]
) -> set[Owner] | None:
    """Return all owners that can satisfy the filter, maybe others too; None if it does not tell."""
    if condition is None:
        return None
    operator, operand = next(iter(condition.items()))
    if operator == "equals":
        named = operand["key"] in _INDEXED
        return owners.get((operand["key"], operand["value"]), set()) if named else None
    if operator == "andAll":
        found = [candidates(each, owners) for each in operand]
        return min((each for each in found if each is not None), key=len, default=None)
    if operator == "orAll":
        return _union(candidates(each, owners) for each in operand)
    return None


def _union(sets: Iterable[set[Owner] | None]) -> set[Owner] | None:
    united: set[Owner] = set()
    for each in sets:
        if each is None:
            return None
        united |= each
    return united
