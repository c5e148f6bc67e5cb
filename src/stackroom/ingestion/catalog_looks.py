"""One look at a catalog of a shared worklist: what is open in it, and its end if nothing is."""

from collections.abc import Callable
from dataclasses import dataclass

from stackroom.isolation import is_everybodys
from stackroom.model import Catalog, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import ListedDocuments
from stackroom.ports.worklists import Entry, Worklists


@dataclass(frozen=True, kw_only=True)
class Look:
    """
    `catalog` is None if it has been taken down, or could not be read for the `failure`. `has_left`
    tells that it is in the worklist no more, `may_have_more` that more is open than was asked for.
    """

    entry: Entry
    catalog: Catalog | None = None
    documents: tuple[Document, ...] = ()
    may_have_more: bool = False
    has_left: bool = False
    failure: Exception | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogLooks:
    """
    `finish` is called with each catalog that has nothing open any more, and says whether it can
    leave the worklist; if somebody has asked since, it stays, and the next look comes by that.
    """

    worklist_id: str
    worklists: Worklists
    catalogs: Catalogs
    documents: ListedDocuments
    finish: Callable[[Catalog], bool]

    def page(self, *, after: str | None, limit: int) -> list[Entry]:
        """Of the worklist, by catalog id."""
        return list(self.worklists.entries(self.worklist_id, after=after, limit=limit))

    def look(self, entry: Entry, *, limit: int) -> Look:
        """Raises what is everybody's trouble; its own is told."""
        try:
            return self._look(entry, limit)
        except Exception as error:
            if is_everybodys(error):
                raise
            return Look(entry=entry, failure=error)

    def _look(self, entry: Entry, limit: int) -> Look:
        catalog = self.catalogs.get(entry.catalog_id)
        if catalog is None:  # taken down, and whoever opens it again asks again
            return Look(entry=entry, has_left=self.worklists.drop(self.worklist_id, entry))
        listed = tuple(self.documents.open_in(entry.catalog_id, limit=limit))
        if listed:
            more = len(listed) == limit
            return Look(entry=entry, catalog=catalog, documents=listed, may_have_more=more)
        left = self.finish(catalog) and self.worklists.drop(self.worklist_id, entry)
        return Look(entry=entry, catalog=catalog, has_left=left)
