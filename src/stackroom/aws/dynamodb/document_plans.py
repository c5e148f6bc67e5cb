"""How documents are to be written: each by what it was and is, and those of a catalog in groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.aws.dynamodb.document_items import MOST_ACTIONS, Books, DocumentWrite
from stackroom.catalog_counts import Counts, booked, uncounted
from stackroom.keys import unplaced_partition
from stackroom.model import Document

# Of one TransactWriteItems [DynamoDB API reference]: 100 actions, one of which counts, and 4 MB,
# of which JSON says roughly how much there is.
MOST_DOCUMENTS = 99 // MOST_ACTIONS
_MOST_BYTES = 3_000_000
_UNPLACED = unplaced_partition("")


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """What is known of the record of a catalog; `counts` once it is known that they matter."""

    is_there: bool = True
    is_deleting: bool = False
    counts: Counts | None = None


def shelf_of(catalog_id: str) -> Shelf:
    """As most are; an object of no catalog has none."""
    return Shelf(is_there=not catalog_id.startswith(_UNPLACED))


def books_of(document: Document) -> Books:
    """As the caller's copy has them; of one that was never kept there are none."""
    return Books(document=document if document.version else uncounted(document))


def planned(
    document: Document, books: Books, shelf: Shelf, *, removes: bool = False
) -> DocumentWrite:
    if removes:
        return DocumentWrite(books=books, kept=None)
    version = document.version + 1 if document.version else _first_version(document)
    saved = document.model_copy(update={"version": version})
    since = _opened_at(document, books)
    kept = booked(saved, since) if shelf.is_there else uncounted(saved)
    return DocumentWrite(books=books, kept=kept)


def _opened_at(document: Document, books: Books) -> datetime | None:
    """As it stands in the books; later if it is to queue up anew."""
    there, wanted = books.document.opened_at, document.opened_at
    return wanted if there is not None and wanted is not None and wanted > there else there


def _first_version(document: Document) -> int:
    """
    Microseconds of its making, never seen before.

    Counted from 1, a record that was removed and made anew would come by the same versions, and
    whoever read the old one could overwrite the new.
    """
    return int(document.updated_at.timestamp() * 1_000_000)


def groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """As many as fit a transaction."""
    group: list[Document] = []
    size = 0
    for document in documents:
        own = len(document.model_dump_json().encode())
        if group and (len(group) == MOST_DOCUMENTS or size + own > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(document)
        size += own
    if group:
        yield group
