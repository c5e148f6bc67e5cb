"""
Enforce users' caps, before a round takes up the open documents of a catalog.

Open documents count as used. While a user is over a cap, the documents that came last and that no
round has taken up are held back, and nothing of the catalog is ingested before that is done. All
that remain then have their place, whichever runs work on them. A document that is held back is
`pending` and not open, so that no run takes it up, and its reason says why it waits. Documents are
released, as many as fit, when something is deleted or the caps change; the reconciler releases
those that a crash has left waiting, or that waited for the next month.

Holding back writes first and then checks for room again, and whoever makes room checks for waiting
documents afterwards: one of the two sees the other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from stackroom.clock import utc_now
from stackroom.concurrency import chunks
from stackroom.model.caps import CapBook, Caps, CapWatch, InUse, caps_of
from stackroom.model.records import (
    CapKind,
    Catalog,
    CatalogStatus,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import CatalogRegister, Documents
from stackroom.model.usage import UsageBook, month_of, next_month
from stackroom.runs.run_leases import RunRequests

_AT_ONCE = 300  # documents that one turn holds back: it is over in a second, and the others' comes


@dataclass(frozen=True, kw_only=True)
class UserCaps:
    book: CapBook
    catalogs: CatalogRegister
    documents: Documents
    usage: UsageBook
    watch: CapWatch
    requests: Callable[[], RunRequests]  # whoever only looks at what is at work has none
    now: Callable[[], datetime] = utc_now

    def all(self) -> Mapping[str, Caps]:
        return self.book.all()

    def hold_back(self, catalog: Catalog, book: Mapping[str, Caps]) -> bool:
        """
        Hold back the documents that came last, as far as their user is over a cap. Return True if
        what was open in the catalog before, and still is, may be ingested now. Safe to repeat.
        """
        caps = caps_of(catalog.user_id, book)
        if caps is None:
            return True
        used = self._in_use(catalog.user_id, caps)
        first = kind = caps.over(used)
        held = 0
        while kind is not None and held < _AT_ONCE:
            newest = self.documents.open_in(catalog.catalog_id, newest=True)
            over = _over(filter(_is_fresh, newest), caps, used)
            held += (saved := len(self.documents.save_all(over)))
            if not over or saved < len(over):
                break
            # Still over, it is by what came since, which has been held back in place of others.
            used = self._in_use(catalog.user_id, caps)
            kind = caps.over(used)
        if held:
            self.release(catalog.user_id, book, at=catalog.catalog_id)
            used = self._in_use(catalog.user_id, caps)
        self._watch(catalog, caps, used, over=first)
        # Nothing that is over a cap is left to hold back: the rest has its place already.
        return kind is None or not over

    def hold_back_from_job(self, catalog: Catalog) -> None:
        """
        Hold back new documents from a job, which takes everything in the catalog: it begins for new
        documents only if all of them fit, with those that were held back. If it must begin for
        anything else, it takes up all.
        """
        book = self.book.all()
        caps = caps_of(catalog.user_id, book)
        if caps is None:
            return
        catalog_id = catalog.catalog_id
        used = self._in_use(catalog.user_id, caps)
        self._watch(catalog, caps, used)
        at_once = used.with_all(catalog)
        kind = caps.over(at_once)
        opened = partial(self.documents.open_in, catalog_id)
        if kind is None or _must_begin(opened(), caps, used):
            self._open(self.documents.over_in(catalog_id))
            return
        reason = caps.waiting_reason(kind, at_once, size=None)
        for some in chunks(opened(), of=_AT_ONCE):
            self.documents.save_all(_held(each, kind, reason) for each in some)
        self.release(catalog.user_id, book, at=catalog_id)

    def release(
        self, user_id: str, book: Mapping[str, Caps] | None = None, *, at: str | None = None
    ) -> None:
        """
        Release as many of a user's held-back documents as fit, and ask for runs of their catalogs,
        except for the one that a run is `at` itself. Safe to repeat.
        """
        caps = caps_of(user_id, self.book.all() if book is None else book)
        owned = list(self.catalogs.of_user(user_id))
        used = self._with_spent(user_id, caps, owned)
        # Also for what is open already: whoever opened it may have died before asking.
        asked = {each.catalog_id for each in owned if each.open_count}
        for catalog in owned:
            if not catalog.over_count:
                continue
            for fitting, left in self._fitting(catalog, caps, used):
                self._open(fitting)
                asked.add(catalog.catalog_id)
                used = left
        self._ask(asked - {at})

    def can_release(self, catalog: Catalog) -> bool:
        """Return True if a document that is held back in the catalog fits."""
        caps = caps_of(catalog.user_id, self.book.all())
        return any(self._fitting(catalog, caps, self._in_use(catalog.user_id, caps)))

    def reassess(self, catalogs: Iterable[Catalog]) -> None:
        """
        Release all held-back documents of the catalogs; the next rounds hold back what is over a
        cap. Safe to repeat.
        """
        listed = [each for each in catalogs if each.over_count or each.open_count]
        for catalog in listed:
            for some in chunks(self.documents.over_in(catalog.catalog_id), of=_AT_ONCE):
                self._open(some)
        self._ask(each.catalog_id for each in listed)

    def _watch(
        self, catalog: Catalog, caps: Caps, used: InUse, *, over: CapKind | None = None
    ) -> None:
        self.watch.check(catalog.user_id, caps, used, at=self.now(), over=over)

    def _in_use(self, user_id: str, caps: Caps | None) -> InUse:
        return self._with_spent(user_id, caps, self.catalogs.of_user(user_id))

    def _with_spent(self, user_id: str, caps: Caps | None, owned: Iterable[Catalog]) -> InUse:
        if caps is None or caps.dollars is None:
            return InUse.of(owned)
        now = self.now()
        found = self.usage.of_month(month_of(now), user_id=user_id)
        return InUse.of(
            owned, dollars=sum(each.dollars for each in found), next_month=next_month(now)
        )

    def _fitting(
        self, catalog: Catalog, caps: Caps | None, used: InUse
    ) -> Iterator[tuple[list[Document], InUse]]:
        """
        Yield the catalog's held-back documents that fit, some at a time and the longest open first,
        each with the use that includes them; for a catalog with jobs, all or none.
        """
        if catalog.status is CatalogStatus.DELETING:
            return
        if catalog.source is not None and catalog.source.type is DataSourceType.S3:
            held = self.documents.over_in(catalog.catalog_id)
            if (
                caps is not None
                and caps.over(used.with_all(catalog)) is not None
                and not _must_begin(held, caps, used)
            ):
                return
            caps = None
        for some in chunks(self.documents.over_in(catalog.catalog_id), of=_AT_ONCE):
            fitting = []
            for each in some:
                after = used.after(each, is_held=False)
                if caps is None or _over_by(each, caps, after) is None:
                    fitting.append(each)
                    used = after
            if not fitting:
                return  # whoever asks next looks at no more either
            yield fitting, used

    def _open(self, held: Iterable[Document]) -> None:
        release = (
            each.model_copy(update={"over_cap": None, "status_reason": None}) for each in held
        )
        self.documents.save_all(release)

    def _ask(self, catalog_ids: Iterable[str]) -> None:
        failures = self.requests().ask_all(dict.fromkeys(catalog_ids))
        for error in failures.values():
            raise error


def _is_fresh(document: Document) -> bool:
    """Return True if no round has taken this version up."""
    return document.status is DocumentStatus.PENDING and not document.attempts


def _held(document: Document, kind: CapKind, reason: str) -> Document:
    return document.model_copy(update={"over_cap": kind, "status_reason": reason})


def _over(newest: Iterable[Document], caps: Caps, used: InUse) -> list[Document]:
    """Return as many of these as are over the caps, the newest first, as held back."""
    over: list[tuple[Document, CapKind]] = []
    again: list[Document] = []
    for each in newest:
        if (kind := caps.over(used)) is None or len(over) == _AT_ONCE:
            break
        if each.indexed_at is not None:
            again.append(each)
            continue
        used = used.after(each, is_held=True)
        over.append((each, kind))
    over += [
        (each, kind)
        for each in again[: _AT_ONCE - len(over)]
        if (kind := _over_by(each, caps, used)) is not None
    ]
    return [
        _held(each, kind, caps.waiting_reason(kind, used, size=each.size)) for each, kind in over
    ]


def _must_begin(documents: Iterable[Document], caps: Caps, used: InUse) -> bool:
    """
    Return True if a job must begin for one of the documents, whatever else it takes up; a new one
    is no reason.
    """
    return any(
        not _is_fresh(each) or (each.indexed_at is not None and _over_by(each, caps, used) is None)
        for each in documents
    )


def _over_by(document: Document, caps: Caps, used: InUse) -> CapKind | None:
    """
    Return the cap that holds the document back. If an earlier version is indexed, it keeps its
    place.
    """
    if document.indexed_at is not None:
        caps = caps.model_copy(update={"documents": None})
    return caps.over(used)
