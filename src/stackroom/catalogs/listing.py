"""An owner's catalogs, and the documents of one, page by page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.access.tenancy import owned
from stackroom.clock import utc_now
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents

CATALOGS = 50  # on a page: some 15 kB of text
DOCUMENTS = 200  # on a page: some 25 kB of text


@dataclass(frozen=True, kw_only=True)
class CatalogPage:
    """
    A page of catalogs. `total` counts all of the owner's; `next` is the id after which it goes on,
    if it does.
    """

    catalogs: tuple[Catalog, ...]
    total: int
    next: str | None


@dataclass(frozen=True, kw_only=True)
class DocumentsOfCatalog:
    """
    A page of documents. `total` is the catalog's; `next` is the id after which it goes on, if it
    does.
    """

    catalog: Catalog
    documents: tuple[Document, ...]
    total: int
    next: str | None


def same_contents(documents: Iterable[Document]) -> dict[str, str]:
    """
    Return the name of the first document with the same bytes, by the id of each later one.

    Equal bytes have the same ETag in S3 if they were sent in the same parts.
    """
    first: dict[tuple[str, int], Document] = {}
    found: dict[str, str] = {}
    for each in _oldest_first(documents):
        known = first.setdefault((each.etag, each.size), each)
        if known is not each:
            found[each.document_id] = known.filename
    return found


def same_content_as(
    document_id: str, documents: Iterable[Document], *, etag: str, size: int
) -> str | None:
    """
    Return the name of the first other document with the same bytes, compared as `same_contents`
    does.
    """
    others = (each for each in _oldest_first(documents) if each.document_id != document_id)
    return next((each.filename for each in others if (each.etag, each.size) == (etag, size)), None)


def _oldest_first(documents: Iterable[Document]) -> list[Document]:
    """Return the documents with contents to compare, the oldest first."""
    known = (
        each
        for each in documents
        if each.etag and each.is_counted and each.status is not DocumentStatus.FAILED
    )
    return sorted(known, key=lambda each: (each.uploaded_at, each.filename))


@dataclass(frozen=True, kw_only=True)
class Listing:
    catalogs: Catalogs
    pages: Documents
    now: Callable[[], datetime] = utc_now

    def catalogs_of(self, user_id: str, *, after: str | None = None) -> CatalogPage:
        """
        Return a page of catalogs by name. If the catalog `after` is gone, start from the beginning.
        """
        found = sorted(
            self.catalogs.of_user(user_id), key=lambda each: (each.name.casefold(), each.name)
        )
        ids = [each.catalog_id for each in found]
        start = ids.index(after) + 1 if after in ids else 0
        page = found[start : start + CATALOGS]
        goes_on = start + CATALOGS < len(found)
        return CatalogPage(
            catalogs=tuple(page),
            total=len(found),
            next=page[-1].catalog_id if goes_on else None,
        )

    def documents_of(
        self, user_id: str, catalog_id: str, *, after: str | None = None
    ) -> DocumentsOfCatalog:
        """
        Return a page of documents, sorted by file name within it; pages go by id, as the store has
        them. Raises CatalogNotFound.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        # One more than is shown tells whether there are any on the next page.
        page = self.pages.page(catalog_id, after=after, limit=DOCUMENTS + 1)
        listed, now = page.documents[:DOCUMENTS], self.now()
        goes_on = page.next is not None or len(page.documents) > DOCUMENTS
        documents = [each for each in listed if not each.has_lapsed(now)]
        is_whole = after is None and not goes_on
        return DocumentsOfCatalog(
            catalog=catalog,
            documents=tuple(sorted(documents, key=lambda each: each.filename)),
            total=len(documents) if is_whole else max(catalog.document_count, len(documents)),
            next=listed[-1].document_id if goes_on else None,
        )
