"""
Build the filter of what a caller may see, and verify what a search returned. No other module does.

The caller's identity has been verified. The caller's own filter is only ever added by AND, so it
can narrow a search and never widen it. Attributes say whatever the author of a sidecar wrote, so
each passage must also be proven to come from its owner's documents.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from stackroom.access.identity import Caller
from stackroom.errors import CatalogDeleting, CatalogNotFound, KnowledgeBaseUnavailable
from stackroom.model.attributes import FOLDER, TEXT_ID, UPLOADED_TS
from stackroom.model.filters import Conditions, Filter, Has, Lists, all_of, any_of
from stackroom.model.keys import TextName, document_id_of, is_user_id, text_name_of
from stackroom.model.passages import Passage
from stackroom.model.records import Catalog, CatalogStatus, DataSourceType, Document
from stackroom.model.repositories import Catalogs

logger = logging.getLogger(__name__)

USER = "user_id"
CATALOG = "catalog_id"
DOCUMENT = "document_id"
SHARED = "allowed_groups"  # whom the owner shares the document with; without it, with nobody
STORE_PREFIX = "x-amz-bedrock"  # what Bedrock adds to a passage's attributes of its own accord

# The owner of rejected files' passages; no verified user can have this id, so no tenant's filter
# matches one.
REJECTED = "!rejected"

_MAX_GROUPS = 5  # filters in a group [Bedrock user guide: kb-test-config]

CatalogOf = Callable[[str], Catalog | None]  # by its id; None if it doesn't exist


class View(Protocol):
    """A part of what a caller may see, as large as one filter can describe."""

    def filter(self, conditions: Conditions = ()) -> Filter | None:
        """
        Return a filter for what of this part matches `conditions`, too; None excludes nothing.
        """

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """
        Return the passages whose source is what their attributes claim; log a line about others.

        A forged sidecar hides only its own passages. If a store ignored the filter, nothing it
        returned is trusted and KnowledgeBaseUnavailable is raised. Such stores have existed:
        https://github.com/ministackorg/ministack/issues/1761 is one.
        """


@dataclass(frozen=True)
class Tenant:
    """
    A verified user, and optionally the catalog of theirs that the search is restricted to.

    `prefix` is the catalog's; without one, everything under the user's own prefix belongs to the
    tenant.
    """

    user_id: str
    catalog_id: str | None = None
    prefix: str | None = None

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        """Return the owner of this catalog, restricted to it."""
        return cls(catalog.user_id, catalog.catalog_id, catalog.s3_prefix)

    def filter(self, conditions: Conditions = ()) -> Filter:
        return all_of((*(Has(key, value) for key, value in self._attributes()), *conditions))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        inside = _inside(
            passages,
            lambda each: all(
                each.attributes.get(key) == value for key, value in self._attributes()
            ),
        )
        home = _Home(catalog_of, self.prefix)
        return _own(inside, self.user_id, lambda each: home.is_of(self.user_id, each))

    def _attributes(self) -> tuple[tuple[str, str], ...]:
        own = ((USER, self.user_id),)
        return (*own, (CATALOG, self.catalog_id)) if self.catalog_id else own


@dataclass(frozen=True)
class Member:
    """
    A verified user in some of their groups, at most as many as one filter can hold.

    A member may see what an owner has shared with one of these groups. Group names are compared
    character by character and may contain any character.
    """

    user_id: str
    groups: tuple[str, ...]

    @classmethod
    def of(cls, caller: Caller) -> tuple[Self, ...]:
        """Return as many members as all groups of the caller need; none without groups."""
        return tuple(cls(caller.user_id, groups) for groups in _batches(caller.groups))

    def filter(self, conditions: Conditions = ()) -> Filter:
        return all_of((any_of(Lists(SHARED, group) for group in self.groups), *conditions))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """Return passages of whichever owner the attributes name, if the source confirms it."""
        inside = _inside(passages, lambda each: _is_shared(each, SHARED, self.groups))
        home = _Home(catalog_of)
        return _own(inside, self.user_id, lambda each: home.is_of(each.attributes.get(USER), each))


@dataclass(frozen=True)
class Everyone:
    """
    Anyone who may call, in a linked knowledge base that everyone may read.

    If somebody linked one of ours by mistake, its documents have owners, and nobody else sees them.
    """

    def filter(self, conditions: Conditions = ()) -> Filter | None:
        return all_of(conditions) if conditions else None

    # ARG002: `catalog_of` is the protocol's; here nothing is owned
    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:  # noqa: ARG002
        return _ownerless(tuple(passages))


@dataclass(frozen=True)
class Readers:
    """
    A caller in some of their groups, at most as many as one filter can hold, in a linked knowledge
    base where the attribute `listed_in` names the groups that may read a document.

    Nobody may read a document without that attribute, nor one with an owner: in a knowledge base of
    ours, linked by mistake, the uploader chose the attribute's value without meaning to share.
    """

    listed_in: str
    groups: tuple[str, ...]

    @classmethod
    def of(cls, caller: Caller, listed_in: str) -> tuple[Self, ...]:
        """Return as many readers as all groups of the caller need; none without groups."""
        return tuple(cls(listed_in, groups) for groups in _batches(caller.groups))

    def filter(self, conditions: Conditions = ()) -> Filter:
        return all_of((any_of(Lists(self.listed_in, group) for group in self.groups), *conditions))

    # ARG002: `catalog_of` is the protocol's; here nothing is owned
    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:  # noqa: ARG002
        return _ownerless(
            _inside(passages, lambda each: _is_shared(each, self.listed_in, self.groups))
        )


@dataclass(frozen=True)
class Owned:
    """
    A verified user in a linked knowledge base where the attribute `owner_in` names the only user
    who may read a document. Nobody may read a document without it, or with a list in it.

    With `readers`, the document must also be for one of their groups.
    """

    owner_in: str
    user_id: str
    readers: Readers | None = None

    def filter(self, conditions: Conditions = ()) -> Filter:
        others = () if self.readers is None else (self.readers.filter(),)
        return all_of((Has(self.owner_in, self.user_id), *others, *conditions))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """Return passages by an attribute that the program filling the store writes, not users."""
        inside = _inside(passages, lambda each: _is_shared(each, self.owner_in, (self.user_id,)))
        # A filter also matches a list that contains the user, and a list is not one user.
        own = tuple(each for each in inside if each.attributes[self.owner_in] == self.user_id)
        if len(own) < len(inside):
            logger.warning("passages kept back: %r of theirs is a list", self.owner_in)
        if self.readers is not None:
            return self.readers.proven(own, catalog_of=catalog_of)
        # In one of ours, linked by mistake, that attribute alone isn't the uploader's to choose.
        return own if self.owner_in == USER else _ownerless(own)


@dataclass(frozen=True)
class Operator:
    """
    An operator who maintains the store and searches across tenants. Never used to answer a person.

    A passage belongs to the document only if the document's own id proves it.
    """

    def filter(self, document_id: str) -> Filter:
        return Has(DOCUMENT, document_id)

    def origin_of(self, document_id: str, passages: Iterable[Passage]) -> "Origin | None":
        """Return the origin of a document that was ingested directly under this id."""
        found = (origin_of(each) for each in passages if _reported_id(each) == document_id)
        return next((each for each in found if each is not None), None)


@dataclass(frozen=True)
class Leftovers:
    """
    Everything in the index of one catalog's documents, whatever owner their attributes name: the
    passages of a rejected file have none. For an operator, never used to answer a person.
    """

    catalog_id: str
    prefix: str

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        return cls(catalog.catalog_id, catalog.s3_prefix)

    def filter(self, conditions: Conditions = ()) -> Filter:
        return all_of((Has(CATALOG, self.catalog_id), *conditions))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        inside = _inside(passages, lambda each: each.attributes.get(CATALOG) == self.catalog_id)
        home = _Home(catalog_of, self.prefix)
        catalog = catalog_of(self.catalog_id)
        # A data source that is off the record proves nothing; then what agrees is looked for again.
        is_off_record = catalog is not None and catalog.data_source_id is None
        return tuple(
            each
            for each in inside
            if home.holds(each) or (is_off_record and origin_of(each) is not None)
        )


@dataclass(frozen=True)
class Owners:
    """
    Certain documents of any owners, each as its owner finds it. An operator uses it to check
    whether they are found; it never answers a person.
    """

    catalogs: Mapping[str, Catalog]
    document_ids: tuple[str, ...]

    @classmethod
    def of(cls, documents: Iterable[tuple[Catalog, Document]]) -> Self:
        documents = tuple(documents)
        return cls(
            {catalog.catalog_id: catalog for catalog, _ in documents},
            tuple(document.document_id for _, document in documents),
        )

    def filter(self) -> Filter:
        return any_of(Has(DOCUMENT, each) for each in self.document_ids)

    def proven(self, passages: Iterable[Passage]) -> list[tuple[str, Passage]]:
        """Return the passages, each with the id of its catalog; passages of others are dropped."""
        found: dict[str, list[Passage]] = {}
        for each in _inside(
            passages, lambda each: each.attributes.get(DOCUMENT) in self.document_ids
        ):
            catalog = self.catalogs.get(str(each.attributes.get(CATALOG)))
            if catalog is not None and each.attributes.get(USER) == catalog.user_id:
                found.setdefault(catalog.catalog_id, []).append(each)
        return [
            (catalog_id, passage)
            for catalog_id, own in found.items()
            for passage in Tenant.of(self.catalogs[catalog_id]).proven(
                own, catalog_of=self.catalogs.get
            )
        ]


def _batches(groups: Iterable[str]) -> list[tuple[str, ...]]:
    """Split the distinct groups into batches that one filter can hold."""
    distinct = tuple(dict.fromkeys(group for group in groups if group))
    starts = range(0, len(distinct), _MAX_GROUPS)
    return [distinct[start : start + _MAX_GROUPS] for start in starts]


def _is_shared(passage: Passage, listed_in: str, groups: Iterable[str]) -> bool:
    shared = passage.attributes.get(listed_in)
    # A store may read plain text as a list of one, which is no reason to distrust it.
    listed = shared if isinstance(shared, list) else [shared]
    return any(group in listed for group in groups)


def _inside(
    passages: Iterable[Passage], is_inside: Callable[[Passage], bool]
) -> tuple[Passage, ...]:
    """Return the passages. Raises KnowledgeBaseUnavailable if the store has ignored the filter."""
    passages = tuple(passages)
    if not all(map(is_inside, passages)):
        raise KnowledgeBaseUnavailable("Retrieve", "passages outside the filter")
    return passages


def _ownerless(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Return the passages without a user's own, which no linked knowledge base should have."""
    ownerless = tuple(each for each in passages if not _is_owned(each))
    if len(ownerless) < len(passages):
        logger.warning("passages kept back: a knowledge base of catalogs is searched as linked")
    return ownerless


def _is_owned(passage: Passage) -> bool:
    """Return True if a passage has the attributes that our sidecar gives to a user's document."""
    return all(isinstance(passage.attributes.get(key), str) for key in (USER, CATALOG, DOCUMENT))


def _own(
    passages: Iterable[Passage], reader: str, is_owners: Callable[[Passage], bool]
) -> tuple[Passage, ...]:
    """Return the passages that come from their owner; log a line about others."""
    own: list[Passage] = []
    foreign: set[str] = set()
    for each in passages:
        if is_owners(each):
            own.append(each)
        else:
            foreign.add(each.custom_id or each.uri or each.data_source_id or "an unknown source")
    if foreign:
        logger.warning("passages kept from %r: they are from %r", reader, sorted(foreign))
    return tuple(own)


@dataclass(frozen=True)
class _Home:
    """
    The location where a passage must come from: its owner's prefix, or a catalog's `prefix`. The
    catalog that its attributes name has been checked.
    """

    catalog_of: CatalogOf
    prefix: str | None = None

    def is_of(self, owner: object, passage: Passage) -> bool:
        """
        Return True if the passage is of a document of this user; `owner` may be an attribute's
        value.
        """
        return isinstance(owner, str) and is_user_id(owner) and self.holds(passage, owner)

    def holds(self, passage: Passage, owner: str | None = None) -> bool:
        """
        Return True if all that the store reports of the passage's source confirms the location.
        """
        text = text_of(passage)
        if passage.uri is not None and text is None:
            if not key_of(passage.uri).startswith(self.prefix or f"{owner}/"):
                return False
            if passage.custom_id is None:
                return True
        # It was ingested directly, and so under an id of ours.
        origin = origin_of(passage)
        catalog = None if origin is None else self.catalog_of(origin.catalog_id)
        if catalog is None or owner not in (None, catalog.user_id):
            return False
        is_owners = text is None or text.user_id == catalog.user_id
        return is_owners and is_ingested_into(catalog, passage)


# The source of a passage, as the store reports it and not as its attributes do.
#
# For a document of an S3 data source, the store reports the object's URI. For one that was ingested
# directly, it reports the id that we gave it, which is a hash of catalog and file name; or the URI
# of the text that we ingested, whose key has that id and the owner's; or both; or only the data
# source, since Bedrock was seen to leave that id out. Then the hash must be among the attributes,
# which we alone write there, and the catalog's record names the data source.


@dataclass(frozen=True)
class Origin:
    """The origin of a document that was ingested directly."""

    catalog_id: str
    filename: str


def has_source(passage: Passage) -> bool:
    """Return True if the store reports anything of the passage's source."""
    reported = (passage.uri, passage.custom_id, passage.data_source_id)
    return any(each is not None for each in reported)


def text_of(passage: Passage) -> TextName | None:
    """Return the text of ours that the passage's URI names; None if it names anything else."""
    return None if passage.uri is None else text_name_of(key_of(passage.uri))


def document_id_in(passage: Passage) -> str | None:
    """
    Return the id under which the passage was ingested: the store's, or else that of our attribute.

    Returns None if the passage has the URI of an uploaded object instead.
    """
    if (reported := _reported_id(passage)) is not None:
        return reported
    noted = passage.attributes.get("document_id")
    return noted if passage.uri is None and isinstance(noted, str) else None


def _reported_id(passage: Passage) -> str | None:
    """Return the document id that the store reports, by itself or in the URI of our text."""
    if passage.custom_id is not None:
        return passage.custom_id
    text = text_of(passage)
    return None if text is None else text.document_id


def owner_attributes(passage: Passage) -> dict[str, object]:
    """Return the attributes that the owner gave the document, and its upload time."""
    ours = {USER, CATALOG, DOCUMENT, "filename", FOLDER, TEXT_ID, UPLOADED_TS}
    return {
        name: value
        for name, value in passage.attributes.items()
        if name not in ours and not name.startswith(STORE_PREFIX)
    }


def origin_of(passage: Passage) -> Origin | None:
    """
    Return catalog and file if the id under which the passage was ingested proves its attributes,
    and the text that its URI may name doesn't contradict them.

    If the id is itself an attribute, it proves only that the attributes agree.
    """
    catalog_id = str(passage.attributes.get(CATALOG))
    filename = str(passage.attributes.get("filename"))
    document_id = document_id_of(catalog_id, filename)
    is_proven = document_id == document_id_in(passage)
    if (text := text_of(passage)) is not None:
        named = (text.catalog_id, text.document_id, passage.attributes.get(DOCUMENT))
        is_proven = is_proven and named == (catalog_id, document_id, document_id)
    return Origin(catalog_id, filename) if is_proven else None


def is_ingested_into(catalog: Catalog, passage: Passage) -> bool:
    """
    Return True if the passage comes from where only we ingest the catalog's documents directly.

    An id of ours that the store reports proves that, unless the data source is another. Without
    such an id, the data source must be the one that the catalog's record names.
    """
    reported, recorded = passage.data_source_id, catalog.data_source_id
    if _reported_id(passage) is not None and None in (reported, recorded):
        return True
    is_direct = catalog.data_source_type is DataSourceType.CUSTOM
    return reported is not None and reported == recorded and is_direct


def key_of(uri: str) -> str:
    """Return the key of the object that an `s3://` URI names."""
    return uri.partition("://")[2].partition("/")[2]


# The owner of a catalog. Somebody else's is as unknown as one that never was.


def owned(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """Return the user's catalog of this id. Raises CatalogNotFound."""
    catalog = catalogs.get(catalog_id)
    if catalog is None or catalog.user_id != user_id:
        raise CatalogNotFound(catalog_id)
    return catalog


def in_use(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """
    Return the user's catalog unless it is being deleted. Raises CatalogNotFound or CatalogDeleting.
    """
    catalog = owned(catalogs, user_id, catalog_id)
    if catalog.status is CatalogStatus.DELETING:
        raise CatalogDeleting(catalog.name, catalog.deleting_since)
    return catalog
