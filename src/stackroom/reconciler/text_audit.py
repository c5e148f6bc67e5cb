"""
Find texts that belong to no document, or to no version of it.

Reading a file, settling a document and deleting a catalog remove the texts that are no longer
needed. What remains was left by a function that crashed in between.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from stackroom.model.keys import TEXT_PREFIX, TextName, text_name_of
from stackroom.model.records import Document
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import READ_TIMEOUT, Discrepancy, Kind
from stackroom.reconciler.mending import isolate_failures

_RECORDS = 1_000  # of one page


@dataclass(frozen=True)
class TextAudit:
    """Audit of texts. A step is a page of their listing, by user, catalog and document."""

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.context.inventory.objects(after=cursor or "", prefix=TEXT_PREFIX)
        is_old = partial(self.context.mending.is_settled, after=READ_TIMEOUT)
        old = (_name_of(each.key) for each in page.items if is_old(each.last_modified))
        names = (each for each in old if each is not None)
        for catalog_id, of_one in groupby(names, key=lambda each: each.catalog_id):
            found = self._of_catalog(catalog_id, list(of_one))
            yield from isolate_failures(f"texts of {catalog_id}", found)
        return page.next

    def _of_catalog(self, catalog_id: str, names: Sequence[TextName]) -> Iterator[Discrepancy]:
        records = self._records(catalog_id, {each.document_id for each in names})
        needed = {(each, text_id) for each, it in records.items() for text_id in it.text_ids}
        suspects = [each for each in names if (each.document_id, each.text_id) not in needed]
        for document_id, of_one in groupby(suspects, key=lambda each: each.document_id):
            document = records.get(document_id)
            key = None if document is None else document.s3_key
            yield from self._of_document(set(of_one), key)

    def _of_document(self, suspects: set[TextName], key: str | None) -> Iterator[Discrepancy]:
        name = next(iter(suspects))
        ids = (name.user_id, name.catalog_id, name.document_id)

        def unneeded() -> list[TextName]:
            return [each for each in self.context.keeping.unneeded(*ids, key) if each in suspects]

        if found := unneeded():
            yield from self.context.mending.mended(
                Kind.TEXT_WITHOUT_DOCUMENT,
                *(each.key for each in found),
                by=partial(self.context.keeping.texts.remove, found),
                until=lambda: not unneeded(),
            )

    def _records(self, catalog_id: str, ids: set[str]) -> Mapping[str, Document]:
        """Return records of a catalog, which are read in the order of their ids."""
        found: dict[str, Document] = {}
        after: str | None = min(ids)[:-1]  # before it, and behind almost all that are before it
        while after is not None and after < max(ids):
            page = self.context.documents.page(catalog_id, after=after, limit=_RECORDS)
            found |= {each.document_id: each for each in page.documents if each.document_id in ids}
            after = page.next
        return found


def _name_of(key: str) -> TextName | None:
    """Return the name of the text whose content or places an object has."""
    return text_name_of(f"{key.removesuffix('.places.json.gz').removesuffix('.md')}.md")
