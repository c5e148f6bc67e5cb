"""The documents of the pool's data sources, one window of ids after another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from stackroom.audits.sources import known_sources, owner_of
from stackroom.audits.window import Window
from stackroom.isolation import is_everybodys
from stackroom.model import Catalog, DataSource, PerSourceType, PoolMember, Record
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.inventory import Inventory, KnownSource, ListedDocument, Page
from stackroom.settlement.details import Details

_AVAILABLE = "AVAILABLE"  # DataSourceStatus [API model bedrock-agent]


class Cursor(Record):
    """In that member of the pool, the data source after that one; of it, ids above `low`."""

    member: int = 0
    after: str = ""
    low: str = ""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """`catalog` has the data source to itself; no `window` where there is nothing to be listed."""

    source: DataSource
    catalog: Catalog | None
    window: Window[ListedDocument] | None


class Unlisted(Exception):
    """One that can't be listed now, raised from why; `following` is where to go on."""

    def __init__(self, what: str, following: str | None) -> None:
        super().__init__(f"{what} can't be listed")
        self.what = what
        self.following = following


@dataclass(frozen=True, kw_only=True)
class Listings:
    """`pause` comes before each page: all listing of an account shares five requests a second."""

    inventory: Inventory
    catalogs: Catalogs
    details: PerSourceType[Details]
    pool: Sequence[PoolMember]
    pause: Callable[[], None]
    capacity: int = 20_000

    def next(self, at: Cursor) -> Listing | None:
        """None if the pool's member has no data source after that one. Raises Unlisted."""
        if at.member >= len(self.pool):
            return None
        member = self.pool[at.member]
        with _or_unlisted(f"data sources of {member.knowledge_base_id}", self.after(at, None)):
            known = known_sources(self.inventory, member.knowledge_base_id)
        for each in sorted(known, key=lambda each: each.source.data_source_id):
            if each.source.data_source_id <= at.after:
                continue
            if each.source.data_source_id == member.data_source_id:
                return self._listing(each.source, None, at)
            catalog = self._resident(each)
            if catalog is not None:
                return self._listing(each.source, catalog, at)
        return None

    def after(self, at: Cursor, listing: Listing | None) -> str | None:
        """Where to go on; None if that was all."""
        if listing is None:
            following = Cursor(member=at.member + 1)
            return following.model_dump_json() if following.member < len(self.pool) else None
        if listing.window is not None and listing.window.high is not None:
            return at.model_copy(update={"low": listing.window.high}).model_dump_json()
        return self._past(at, listing.source)

    def _past(self, at: Cursor, source: DataSource) -> str:
        return Cursor(member=at.member, after=source.data_source_id).model_dump_json()

    def _resident(self, known: KnownSource) -> Catalog | None:
        catalog_id = owner_of(known)
        if catalog_id is None or known.status != _AVAILABLE:
            return None
        catalog = self.catalogs.get(catalog_id)
        return catalog if catalog is not None and catalog.source == known.source else None

    def _listing(self, source: DataSource, catalog: Catalog | None, at: Cursor) -> Listing:
        with _or_unlisted(where(source), self._past(at, source)):
            return Listing(source=source, catalog=catalog, window=self._window(source, at.low))

    def _window(self, source: DataSource, low: str) -> Window[ListedDocument] | None:
        window: Window[ListedDocument] = Window(self.capacity, low=low)
        details = self.details.of(source)
        page = self._page(source, None)
        if page is None:
            return None
        while page is not None:
            for each in page.items:
                window.put(details.document_id(each.identifier), each)
            page = self._page(source, page.next) if page.next is not None else None
        return window

    def _page(self, source: DataSource, cursor: str | None) -> Page[ListedDocument] | None:
        self.pause()
        return self.inventory.indexed(source, cursor)


def where(source: DataSource) -> str:
    return f"{source.knowledge_base_id}/{source.data_source_id}"


@contextmanager
def _or_unlisted(what: str, following: str | None) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if is_everybodys(error):
            raise
        raise Unlisted(what, following) from error
