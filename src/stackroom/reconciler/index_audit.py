"""
Compare what the knowledge bases list with the records, in both directions, for any number of
documents.

A data source lists its documents in an order of its own, a CUSTOM one by our ids alone, which don't
name the catalog. So the ids of both sides are read once, stored in sorted parts, and compared at
the end. Ids on which they differ are looked at again before anything is done, because both sides
change meanwhile.

Documents that Bedrock failed or ignored stay in the listing, and their records are usually
`failed`, too; as many of those as fit are looked at again each time.
"""

import hashlib
import heapq
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby, islice

from pydantic import AwareDatetime

from stackroom.access.tenancy import key_of
from stackroom.concurrency import chunks
from stackroom.errors import is_systemic
from stackroom.model.keys import locate
from stackroom.model.records import (
    Catalog,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
    PoolMember,
    Record,
)
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.control_audit import known_sources
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.index_orphans import Orphans, is_of_our_form, is_passing
from stackroom.reconciler.mending import isolate_failures
from stackroom.runs.bedrock_calls import NOT_FOUND, DocumentDetail
from stackroom.runs.evidence import may_be_found
from stackroom.runs.inventory import IdParts, KnownSource, ListedDocument
from stackroom.runs.placement import catalog_named_in

# DocumentStatus, and DataSourceStatus [API model bedrock-agent]
_AS_IT_SHOULD_BE = frozenset({"INDEXED", "PENDING", "STARTING", "IN_PROGRESS"})
_AVAILABLE = "AVAILABLE"
PAGES = 25  # of a step; at a page a second, half a minute
_RECORDS = 1000  # of a page
_ID = 12  # bytes of an id, as in `doc-` and 24 hexadecimal digits
# Suspects of a round: as many as a bookmark has room for, since an item may have 400 KB [DynamoDB
# developer guide: Constraints]. Of more, the others are found by later rounds.
SUSPECTS = 10_000
_AT_ONCE = 10  # ids of a GetKnowledgeBaseDocuments [API model bedrock-agent]
_AT_MOST = 100  # suspects of a step, or a page with more; asked for ten at a time


class IndexReading(StrEnum):
    """The readings of a data source, in this order; the last two only if needed."""

    LISTING = "listing"  # the ids of all that it lists are kept
    RECORDS = "records"  # and of all records that it should list; then both are compared
    # Differences are searched for once more, on the side that doesn't list them by id: a data
    # source of one catalog lists by keys; for one that many share, the records are read.
    SUSPECTS = "suspects"
    REST = "rest"  # and what was not met there is looked at by itself


class IndexPosition(Record):
    """
    A position: in that member of the pool, the data source after that one; if it is `source`, this
    reading of it from `page` on, with the time it began. `parts` is the count of stored parts of
    ids; `suspects` are ids that need a second look.
    """

    member: int = 0
    after: str = ""
    source: str | None = None
    reading: IndexReading = IndexReading.LISTING
    page: str | None = None
    began: AwareDatetime | None = None
    parts: int = 0
    suspects: tuple[str, ...] = ()


# An id that needs a second look; the catalog of its record, and how it is listed, as far as known.
_Suspect = tuple[str, str | None, ListedDocument | None]

# Yields what is found, and returns where to go on; None if there is nothing to go on with.
_Reread = Generator[Discrepancy, None, IndexPosition | None]


@dataclass(frozen=True, kw_only=True)
class _OwnedDataSource:
    """
    A data source with documents of ours. `catalog` is the only catalog in it; None if several share
    it.
    """

    source: DataSource
    catalog: Catalog | None

    def __str__(self) -> str:
        return f"{self.source.knowledge_base_id}/{self.source.data_source_id}"

    def document_id_of(self, listed: ListedDocument) -> str:
        """Return the document id: an S3 data source lists URIs of objects, a CUSTOM one our ids."""
        if self.source.type is DataSourceType.CUSTOM:
            return listed.identifier
        return locate(key_of(listed.identifier)).document_id


class TooManyDiffer(Exception):
    def __init__(self) -> None:
        super().__init__(f"more than {SUSPECTS:,} documents differ; later rounds see to the others")


@dataclass(frozen=True)
class IndexAudit:
    """Audit of the index. A data source that can't be compared is reported and skipped."""

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        at = IndexPosition.model_validate_json(cursor) if cursor else IndexPosition()
        if at.member >= len(self.context.pool):
            return None
        member = self.context.pool[at.member]
        try:
            data_source = self._next(at, member)
        except Exception as error:
            if is_systemic(error):
                raise
            yield Discrepancy.not_compared(f"data sources of {member.knowledge_base_id}", error)
            data_source = None
        if data_source is not None:
            following: IndexPosition | None = yield from self._of_source(at, data_source)
        else:
            is_last = at.member + 1 == len(self.context.pool)
            following = None if is_last else IndexPosition(member=at.member + 1)
        return following.model_dump_json(exclude_defaults=True) if following is not None else None

    def _next(self, at: IndexPosition, member: PoolMember) -> _OwnedDataSource | None:
        """Return the data source after that one; None if the member has no other."""
        known = known_sources(self.context.inventory, member.knowledge_base_id)
        for each in sorted(known, key=lambda each: each.source.data_source_id):
            if each.source.data_source_id <= at.after:
                continue
            if each.source.data_source_id == member.data_source_id:
                return _OwnedDataSource(source=each.source, catalog=None)
            if (catalog := self._owner(each)) is not None:
                return _OwnedDataSource(source=each.source, catalog=catalog)
        return None

    def _owner(self, known: KnownSource) -> Catalog | None:
        catalog_id = catalog_named_in(known.name)
        if catalog_id is None or known.status != _AVAILABLE:
            return None
        catalog = self.context.catalogs.get(catalog_id)
        return catalog if catalog is not None and catalog.source == known.source else None

    def _of_source(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        source = data_source.source.data_source_id
        past = IndexPosition(member=at.member, after=source)
        if at.source != source:
            at = IndexPosition(
                member=at.member, after=at.after, source=source, began=self.context.mending.now()
            )
        try:
            following = yield from self._read(at, data_source)
        except Exception as error:
            if is_systemic(error):
                raise
            yield Discrepancy.not_compared(str(data_source), error)
            return past
        return following or past

    def _read(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        match at.reading:
            case IndexReading.LISTING:
                return (yield from self._listed(at, data_source))
            case IndexReading.RECORDS:
                return (yield from self._recorded(at, data_source))
            case IndexReading.SUSPECTS:
                return (yield from self._met(at, data_source))
            case IndexReading.REST:
                return (yield from self._rest(at, data_source))

    def _listed(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        """Fetch and compare a page of the listing."""
        listed, others = list[str](), set(at.suspects)
        for _ in range(PAGES):
            page = self.context.inventory.indexed(data_source.source, at.page)
            if page is None:
                return None
            for each in page.items:
                name, detail = data_source.document_id_of(each), each.detail
                if data_source.source.type is DataSourceType.CUSTOM and not is_of_our_form(name):
                    # Somebody else put it there.
                    yield from isolate_failures(
                        name, Orphans(self.context).follow(data_source.source, None, each)
                    )
                elif not self._is_older(detail.updated_at, at):
                    pass  # a listing that had come by before did not tell what happened since
                elif detail.status in _AS_IT_SHOULD_BE:
                    listed.append(name)
                elif not is_passing(detail):
                    others.add(name)
            at = at.model_copy(update={"page": page.next})
            if page.next is None:
                at = at.model_copy(update={"reading": IndexReading.RECORDS})
                break
        # If more than half of all that there is room for, another draw of them each time.
        shuffled = sorted(others, key=lambda each: _sort_key(each, at))
        fitting = tuple(shuffled[: SUSPECTS // 2])
        return self._kept(at, IndexReading.LISTING, listed).model_copy(update={"suspects": fitting})

    def _recorded(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        """Fetch a page of records, and compare after the last."""
        recorded = list[str]()
        for _ in range(PAGES):
            documents, following = self._records(data_source, at.page)
            for document in documents:
                is_indexed = document.status is DocumentStatus.INDEXED
                if is_indexed and self._is_older(document.updated_at, at):
                    recorded.append(document.document_id)
            at = at.model_copy(update={"page": following})
            if following is None:
                break
        at = self._kept(at, IndexReading.RECORDS, recorded)
        if at.page is not None:
            return at
        found = set(islice(differences(self.context.ids, _reading_of(at)), SUSPECTS + 1))
        if len(found) > SUSPECTS:
            yield Discrepancy.not_compared(str(data_source), TooManyDiffer())
        suspects = sorted(found.union(at.suspects))[:SUSPECTS]
        changes = {
            "reading": IndexReading.SUSPECTS,
            "began": self.context.mending.now(),
            "suspects": tuple(suspects),
        }
        return at.model_copy(update=changes)

    def _kept(self, at: IndexPosition, side: IndexReading, names: list[str]) -> IndexPosition:
        if not names:
            return at
        part = b"".join(sorted(bytes.fromhex(each.removeprefix("doc-")) for each in names))
        self.context.ids.keep(f"{_reading_of(at)} {side}", at.parts, part)
        return at.model_copy(update={"parts": at.parts + 1})

    def _records(
        self, data_source: _OwnedDataSource, cursor: str | None
    ) -> tuple[list[Document], str | None]:
        """Return a page of the data source's documents, and the cursor of the next."""
        if data_source.catalog is not None:
            catalog_id = data_source.catalog.catalog_id
            found = self.context.documents.page(catalog_id, after=cursor, limit=_RECORDS)
            return list(found.documents), found.next
        page = self.context.inventory.records(cursor)
        documents = (each for each in page.items if isinstance(each, Document))
        living: list[Document] = []
        for catalog_id, of_one in groupby(documents, key=lambda each: each.catalog_id):
            home = self.context.catalogs.get(catalog_id)
            if home is not None and home.source == data_source.source:
                living += of_one
        return living, page.next

    def _is_older(self, moment: datetime | None, at: IndexPosition) -> bool:
        """
        Return True if the moment was long enough before the reading for both sides to show it.
        """
        return moment is not None and self.context.mending.is_settled(moment, by=at.began)

    def _met(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        """Look again at the suspects on a page of the side that names most of them."""
        if not at.suspects:
            return None
        left, following, began = set(at.suspects), at.page, self.context.mending.now()
        met: list[_Suspect] = []
        for _ in range(PAGES):
            named, following = self._named(data_source, following)
            met += (each for each in named if each[0] in left)
            if following is None or len(met) >= _AT_MOST:
                break
        yield from self._checked(data_source, met, by=began)
        changes = {
            "reading": IndexReading.REST if following is None else at.reading,
            "page": following,
            "suspects": tuple(sorted(left.difference(name for name, _, _ in met))),
        }
        return at.model_copy(update=changes)

    def _named(
        self, data_source: _OwnedDataSource, cursor: str | None
    ) -> tuple[list[_Suspect], str | None]:
        """Return a page of the side that doesn't list documents by id, and the next cursor."""
        if data_source.catalog is None:
            records = self.context.inventory.records(cursor)
            documents = (each for each in records.items if isinstance(each, Document))
            return [(each.document_id, each.catalog_id, None) for each in documents], records.next
        page = self.context.inventory.indexed(data_source.source, cursor)
        if page is None:
            return [], None
        catalog_id = data_source.catalog.catalog_id
        return [
            (data_source.document_id_of(each), catalog_id, each) for each in page.items
        ], page.next

    def _rest(self, at: IndexPosition, data_source: _OwnedDataSource) -> _Reread:
        """Look again at suspects that were on no page."""
        some, more = at.suspects[:_AT_MOST], at.suspects[_AT_MOST:]
        catalog_id = data_source.catalog.catalog_id if data_source.catalog is not None else None
        yield from self._checked(
            data_source, [(each, catalog_id, None) for each in some], by=at.began
        )
        return at.model_copy(update={"suspects": more}) if more else None

    def _checked(
        self, data_source: _OwnedDataSource, suspects: Iterable[_Suspect], *, by: datetime | None
    ) -> Iterator[Discrepancy]:
        """Yield what is wrong with suspects, except those that changed since `by`."""
        for some in chunks(suspects, of=_AT_ONCE):
            what = f"{data_source}: {', '.join(name for name, _, _ in some)}"
            yield from isolate_failures(what, self._of_some(data_source, some, by))

    def _of_some(
        self, data_source: _OwnedDataSource, some: list[_Suspect], by: datetime | None
    ) -> Iterator[Discrepancy]:
        details: Mapping[str, DocumentDetail] = {}
        if data_source.catalog is None:
            details = self.context.direct.details(data_source.source, [name for name, _, _ in some])
        for name, catalog_id, met in some:
            listed = met or ListedDocument(identifier=name, detail=details.get(name, NOT_FOUND))
            yield from isolate_failures(
                f"{data_source}: {name}", self._of_one(data_source, catalog_id, name, listed, by)
            )

    def _of_one(
        self,
        data_source: _OwnedDataSource,
        catalog_id: str | None,
        document_id: str,
        listed: ListedDocument,
        by: datetime | None,
    ) -> Iterator[Discrepancy]:
        mending, document, home = self.context.mending, None, None
        if catalog_id is not None:
            document = self.context.documents.get(catalog_id, document_id)
            home = self.context.catalogs.get(catalog_id)
        if document is None:
            # A record that was made since has had it ingested since.
            reported_at = listed.detail.updated_at
            if reported_at is not None and mending.is_settled(reported_at, by=by):
                yield from Orphans(self.context).follow(
                    data_source.source, data_source.catalog, listed
                )
            return
        if home is None or not mending.is_settled(document.updated_at, by=by):
            return
        if home.source == data_source.source:
            yield from self._judged(home, document, listed.detail)
        elif home.source is not None and data_source.catalog is None:
            yield from Orphans(self.context).surplus(data_source.source, listed)

    def _judged(
        self, home: Catalog, document: Document, detail: DocumentDetail
    ) -> Iterator[Discrepancy]:
        kind = _suspicion(document, detail)
        if kind is None:
            return
        if kind is Kind.INDEXED_AFTER_ALL and not self.context.search_check.found(
            [(home, document)]
        ):
            return
        if kind is Kind.REJECTED_IN_INDEX:
            yield from self.context.mending.evicted(document, home)
        else:
            yield from self.context.mending.run_again(document, kind)


def differences(ids: IdParts, reading: str) -> Iterator[str]:
    """Yield, in order, the ids that only one side of the reading has."""
    sides = (IndexReading.LISTING, IndexReading.RECORDS)
    parts = (_of_part(each, side) for side in sides for each in ids.parts(f"{reading} {side}"))
    for number, both in groupby(heapq.merge(*parts), key=lambda each: each[0]):
        if len({side for _, side in both}) == 1:
            yield f"doc-{number.hex()}"


def _of_part(part: bytes, side: IndexReading) -> Iterator[tuple[bytes, IndexReading]]:
    return ((part[at : at + _ID], side) for at in range(0, len(part), _ID))


def _reading_of(at: IndexPosition) -> str:
    """Return the name of the reading: a round and a dry run at the same time have their own."""
    return f"{at.member} {at.source} {at.began}"


def _sort_key(document_id: str, at: IndexPosition) -> str:
    """Return a sort key that differs for each reading."""
    return hashlib.blake2b(f"{document_id} {at.began}".encode(), digest_size=8).hexdigest()


def _suspicion(document: Document, detail: DocumentDetail) -> Kind | None:
    if document.status is DocumentStatus.INDEXED:
        return None if detail.status in _AS_IT_SHOULD_BE else Kind.MISSING_FROM_INDEX
    has_no_version = document.is_rejected or (document.is_withheld and document.indexed_at is None)
    if has_no_version and not document.is_open and may_be_found(detail.status):
        return Kind.REJECTED_IN_INDEX
    if document.status is DocumentStatus.FAILED and _was_indexed_since(document, detail):
        return Kind.INDEXED_AFTER_ALL
    return None


def _was_indexed_since(document: Document, detail: DocumentDetail) -> bool:
    """
    Return True if the document was indexed since. What the knowledge base reported before the
    document failed is part of its verdict already.
    """
    if document.lingering or document.present_since is None or detail.updated_at is None:
        return False
    return detail.status == "INDEXED" and detail.updated_at > document.updated_at
