"""Everything in the other fakes, page by page; tests/contract/ports holds it to the adapter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from stackroom.model.keys import SIDECAR_SUFFIX
from stackroom.model.records import Catalog, DataSource, DataSourceType, Document, PoolMember
from stackroom.model.repositories import ListingPage
from stackroom.runs.inventory import KnownSource, ListedDocument, ListedObject
from tests.fakes.bedrock import BUCKET, FakeBedrock
from tests.fakes.disturbed import Disturbed
from tests.fakes.inspection import FakeTexts
from tests.fakes.pipeline import FakeBucket, FakeCatalogs, FakeDocuments

Item = TypeVar("Item")


@dataclass(kw_only=True)
class FakeInventory(Disturbed):
    """
    `page` bounds every page. `prefixes` and `statuses` are of data sources that the catalogs don't
    tell, by id.
    """

    bucket: FakeBucket
    catalogs: FakeCatalogs
    documents: FakeDocuments
    bedrock: FakeBedrock
    pool: tuple[PoolMember, ...]
    texts: FakeTexts = field(default_factory=FakeTexts)
    page: int = 2
    prefixes: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    malformed: list[str] = field(default_factory=list)

    def objects(self, *, after: str = "", prefix: str = "") -> ListingPage[ListedObject]:
        listed = [
            *(
                ListedObject(
                    key=each.key,
                    size=each.size,
                    etag=each.etag,
                    last_modified=each.last_modified,
                )
                for each in self.bucket.objects.values()
            ),
            *(
                ListedObject(
                    key=key + SIDECAR_SUFFIX,
                    size=len(each.body),
                    etag=str(hash(each.body)),
                    last_modified=each.last_modified,
                )
                for key, each in self.bucket.sidecars.items()
            ),
            *(
                ListedObject(
                    key=key, size=10, etag="etag of text", last_modified=self.texts.put_at[name]
                )
                for name in self.texts.kept
                for key in (name.key, name.places_key)
            ),
        ]
        below = {each.key: each for each in listed if each.key.startswith(prefix)}
        return self._page(below, after)

    def records(self, cursor: str | None) -> ListingPage[Catalog | Document]:
        """A catalog's documents before the catalog, as their sort keys have it."""
        kept: dict[str, Catalog | Document] = {
            f"{each.catalog_id}/DOC#{each.document_id}": each
            for each in self.documents.kept.values()
        }
        kept |= {f"{each.catalog_id}/METADATA": each for each in self.catalogs.kept.values()}
        page = self._page(kept, cursor)
        return replace(page, malformed=() if cursor else self.malformed)

    def all_catalogs(self, cursor: str | None) -> ListingPage[Catalog]:
        return self._page(self.catalogs.kept, cursor)

    def source_ids(self, knowledge_base_id: str) -> list[str]:
        return [each.source.data_source_id for each in self._sources(knowledge_base_id)]

    def source(self, knowledge_base_id: str, data_source_id: str) -> KnownSource | None:
        found = self._sources(knowledge_base_id)
        return next((each for each in found if each.source.data_source_id == data_source_id), None)

    def _sources(self, knowledge_base_id: str) -> list[KnownSource]:
        own = [
            KnownSource(
                source=DataSource(
                    knowledge_base_id=knowledge_base_id,
                    data_source_id=made,
                    type=self.bedrock.types[made],
                ),
                name=name,
                status=self._status(made),
                prefix=self.prefixes.get(made) or self.bedrock.prefixes.get(made, ""),
                reasons=self.reasons.get(made, ()),
            )
            for name, made in self.bedrock.all(knowledge_base_id).items()
        ]
        return own + [
            KnownSource(source=_shared(each), name="shared", status="AVAILABLE")
            for each in self.pool
            if each.knowledge_base_id == knowledge_base_id
        ]

    def indexed(self, source: DataSource, cursor: str | None) -> ListingPage[ListedDocument] | None:
        if source.type is DataSourceType.S3 and not self._was_synced(source):
            return None
        return self._page({each.identifier: each for each in self._listed(source)}, cursor)

    def _page(self, found: Mapping[str, Item], cursor: str | None) -> ListingPage[Item]:
        """Those behind the cursor, in the order of their keys."""
        behind = sorted(key for key in found if key > (cursor or ""))
        more = behind[self.page - 1] if len(behind) > self.page else None
        return ListingPage(items=[found[key] for key in behind[: self.page]], next=more)

    def _listed(self, source: DataSource) -> list[ListedDocument]:
        if source.type is DataSourceType.CUSTOM:
            return [
                ListedDocument(identifier=document_id, detail=verdict)
                for (made, document_id), verdict in self.bedrock.held.items()
                if made == source.data_source_id
            ]
        known = self._sources(source.knowledge_base_id)
        prefix = next(each.prefix for each in known if each.source == source)
        return [
            ListedDocument(identifier=uri, detail=verdict)
            for uri, verdict in self.bedrock.says.items()
            if uri.startswith(f"s3://{BUCKET}/{prefix}") and verdict.status != "NOT_FOUND"
        ]

    def _was_synced(self, source: DataSource) -> bool:
        return any(started == source for started, _ in self.bedrock.started.values())

    def _status(self, data_source_id: str) -> str:
        deleting = "DELETING" if data_source_id in self.bedrock.deleting else "AVAILABLE"
        return self.statuses.get(data_source_id, deleting)


@dataclass
class FakeBookmark:
    place: str | None = None

    def read(self) -> str | None:
        return self.place

    def keep(self, place: str | None) -> None:
        self.place = place


@dataclass
class FakeIdParts:
    kept: dict[tuple[str, int], bytes] = field(default_factory=dict)

    def keep(self, reading: str, part: int, ids: bytes) -> None:
        self.kept[reading, part] = ids

    def parts(self, reading: str) -> Iterator[bytes]:
        return (ids for (name, _), ids in sorted(self.kept.items()) if name == reading)


def _shared(member: PoolMember) -> DataSource:
    return DataSource(
        knowledge_base_id=member.knowledge_base_id,
        data_source_id=member.data_source_id,
        type=DataSourceType.CUSTOM,
    )
