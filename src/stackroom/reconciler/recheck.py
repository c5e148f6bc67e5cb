"""
The second look at documents on which a data source and the records seemed to differ.

Both go on changing while they are read, so each suspect is found again on the side that doesn't
tell it by its id: a data source of one catalog lists by keys, so its listing is read once more; of
one that many share, the records are. The other side is asked for each.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from stackroom.ingestion.bedrock_evidence import Details, may_be_found
from stackroom.ingestion.search_check import SearchCheck
from stackroom.model import Catalog, DataSource, Document, DocumentStatus, PerSourceType
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import NOT_FOUND, DirectDocuments, DocumentDetail
from stackroom.ports.inventory import Inventory, ListedDocument
from stackroom.reconciler.attempts import chunks
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.reconciler.evictions import Evictions
from stackroom.reconciler.listings import Inhabited, or_unlisted, where
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.orphans import Orphans
from stackroom.reconciler.places import Place
from stackroom.reconciler.readings import AS_IT_SHOULD_BE, PAGES, Reread

_AT_ONCE = 10  # ids of a GetKnowledgeBaseDocuments [API model bedrock-agent]
_AT_MOST = 100  # suspects of a step, or a page with more; asked for ten at a time


@dataclass(frozen=True, kw_only=True)
class Recheck:
    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    direct: DirectDocuments
    orphans: Orphans
    evictions: Evictions
    details: PerSourceType[Details]
    search_check: SearchCheck
    mending: Mending

    def met(self, at: Place, there: Inhabited) -> Reread:
        """A step of the reading in which most are met. Raises Unlisted and ListingExpired."""
        if not at.suspects:
            return None
        if there.catalog is not None:
            return (yield from self._listed(at, there, there.catalog))
        return (yield from self._recorded(at, there))

    def rest(self, at: Place, there: Inhabited) -> Reread:
        """A step through those that were not met."""
        some, more = at.suspects[:_AT_MOST], at.suspects[_AT_MOST:]
        if there.catalog is not None:
            yield from self._unlisted(at, there, there.catalog, some)
        else:
            yield from self._unrecorded(at, there, some)
        return at.model_copy(update={"suspects": more}) if more else None

    def _listed(self, at: Place, there: Inhabited, catalog: Catalog) -> Reread:
        left = set(at.suspects)
        document_id = self.details.of(there.source).document_id
        following = at.page
        for _ in range(PAGES):
            looked_at = self.mending.now()
            with or_unlisted(where(there.source)):
                page = self.inventory.indexed(there.source, following)
            for each in page.items if page is not None else ():
                name = document_id(each.identifier)
                if name in left:
                    left.remove(name)
                    found = self._of_listed(there.source, catalog, name, each, looked_at)
                    yield from self.mending.apart(each.identifier, found)
            following = page.next if page is not None else None
            if following is None:
                break
        return at.looked(left, following)

    def _of_listed(
        self,
        source: DataSource,
        catalog: Catalog,
        document_id: str,
        listed: ListedDocument,
        looked_at: datetime,
    ) -> Iterator[Discrepancy]:
        document = self.documents.get(catalog.catalog_id, document_id)
        if document is None:
            yield from self.orphans.follow(source, catalog, listed)
        else:
            yield from self._judged(source, document, listed.detail, by=looked_at)

    def _unlisted(
        self, at: Place, there: Inhabited, catalog: Catalog, some: Iterable[str]
    ) -> Iterator[Discrepancy]:
        for each in some:
            what = f"{where(there.source)}: {each}"
            found = self._of_unlisted(there.source, catalog, each, at.began)
            yield from self.mending.apart(what, found)

    def _of_unlisted(
        self, source: DataSource, catalog: Catalog, document_id: str, by: datetime | None
    ) -> Iterator[Discrepancy]:
        document = self.documents.get(catalog.catalog_id, document_id)
        if document is not None:
            yield from self._judged(source, document, NOT_FOUND, by=by)

    def _recorded(self, at: Place, there: Inhabited) -> Reread:
        left = set(at.suspects)
        following = at.page
        met: list[Document] = []
        for _ in range(PAGES):
            page = self.inventory.records(following)
            documents = (each for each in page.items if isinstance(each, Document))
            met += (each for each in documents if each.document_id in left)
            following = page.next
            if following is None or len(met) >= _AT_MOST:
                break
        for some in chunks(met, of=_AT_ONCE):
            what = f"{where(there.source)}: {', '.join(each.s3_key for each in some)}"
            yield from self.mending.apart(what, self._of_recorded(there.source, some))
        return at.looked(left.difference(each.document_id for each in met), following)

    def _of_recorded(self, source: DataSource, some: list[Document]) -> Iterator[Discrepancy]:
        looked_at = self.mending.now()
        said = self.direct.details(source, [each.document_id for each in some])
        for each in some:
            found = self._of_recorded_one(source, each, said[each.document_id], looked_at)
            yield from self.mending.apart(each.s3_key, found)

    def _of_recorded_one(
        self, source: DataSource, recorded: Document, said: DocumentDetail, looked_at: datetime
    ) -> Iterator[Discrepancy]:
        document = self.documents.get(recorded.catalog_id, recorded.document_id)
        home = self.catalogs.get(recorded.catalog_id)
        if document is None or home is None or home.source is None:
            return
        if home.source == source:
            yield from self._judged(source, document, said, by=looked_at)
        elif self.mending.is_settled(document.updated_at, by=looked_at):
            listed = ListedDocument(identifier=document.document_id, detail=said)
            yield from self.orphans.surplus(source, listed)

    def _unrecorded(
        self, at: Place, there: Inhabited, some: Iterable[str]
    ) -> Iterator[Discrepancy]:
        for asked in chunks(some, of=_AT_ONCE):
            what = f"{where(there.source)}: {', '.join(asked)}"
            yield from self.mending.apart(what, self._of_unrecorded(at, there.source, asked))

    def _of_unrecorded(
        self, at: Place, source: DataSource, asked: list[str]
    ) -> Iterator[Discrepancy]:
        for document_id, said in self.direct.details(source, asked).items():
            # A record that was made since the records were read has had it ingested since.
            said_at = said.updated_at
            if said_at is not None and self.mending.is_settled(said_at, by=at.began):
                listed = ListedDocument(identifier=document_id, detail=said)
                found = self.orphans.follow(source, None, listed)
                yield from self.mending.apart(document_id, found)

    def _judged(
        self, source: DataSource, document: Document, said: DocumentDetail, *, by: datetime | None
    ) -> Iterator[Discrepancy]:
        """Of a document that changed since that was said, it tells nothing."""
        home = self.catalogs.get(document.catalog_id)
        if home is None or home.source != source:
            return
        kind = _suspicion(document, said)
        if kind is None or not self.mending.is_settled(document.updated_at, by=by):
            return
        if kind is Kind.INDEXED_AFTER_ALL and not self.search_check.found([(home, document)]):
            return
        if kind is Kind.REJECTED_IN_INDEX:
            yield from self.evictions.of(document)
        else:
            yield from self.mending.run_again(document, kind)


def _suspicion(document: Document, said: DocumentDetail) -> Kind | None:
    if document.status is DocumentStatus.INDEXED:
        return None if said.status in AS_IT_SHOULD_BE else Kind.MISSING_FROM_INDEX
    if document.is_rejected and not document.is_open and may_be_found(said.status):
        return Kind.REJECTED_IN_INDEX
    if document.status is DocumentStatus.FAILED and _was_indexed_since(document, said):
        return Kind.INDEXED_AFTER_ALL
    return None


def _was_indexed_since(document: Document, said: DocumentDetail) -> bool:
    """What the knowledge base said before the document failed, its verdict has taken in."""
    if document.lingering or document.present_since is None or said.updated_at is None:
        return False
    return said.status == "INDEXED" and said.updated_at > document.updated_at
