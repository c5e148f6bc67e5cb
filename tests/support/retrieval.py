"""Retrieval over fakes: a pool of knowledge bases, catalogs and place maps."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackroom.access.identity import Caller
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import Catalog, DataSourceType
from stackroom.search.search import Retrieval
from tests.fakes.knowledge_base import AllStaying, FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps
from tests.support.records import a_catalog

ALICE = Caller("alice")


@dataclass
class CountingCatalogs(FakeCatalogs):
    """Catalogs that count how often a search reads them, and fail it on demand."""

    reads: int = 0
    failure: Exception | None = None

    def put(
        self, catalog_id: str, home: str | None, user_id: str = "alice", source: str | None = None
    ) -> None:
        """
        Open a catalog; with a `source`, its documents are ingested directly into that data source.
        """
        self.kept[catalog_id] = a_catalog(
            user_id=user_id,
            catalog_id=catalog_id,
            s3_prefix=f"{user_id}/{catalog_id}/",
            knowledge_base_id=home,
            data_source_id=source,
            data_source_type=DataSourceType.CUSTOM if source else DataSourceType.S3,
        )

    def get(self, catalog_id: str) -> Catalog | None:
        self._count()
        return super().get(catalog_id)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        self._count()
        return super().of_user(user_id)

    def _count(self) -> None:
        self.reads += 1
        if self.failure is not None:
            raise self.failure


def a_retrieval(knowledge_base: KnowledgeBase, catalogs: FakeCatalogs | None = None) -> Retrieval:
    return Retrieval(
        pool={"KB1": knowledge_base},
        catalogs=catalogs or FakeCatalogs(),
        documents=AllStaying(),
        place_maps=FakePlaceMaps(),
    )


class World:
    """A pool of one knowledge base, catalogs and place maps, and what searches them."""

    def __init__(self) -> None:
        self.kb = FakeKnowledgeBase()
        self.pool = {"KB1": self.kb}
        self.catalogs, self.place_maps = CountingCatalogs(), FakePlaceMaps()
        self.staying = AllStaying()
        self.retrieval = Retrieval(
            pool=self.pool,
            catalogs=self.catalogs,
            documents=self.staying,
            place_maps=self.place_maps,
        )
