"""
Whether each document is listed and counted as its record is.

Both are written with every document, so they are out of step only where somebody else wrote: a
restored backup, a person, or a deployment from before they were kept. What a catalog counts
altogether: stackroom.audits.books.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from stackroom.audits.discrepancies import Discrepancy, Kind
from stackroom.audits.mending import Mending
from stackroom.counting import is_booked
from stackroom.model import Document
from stackroom.ports.documents import Documents


@dataclass(frozen=True, kw_only=True)
class Recounting:
    documents: Documents
    mending: Mending

    def of_documents(self, documents: Iterable[Document]) -> Iterator[Discrepancy]:
        """Of catalogs that there are; what is open is asked a run for."""
        for document in documents:
            if is_booked(document):
                continue
            if document.is_open:
                yield from self.mending.saved(document, Kind.UNLISTED_DOCUMENT)
            else:
                save = partial(self.documents.save, document)
                yield from self.mending.mended(Kind.UNLISTED_DOCUMENT, document.s3_key, by=save)
