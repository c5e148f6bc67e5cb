"""
What a caller may see: the one place where the filter of a search is built, and its answer checked.

The caller's identity is verified before it gets here; what the caller asked for is only ever added
to it by AND, so a filter can narrow a search and never widen it. Attributes say what whoever wrote
the sidecar says, so each passage must come from its owner's own documents, too.
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

# Whose rejected files' passages are; no verified user can have this id, so no tenant's filter
# matches one.
REJECTED = "!rejected"

_MAX_GROUPS = 5  # filters in a group [Bedrock user guide: kb-test-config]

CatalogOf = Callable[[str], Catalog | None]  # by its id, None if there is no such one


class View(Protocol):
    """A part of what a caller may see, as large as one filter says it."""

    def filter(self, asked: Conditions = ()) -> Filter | None:
        """Lets through what of this part has what was asked for, too; None lets all through."""

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """
        Those whose source is what their attributes say it is; of others a line is logged.

        One forged sidecar costs its own passages and no more. A store that ignored the filter is
        believed in nothing: then this raises KnowledgeBaseUnavailable. Such stores exist:
        https://github.com/ministackorg/ministack/issues/1761 was one.
        """


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
    A verified user in some of their groups, at most as many as one filter takes.

    A member may see whatever its owner shared with one of these groups. Their names are compared
    character by character, and may hold any.
    """

    user_id: str
    groups: tuple[str, ...]

    @classmethod
    def of(cls, caller: Caller) -> tuple[Self, ...]:
        """As many as it takes for all groups of the caller; none if there are no groups."""
        return tuple(cls(caller.user_id, groups) for groups in _batches(caller.groups))

    def filter(self, asked: Conditions = ()) -> Filter:
        return all_of((any_of(Lists(SHARED, group) for group in self.groups), *asked))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """The owner is whoever the attributes name, if the source says so too."""
        inside = _inside(passages, lambda each: _is_shared(each, SHARED, self.groups))
        home = _Home(catalog_of)
        return _own(inside, self.user_id, lambda each: home.is_of(each.attributes.get(USER), each))


@dataclass(frozen=True)
class Everyone:
    """
    Whoever may call at all, in a knowledge base that is everybody's: of another's making than ours.

    Where it is one of ours, because somebody linked the wrong one, its documents have owners, and
    are nobody else's.
    """

    def filter(self, asked: Conditions = ()) -> Filter | None:
        return all_of(asked) if asked else None

    # ARG002: `catalog_of` is the protocol's; here nothing is owned
    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:  # noqa: ARG002
        return _ownerless(tuple(passages))


@dataclass(frozen=True)
class Readers:
    """
    A caller in some of their groups, at most as many as one filter takes, where the attribute
    `listed_in` names the groups that may read a document. A document without it nobody may read,
    nor one with an owner: in a knowledge base of ours, linked by mistake, whoever uploads chooses
    what that attribute says, and to share is not what they meant by it.
    """

    listed_in: str
    groups: tuple[str, ...]

    @classmethod
    def of(cls, caller: Caller, listed_in: str) -> tuple[Self, ...]:
        """As many as it takes for all groups of the caller; none if there are no groups."""
        return tuple(cls(listed_in, groups) for groups in _batches(caller.groups))

    def filter(self, asked: Conditions = ()) -> Filter:
        return all_of((any_of(Lists(self.listed_in, group) for group in self.groups), *asked))

    # ARG002: `catalog_of` is the protocol's; here nothing is owned
    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:  # noqa: ARG002
        return _ownerless(
            _inside(passages, lambda each: _is_shared(each, self.listed_in, self.groups))
        )


@dataclass(frozen=True)
class Owned:
    """
    A verified user in a knowledge base of another's making than ours, where the attribute
    `owner_in` holds the one user who may read a document. A document without it nobody may read,
    nor one with a list there.

    With `readers`, it must be for one of their groups, too.
    """

    owner_in: str
    user_id: str
    readers: Readers | None = None

    def filter(self, asked: Conditions = ()) -> Filter:
        others = () if self.readers is None else (self.readers.filter(),)
        return all_of((Has(self.owner_in, self.user_id), *others, *asked))

    def proven(self, passages: Iterable[Passage], *, catalog_of: CatalogOf) -> tuple[Passage, ...]:
        """The attribute is believed: whoever fills the knowledge base writes it, and no user."""
        inside = _inside(passages, lambda each: _is_shared(each, self.owner_in, (self.user_id,)))
        # A filter lets a list through that has the user in it, and a list is no one user.
        own = tuple(each for each in inside if each.attributes[self.owner_in] == self.user_id)
        if len(own) < len(inside):
            logger.warning("passages kept back: %r of theirs is a list", self.owner_in)
        if self.readers is not None:
            return self.readers.proven(own, catalog_of=catalog_of)
        # In one of ours, linked by mistake, that attribute alone isn't the uploader's to choose.
        return own if self.owner_in == USER else _ownerless(own)


@dataclass(frozen=True)
class Nobody:
    """Whoever asks for the asking's sake, by the id of a user that no verified user can have."""

    def filter(self) -> Filter:
        return Has(USER, "!nobody")


@dataclass(frozen=True)
class Operator:
    """
    Whoever keeps the store in order, and asks across tenants: never to answer a person.

    What was found is taken for the document's only if the document's own id proves it.
    """

    def filter(self, document_id: str) -> Filter:
        return Has(DOCUMENT, document_id)

    def origin_of(self, document_id: str, passages: Iterable[Passage]) -> "Origin | None":
        """Of a document that was ingested directly under this id."""
        found = (origin_of(each) for each in passages if _id_told(each) == document_id)
        return next((each for each in found if each is not None), None)


@dataclass(frozen=True)
class Leftovers:
    """
    Whatever is left in the index of one catalog's documents, whoever's their attributes say they
    are: a rejected file's passages are nobody's. For the operator, never to answer a person.
    """

    catalog_id: str
    prefix: str

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        return cls(catalog.catalog_id, catalog.s3_prefix)

    def filter(self, asked: Conditions = ()) -> Filter:
        return all_of((Has(CATALOG, self.catalog_id), *asked))

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
    Certain documents of whatever owners, each as its owner finds it: for the operator, to see
    whether they are found, never to answer a person.
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
        """With the id of the catalog that each is of; others are nobody's here."""
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
    """Groups, each once, in as many as one filter takes."""
    distinct = tuple(dict.fromkeys(group for group in groups if group))
    starts = range(0, len(distinct), _MAX_GROUPS)
    return [distinct[start : start + _MAX_GROUPS] for start in starts]


def _is_shared(passage: Passage, listed_in: str, groups: Iterable[str]) -> bool:
    shared = passage.attributes.get(listed_in)
    # A store may take the bare text for a list of one: no reason to distrust it.
    listed = shared if isinstance(shared, list) else [shared]
    return any(group in listed for group in groups)


def _inside(
    passages: Iterable[Passage], is_inside: Callable[[Passage], bool]
) -> tuple[Passage, ...]:
    """All of them. Raises KnowledgeBaseUnavailable if the store has ignored the filter."""
    passages = tuple(passages)
    if not all(map(is_inside, passages)):
        raise KnowledgeBaseUnavailable("Retrieve", "passages outside the filter")
    return passages


def _ownerless(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Without what is a user's own, which no linked knowledge base should have."""
    ownerless = tuple(each for each in passages if not _is_owned(each))
    if len(ownerless) < len(passages):
        logger.warning("passages kept back: a knowledge base of catalogs is searched as linked")
    return ownerless


def _is_owned(passage: Passage) -> bool:
    """Whether it has the attributes that a sidecar of ours gives to a user's document."""
    return all(isinstance(passage.attributes.get(key), str) for key in (USER, CATALOG, DOCUMENT))


def _own(
    passages: Iterable[Passage], reader: str, is_owners: Callable[[Passage], bool]
) -> tuple[Passage, ...]:
    """Those that are from their owner; of others a line is logged."""
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
    Where a passage must be from: anywhere of its owner's, or from under a catalog's `prefix`. Which
    catalog its attributes name has been looked at.
    """

    catalog_of: CatalogOf
    prefix: str | None = None

    def is_of(self, owner: object, passage: Passage) -> bool:
        """Whether it is from a document of this user's; `owner` may be what an attribute says."""
        return isinstance(owner, str) and is_user_id(owner) and self.holds(passage, owner)

    def holds(self, passage: Passage, owner: str | None = None) -> bool:
        """By all that the store tells of its source, none of which may contradict; not by less."""
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


# Where a passage comes from, by the store's own word instead of its attributes.
#
# Of an S3 data source's documents the store tells the object's URI. Of those that were ingested
# directly it tells the id that we gave them, which is a hash of catalog and file name; or the URI
# of the text that we ingested, whose key has that id and the owner's; or both; or no more than
# their data source, since Bedrock was seen to leave that id out. Then the hash is to be found
# among the attributes, which we alone write there, and a catalog's record names the data source.


@dataclass(frozen=True)
class Origin:
    """Of a document that was ingested directly."""

    catalog_id: str
    filename: str


def is_told(passage: Passage) -> bool:
    """Whether the store says anything of where it is from."""
    told = (passage.uri, passage.custom_id, passage.data_source_id)
    return any(each is not None for each in told)


def text_of(passage: Passage) -> TextName | None:
    """The text of ours that its URI names; None if it names anything else, or is not told."""
    return None if passage.uri is None else text_name_of(key_of(passage.uri))


def document_id_in(passage: Passage) -> str | None:
    """
    The id that it was ingested under: the store's word, or else that of an attribute of ours.

    None of what has the URI of an uploaded object in its place.
    """
    if (told := _id_told(passage)) is not None:
        return told
    noted = passage.attributes.get("document_id")
    return noted if passage.uri is None and isinstance(noted, str) else None


def _id_told(passage: Passage) -> str | None:
    """The document's id in the store's own word, by itself or in the URI of our text."""
    if passage.custom_id is not None:
        return passage.custom_id
    text = text_of(passage)
    return None if text is None else text.document_id


def owner_attributes(passage: Passage) -> dict[str, object]:
    """Return what its owner attached to the document, and when it was uploaded; nothing of ours."""
    ours = {USER, CATALOG, DOCUMENT, "filename", FOLDER, TEXT_ID, UPLOADED_TS}
    return {
        name: value
        for name, value in passage.attributes.items()
        if name not in ours and not name.startswith(STORE_PREFIX)
    }


def origin_of(passage: Passage) -> Origin | None:
    """
    Catalog and file, if the id that it was ingested under proves what its attributes say, and our
    text, where the URI names one, doesn't contradict.

    Where that id is an attribute itself, it proves no more than that they agree.
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
    Whether it is from where the catalog's documents are ingested directly, by us alone.

    An id of ours that the store tells proves that, unless the data source is another; without such
    an id it must be the one that the record names.
    """
    told, recorded = passage.data_source_id, catalog.data_source_id
    if _id_told(passage) is not None and None in (told, recorded):
        return True
    is_direct = catalog.data_source_type is DataSourceType.CUSTOM
    return told is not None and told == recorded and is_direct


def key_of(uri: str) -> str:
    """The key of the object that an `s3://` URI names."""
    return uri.partition("://")[2].partition("/")[2]


# Whose a catalog is. Somebody else's is as unknown as one that never was.


def owned(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """The user's catalog of this id. Raises CatalogNotFound."""
    catalog = catalogs.get(catalog_id)
    if catalog is None or catalog.user_id != user_id:
        raise CatalogNotFound(catalog_id)
    return catalog


def in_use(catalogs: Catalogs, user_id: str, catalog_id: str) -> Catalog:
    """The same, if it is to stay. Raises CatalogNotFound or CatalogDeleting."""
    catalog = owned(catalogs, user_id, catalog_id)
    if catalog.status is CatalogStatus.DELETING:
        raise CatalogDeleting(catalog.name, catalog.deleting_since)
    return catalog
