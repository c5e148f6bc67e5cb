"""
Browse a catalog's documents: filter by name and state, and sort.

A catalog of fewer than `WHOLE` documents is read as it is. For a larger one, the list of names is
read, some 150 bytes a document, and only the records on the page: 10,000 records would be 8 MB,
which DynamoDB returns in nine requests and which takes us a second to read. For a very large one,
`NAMES_SEARCHED` names at a time are searched and sorted, and the result says so; documents that
failed, are under way, or begin with the words are always found.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any

from stackroom.access.tenancy import owned
from stackroom.catalogs.transfers import FORM_SECONDS
from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, run_in_threads
from stackroom.model.keys import canonical_name
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, DocumentNames, Documents, NamedDocument

WHOLE = 200  # documents: fewer are read as they are, in some 50 read units
NAMES_SEARCHED = 1000  # names: 150 KB, some 20 read units
SOUGHT = 200  # records of what failed or is under way, wherever its name stands
ROWS = 100  # on a page


class Order(StrEnum):
    """The order of documents. STATE has failed ones first, then those under way."""

    STATE = "state"
    NAME = "name"
    SIZE = "size"
    TIME = "time"


class Group(StrEnum):
    """A group of states, as people filter by them; in the order of their urgency."""

    FAILED = "failed"
    UNDER_WAY = "under-way"
    WITH_GAPS = "with-gaps"  # searchable, and something of it can't be found
    SEARCHABLE = "searchable"


_RANKS = {each: rank for rank, each in enumerate(Group)}
_GROUPS = {DocumentStatus.FAILED: Group.FAILED, DocumentStatus.INDEXED: Group.SEARCHABLE}


def group_of(document: Document) -> Group:
    group = _GROUPS.get(document.status, Group.UNDER_WAY)
    return Group.WITH_GAPS if group is Group.SEARCHABLE and document.gaps else group


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """
    The filter and order of a list. `words` are part of the name, without regard to case. `page`
    counts from 1, within the names that are searched behind the document `behind`, or from the
    first.
    """

    words: str = ""
    group: Group | None = None
    order: Order = Order.STATE
    descending: bool = False
    page: int = 1
    behind: str | None = None

    def takes(self, filename: str, group: Group) -> bool:
        words, name = canonical_name(self.words), canonical_name(filename)
        return words.casefold() in name.casefold() and self.takes_group(group)

    def takes_group(self, group: Group) -> bool:
        """Return True if the group was asked for. Documents with gaps are searchable, too."""
        is_searchable = self.group is Group.SEARCHABLE and group is Group.WITH_GAPS
        return is_searchable or self.group in (None, group)


@dataclass(frozen=True, kw_only=True)
class BrowseResult:
    """
    A page of documents.

    `documents` are those of the page, and `found` counts those on all pages of the searched names.
    `searched` counts these names: all of the catalog if `is_whole`; else the list goes on
    behind the document `next`, if there is one. `to_come` counts names of a large catalog that have
    yet to be uploaded and count nowhere else. `with_gaps` counts the catalog's documents with gaps;
    None if not all were read.
    """

    catalog: Catalog
    documents: tuple[Document, ...]
    found: int
    page: int
    searched: int
    is_whole: bool
    next: str | None = None
    to_come: int = 0
    with_gaps: int | None = None

    @property
    def pages(self) -> int:
        return max(1, -(-self.found // ROWS))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A document in the list, with its `record` if that was read."""

    named: NamedDocument
    group: Group
    record: Document | None = None


@dataclass(frozen=True, kw_only=True)
class Browsing:
    catalogs: Catalogs
    documents: Documents
    names: DocumentNames
    now: Callable[[], datetime] = utc_now
    run_parallel: RunParallel = run_in_threads

    def browse(
        self,
        user_id: str,
        catalog_id: str,
        wanted: Wanted,
        *,
        unsettled: Iterable[Document] | None = None,
    ) -> BrowseResult:
        """
        Return a page of the catalog. `unsettled` are all its failed and unfinished documents, if
        the caller knows them. Raises CatalogNotFound.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        if catalog.document_count < WHOLE:
            page = self.documents.page(catalog_id, after=None, limit=WHOLE)
            if page.next is None:
                now = self.now()
                entries = [_of_record(each) for each in page.documents if not each.has_lapsed(now)]
                with_gaps = _count_with_gaps(entries)
                return self._found(
                    catalog, entries, wanted, searched=len(entries), with_gaps=with_gaps
                )
        known = None if unsettled is None else {each.document_id: each for each in unsettled}
        return self._of_large(catalog, wanted, known)

    def chosen(
        self, user_id: str, catalog_id: str, document_ids: Sequence[str]
    ) -> Sequence[Document]:
        """Return those of the documents that exist. Raises CatalogNotFound."""
        catalog, now = owned(self.catalogs, user_id, catalog_id), self.now()
        records = self.names.records(catalog.catalog_id, document_ids)
        return [each for each in records if not each.has_lapsed(now)]

    def _of_large(
        self, catalog: Catalog, wanted: Wanted, known: dict[str, Document] | None
    ) -> BrowseResult:
        catalog_id = catalog.catalog_id
        behind = self.documents.get(catalog_id, wanted.behind) if wanted.behind else None
        after = behind.filename if behind is not None else ""
        reads: list[Callable[[], Any]] = [
            partial(self.names.named, catalog_id, after=after, limit=NAMES_SEARCHED + 1),
        ]
        begun = () if behind is not None else _beginnings(wanted.words)
        reads += [partial(self.names.named, catalog_id, prefix=each, limit=ROWS) for each in begun]
        if known is None:
            waiting = catalog.open_count + catalog.over_count
            reads += [
                partial(self._listed, self.names.failed, catalog_id, catalog.failed_count),
                partial(self._listed, self.names.waiting, catalog_id, waiting),
            ]
        names, *answers = self.run_parallel(reads)
        alike, listed = answers[: len(begun)], answers[len(begun) :]
        goes_on = len(names) > NAMES_SEARCHED
        last = names[NAMES_SEARCHED - 1].document_id if goes_on else None
        if known is None:
            failed, unfinished = listed
            groups = dict.fromkeys(unfinished, Group.UNDER_WAY)
            groups |= dict.fromkeys(failed, Group.FAILED)
        else:
            groups = {each.document_id: group_of(each) for each in known.values()}
        awaited = [each for each in names if not each.size and each.document_id not in groups]
        lapsed = {each.document_id for each in awaited if self._has_lapsed(each)}
        names = [each for each in names[:NAMES_SEARCHED] if each.document_id not in lapsed]
        entries = {each.document_id: _of_name(each, groups) for each in names}
        is_whole = behind is None and not goes_on
        with_gaps = _count_with_gaps(entries.values()) if is_whole else None
        if not is_whole and behind is None:
            entries |= {each.document_id: _of_name(each, groups) for some in alike for each in some}
            entries |= self._elsewhere(catalog_id, wanted, groups, entries, known or {})
            are_all_known = known is not None or len(groups) <= SOUGHT
            is_whole = are_all_known and wanted.group is Group.FAILED
        return self._found(
            catalog,
            list(entries.values()),
            wanted,
            searched=len(names),
            is_whole=is_whole,
            next_=None if is_whole else last,
            to_come=len(awaited) - len(lapsed),
            with_gaps=with_gaps,
            known=known,
        )

    def _has_lapsed(self, awaited: NamedDocument) -> bool:
        """
        Return True if nobody has uploaded the document while its form was valid, as
        `Document.has_lapsed` does.
        """
        return self.now() >= awaited.uploaded_at + timedelta(seconds=FORM_SECONDS)

    def _listed(
        self, listing: Callable[..., Sequence[str]], catalog_id: str, counted: int
    ) -> Sequence[str]:
        return listing(catalog_id, limit=NAMES_SEARCHED) if counted else ()

    def _elsewhere(
        self,
        catalog_id: str,
        wanted: Wanted,
        groups: Mapping[str, Group],
        entries: Mapping[str, _Entry],
        known: Mapping[str, Document],
    ) -> dict[str, _Entry]:
        """
        Return the documents that match by state, though their names are not among those that were
        read.
        """
        failures_first = wanted.order is Order.STATE and not wanted.descending
        ids = [
            each
            for each, group in sorted(groups.items(), key=lambda pair: _RANKS[pair[1]])
            if each not in entries
            and (wanted.group is group or (wanted.group is None and failures_first))
        ]
        records = [known[each] for each in ids if each in known]
        if not known:
            records += self.names.records(catalog_id, ids[:SOUGHT])
        return {each.document_id: _of_record(each) for each in records}

    def _found(
        self,
        catalog: Catalog,
        entries: Sequence[_Entry],
        wanted: Wanted,
        *,
        searched: int,
        is_whole: bool = True,
        next_: str | None = None,
        to_come: int = 0,
        with_gaps: int | None = None,
        known: Mapping[str, Document] | None = None,
    ) -> BrowseResult:
        matching = sorted(
            (each for each in entries if wanted.takes(each.named.filename, each.group)),
            key=_key_of(wanted.order),
            reverse=wanted.descending,
        )
        page = min(wanted.page, max(1, -(-len(matching) // ROWS)))
        shown = matching[(page - 1) * ROWS : page * ROWS]
        return BrowseResult(
            catalog=catalog,
            documents=tuple(self._records(catalog.catalog_id, shown, wanted, known or {})),
            found=len(matching),
            page=page,
            searched=searched,
            is_whole=is_whole,
            next=next_,
            to_come=to_come,
            with_gaps=with_gaps,
        )

    def _records(
        self,
        catalog_id: str,
        shown: Sequence[_Entry],
        wanted: Wanted,
        known: Mapping[str, Document],
    ) -> list[Document]:
        """Return the present records, which may be newer than the list of names."""
        read = {each.named.document_id: each.record for each in shown if each.record is not None}
        read |= known
        ids = [each.named.document_id for each in shown]
        unread = [each for each in ids if each not in read]
        read |= {each.document_id: each for each in self.names.records(catalog_id, unread)}
        now = self.now()
        records = map(read.get, ids)
        return [
            each
            for each in records
            if each is not None and not each.has_lapsed(now) and wanted.takes_group(group_of(each))
        ]


def _beginnings(words: str) -> tuple[str, ...]:
    """
    Return the ways in which the words may begin a name; macOS decomposes letters with accents.
    """
    encoded = [words, *(unicodedata.normalize(form, words) for form in ("NFC", "NFD"))]
    return tuple(dict.fromkeys((*encoded, *map(str.lower, encoded)))) if words else ()


def _count_with_gaps(entries: Iterable[_Entry]) -> int:
    return sum(each.group is Group.WITH_GAPS for each in entries)


def _of_record(document: Document) -> _Entry:
    named = NamedDocument(
        document_id=document.document_id,
        filename=document.filename,
        size=document.size,
        uploaded_at=document.uploaded_at,
        has_gaps=bool(document.gaps),
    )
    return _Entry(named=named, group=group_of(document), record=document)


def _of_name(named: NamedDocument, groups: Mapping[str, Group]) -> _Entry:
    searchable = Group.WITH_GAPS if named.has_gaps else Group.SEARCHABLE
    usual = searchable if named.size else Group.UNDER_WAY  # it has yet to be uploaded
    return _Entry(named=named, group=groups.get(named.document_id, usual))


def _key_of(order: Order) -> Callable[[_Entry], Any]:
    def by_name(entry: _Entry) -> tuple[str, str]:
        return entry.named.filename.casefold(), entry.named.filename

    match order:
        case Order.STATE:
            return lambda each: (_RANKS[each.group], *by_name(each))
        case Order.SIZE:
            return lambda each: (each.named.size, *by_name(each))
        case Order.TIME:
            return lambda each: (each.named.uploaded_at, *by_name(each))
        case Order.NAME:
            return by_name
