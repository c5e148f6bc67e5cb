"""What a job and direct requests keep each other out of: rule managed.direct-or-job."""

from dataclasses import dataclass

from bedrock_kb_simulator.data_source_deletions import RUNNING
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.store import Row, Store

_JOBS = f"SELECT count(*) FROM ingestion_jobs WHERE {RUNNING}"  # noqa: S608 - a constant


@dataclass(frozen=True, kw_only=True)
class Realm:
    """A knowledge base, or, of a managed one, a data source; `id` is one's or the other's."""

    id: str
    is_managed: bool

    @classmethod
    def of(cls, store: Store, source: Row) -> "Realm":
        """That of a data source."""
        managed = is_managed(knowledge_base(store, source["knowledge_base_id"]))
        return cls(id=source["id" if managed else "knowledge_base_id"], is_managed=managed)

    def running_jobs(self, store: Store) -> int:
        column = "data_source_id" if self.is_managed else "knowledge_base_id"
        return store.count(f"{_JOBS} AND {column} = ?", self.id)
