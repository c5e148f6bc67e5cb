"""The two readings of a data source: what it lists, and the records that it should list."""

import hashlib
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from stackroom.ingestion.bedrock_evidence import Details
from stackroom.model import DataSourceType, Document, DocumentStatus, PerSourceType
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import DocumentPages
from stackroom.ports.inventory import Inventory, ListedDocument
from stackroom.reconciler.discrepancies import Discrepancy
from stackroom.reconciler.listings import Inhabited, or_unlisted, where
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.orphans import Orphans, is_of_our_form, is_passing
from stackroom.reconciler.places import Place, Reading
from stackroom.reconciler.set_reconciliation import Sketch
from stackroom.reconciler.window import Window

# DocumentStatus [API model bedrock-agent]
AS_IT_SHOULD_BE = frozenset({"INDEXED", "PENDING", "STARTING", "IN_PROGRESS"})
PAGES = 25  # of a step; at a page a second, half a minute
_RECORDS = 1000  # of a page
# What a bookmark has room for, beside a sketch of it: 400 KB are the most that an item may have
# [DynamoDB developer guide: Constraints].
CAPACITY = 4000


_MOST_SHARES = 64  # beyond, so many differ that something else is wrong

# Yields what is found, and returns where to go on; None if there is nothing to go on with.
Reread = Generator[Discrepancy, None, Place | None]


def random_salt() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True, kw_only=True)
class Readings:
    """
    `capacity` is how many differences a sketch can tell. Half as many documents are looked at again
    of those that are listed as something else than indexed; if there are more, another draw of them
    each time.
    """

    inventory: Inventory
    catalogs: Catalogs
    pages: DocumentPages
    orphans: Orphans
    details: PerSourceType[Details]
    mending: Mending
    capacity: int = CAPACITY
    salt: Callable[[], str] = random_salt

    def begun(self, at: Place, source: str, *, share: int = 0, of: int | None = None) -> Place:
        """The first reading of that data source, or of another share of it."""
        return Place(
            member=at.member,
            after=at.after,
            source=source,
            began=self.mending.now(),
            salt=self.salt(),
            share=share,
            of=of or at.of,
        )

    def again(self, at: Place) -> Place:
        """A reading whose listing expired."""
        assert at.source is not None, "somebody's listing expired"
        begun = self.begun(at, at.source, share=at.share)
        return begun.model_copy(update={"expired": at.expired + 1})

    def listed(self, at: Place, there: Inhabited) -> Reread:
        """
        A step of the first reading; it returns None if the data source lists nothing yet.

        Raises Unlisted, and ListingExpired if it must begin anew.
        """
        sketch, others = self._sketch(at), self._others(at)
        for _ in range(PAGES):
            with or_unlisted(where(there.source)):
                page = self.inventory.indexed(there.source, at.page)
            if page is None:
                return None
            yield from self._foreign(at, there, page.items)
            self._put(at, there, page.items, sketch, others)
            at = at.model_copy(update={"page": page.next})
            if page.next is None:
                at = at.model_copy(update={"reading": Reading.RECORDS})
                break
        changes = {"cells": sketch.packed(), "suspects": tuple(others.values())}
        return at.model_copy(update=changes)

    def _foreign(
        self, at: Place, there: Inhabited, listed: Iterable[ListedDocument]
    ) -> Iterator[Discrepancy]:
        """What somebody else put into a CUSTOM data source; told once a reading."""
        for each in listed:
            if at.share == 0 and not _is_ours(there, each):
                found = self.orphans.follow(there.source, None, each)
                yield from self.mending.apart(each.identifier, found)

    def _put(
        self,
        at: Place,
        there: Inhabited,
        listed: Iterable[ListedDocument],
        sketch: Sketch,
        others: Window[str],
    ) -> None:
        document_id = self.details.of(there.source).document_id
        for each in listed:
            said_at = each.detail.updated_at
            # What happened to it since, a listing that had come by before did not tell.
            if not _is_ours(there, each) or not self._is_older(said_at, at):
                continue
            name = document_id(each.identifier)
            if each.detail.status in AS_IT_SHOULD_BE:
                sketch.put(name)
            elif at.share == 0 and not is_passing(each.detail):
                others.put(_drawn(name, at), name)

    def recorded(self, at: Place, there: Inhabited) -> Reread:
        """A step of the second reading, and at its end the comparison."""
        sketch = self._sketch(at)
        for _ in range(PAGES):
            documents, following = self.records(there, at.page)
            for document in documents:
                is_indexed = document.status is DocumentStatus.INDEXED
                if is_indexed and self._is_older(document.updated_at, at):
                    sketch.take(document.document_id)
            at = at.model_copy(update={"page": following})
            if following is None:
                return (yield from self._compared(at, there, sketch))
        return at.model_copy(update={"cells": sketch.packed()})

    def _compared(self, at: Place, there: Inhabited, sketch: Sketch) -> Reread:
        """Too many differences for one sketch are those of many: a share of the ids at a time."""
        found = sketch.differences()
        if found is not None:
            return at.looking(found.put | found.taken | frozenset(at.suspects), self.mending.now())
        if at.of < _MOST_SHARES:
            return self.begun(at, there.source.data_source_id, of=8 * at.of)
        many = TooManyDiffer(self.capacity * _MOST_SHARES)
        yield Discrepancy.not_compared(where(there.source), many)
        return at.past(there.source.data_source_id)

    def records(self, there: Inhabited, cursor: str | None) -> tuple[list[Document], str | None]:
        """A page of the documents that live there, and where the next one begins."""
        if there.catalog is not None:
            found = self.pages.page(there.catalog.catalog_id, after=cursor, limit=_RECORDS)
            return list(found.documents), found.next
        page = self.inventory.records(cursor)
        documents = (each for each in page.items if isinstance(each, Document))
        living: list[Document] = []
        for catalog_id, of_one in groupby(documents, key=lambda each: each.catalog_id):
            home = self.catalogs.get(catalog_id)
            if home is not None and home.source == there.source:
                living += of_one
        return living, page.next

    def _is_older(self, moment: datetime | None, at: Place) -> bool:
        """Whether it was long enough ago when the reading began that both sides tell it."""
        return moment is not None and self.mending.is_settled(moment, by=at.began)

    def _sketch(self, at: Place) -> Sketch:
        sketch = Sketch(self.capacity, salt=at.salt, share=at.share, of=at.of)
        if at.cells is not None:
            sketch.unpack(at.cells)
        return sketch

    def _others(self, at: Place) -> Window[str]:
        others: Window[str] = Window(max(1, self.capacity // 2))
        for each in at.suspects:
            others.put(_drawn(each, at), each)
        return others


class TooManyDiffer(Exception):
    def __init__(self, count: int) -> None:
        super().__init__(f"more than {count:,} documents differ; a lost index, or lost records?")


def _is_ours(there: Inhabited, listed: ListedDocument) -> bool:
    return there.source.type is DataSourceType.S3 or is_of_our_form(listed.identifier)


def _drawn(document_id: str, at: Place) -> str:
    """Where it comes in an order that is another each time."""
    return hashlib.blake2b(document_id.encode(), digest_size=8, key=at.salt.encode()).hexdigest()
