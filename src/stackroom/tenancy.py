"""
What a caller may see: the one place where the filter of a search is built, and its answer checked.

The caller's identity is verified before it gets here; what the caller asked for is only ever added
to it by AND, so a filter can narrow a search and never widen it. Attributes say what whoever wrote
the sidecar says, so each passage must come from the tenant's own documents, too.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.filters import AnyOf, Filter, Has, Scalar, all_of, any_of
from stackroom.model import Catalog
from stackroom.origins import Origin, key_of, origin_of
from stackroom.ports.retrieval import Passage

logger = logging.getLogger(__name__)

USER = "user_id"
CATALOG = "catalog_id"
DOCUMENT = "document_id"
STORE_PREFIX = "x-amz-bedrock"  # what Bedrock adds to a passage's attributes of its own accord

# User and catalog are two conditions, and Bedrock documents five a group and five groups.
MAX_KEYS = 3
MAX_VALUES = 5
MAX_KEY_LENGTH = 100  # FilterKey in the API model of Bedrock's Retrieve
MAX_VALUE_LENGTH = 2048  # stringValue of a document's metadata, in the same model

Conditions = tuple[Has | AnyOf, ...]


@dataclass(frozen=True)
class Tenant:
    """
    A verified user, and the catalog of theirs that the search is narrowed to.

    `prefix` is the catalog's; without one, everything under the user's own belongs to the tenant.
    """

    user_id: str
    catalog_id: str | None = None
    prefix: str | None = None

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        """The owner, and just this catalog."""
        return cls(catalog.user_id, catalog.catalog_id, catalog.s3_prefix)

    def filter(self, asked: Conditions = ()) -> Filter:
        return all_of((*(Has(key, value) for key, value in self._attributes()), *asked))

    def owns(self, passages: Iterable[Passage]) -> bool:
        """
        Whether every passage carries this tenant's attributes.

        A store that ignores filters answers as readily as one that applies them, so the answer is
        checked too: https://github.com/ministackorg/ministack/issues/1761 was one that did.
        """
        return all(
            passage.attributes.get(key) == value
            for passage in passages
            for key, value in self._attributes()
        )

    def own(
        self, passages: Iterable[Passage], *, owner_of: Callable[[str], str | None]
    ) -> tuple[Passage, ...]:
        """
        Those whose source is this tenant's, whatever their attributes say; of others a line is
        logged. `owner_of` answers the user of a catalog's id, None if there is no such catalog.

        One forged sidecar costs its own passages and no more. A store that ignored the filter is
        believed in nothing: then this raises KnowledgeBaseUnavailable.
        """
        passages = tuple(passages)
        if not self.owns(passages):
            raise KnowledgeBaseUnavailable("Retrieve", "passages outside the filter")
        own: list[Passage] = []
        foreign: set[str] = set()
        for each in passages:
            if self._is_source_of(each, owner_of):
                own.append(each)
            else:
                foreign.add(each.custom_id or each.uri or "an unknown source")
        if foreign:
            logger.warning("passages kept from %r: they are from %r", self.user_id, sorted(foreign))
        return tuple(own)

    def _is_source_of(self, passage: Passage, owner_of: Callable[[str], str | None]) -> bool:
        if passage.custom_id is None:
            prefix = self.prefix or f"{self.user_id}/"
            return passage.uri is not None and key_of(passage.uri).startswith(prefix)
        origin = origin_of(passage)
        if origin is None:
            return False
        if self.catalog_id is not None:
            return origin.catalog_id == self.catalog_id
        return owner_of(origin.catalog_id) == self.user_id

    def _attributes(self) -> tuple[tuple[str, str], ...]:
        own = ((USER, self.user_id),)
        return (*own, (CATALOG, self.catalog_id)) if self.catalog_id else own


@dataclass(frozen=True)
class Operator:
    """
    Whoever keeps the store in order, and asks across tenants: never to answer a person.

    What was found is taken for the document's only if the document's own id proves it.
    """

    def filter(self, document_id: str) -> Filter:
        return Has(DOCUMENT, document_id)

    def origin_of(self, document_id: str, passages: Iterable[Passage]) -> Origin | None:
        """Of a document that was ingested directly under this id."""
        found = (origin_of(each) for each in passages if each.custom_id == document_id)
        return next((each for each in found if each is not None), None)


def conditions(asked: object) -> Conditions:
    """
    What a caller's `filter` argument demands: all of its keys, any of a key's values.

    Raises ValueError, fit to be shown to the caller.
    """
    if not isinstance(asked, Mapping):
        raise ValueError("must be an object of metadata keys and values")
    if len(asked) > MAX_KEYS:
        raise ValueError(f"names {len(asked)} keys, at most {MAX_KEYS} are possible")
    return tuple(_condition(_checked_key(key), value) for key, value in asked.items())


def _condition(key: str, asked: object) -> Has | AnyOf:
    values = asked if isinstance(asked, list | tuple) else [asked]
    if not 1 <= len(values) <= MAX_VALUES:
        raise ValueError(f"{key!r} has {len(values)} values, 1 to {MAX_VALUES} are possible")
    checked = [_checked_value(key, value) for value in values]
    # By type too, for True and 1 are equal here and different in a store.
    distinct = {(type(value), value): value for value in checked}.values()
    return any_of(Has(key, value) for value in distinct)


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise ValueError(f"keys must be text of 1 to {MAX_KEY_LENGTH} characters")
    plain = key.strip().casefold()
    if plain in {USER, CATALOG} or plain.startswith(STORE_PREFIX):
        raise ValueError(
            f"may not name {key!r}: whose documents are searched follows from the signed-in user"
            " and the catalog_id argument"
        )
    return _encodable(key)


def _checked_value(key: str, value: object) -> Scalar:
    match value:
        case bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case str() if 1 <= len(value) <= MAX_VALUE_LENGTH:
            return _encodable(value)
        case _:
            raise ValueError(
                f"{key!r} must be text of 1 to {MAX_VALUE_LENGTH} characters, a number,"
                f" true or false, or a list of at most {MAX_VALUES} of these"
            )


def _encodable(text: str) -> str:
    """JSON can smuggle in half a surrogate pair, which no request to a store can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode text") from None
    return text
