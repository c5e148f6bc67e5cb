"""
How a data source goes: in the background, its passages by its deletion policy (rule
data-source.retained).
"""

from dataclasses import dataclass

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.indexes import index_of
from bedrock_kb_simulator.rules import (
    DATA_SOURCE_DELETION,
    DATA_SOURCE_DELETION_FAILED,
    DATA_SOURCE_HAS_JOB,
)
from bedrock_kb_simulator.store import Row, Store, dumped, loaded
from bedrock_kb_simulator.vectors import Vectors

RUNNING = "status IN ('STARTING', 'IN_PROGRESS', 'STOPPING')"  # of an ingestion job

_BUSY = f"SELECT 1 FROM ingestion_jobs WHERE data_source_id = ? AND {RUNNING}"  # noqa: S608 - a constant


@dataclass(frozen=True, kw_only=True)
class Deletions:
    store: Store
    clock: Clock
    vectors: Vectors

    def begin(self, source: Row) -> None:
        """Raises ValidationException while a job runs."""
        self._refuse_busy(source)
        self._set_status(source["id"], "DELETING")
        self.clock.later(DATA_SOURCE_DELETION.value, lambda: self._finish(source["id"]))

    def of_knowledge_base(self, knowledge_base_id: str) -> bool:
        """Delete a knowledge base's data sources, now; False if one of them could not be."""
        sources = self.store.rows(
            "SELECT * FROM data_sources WHERE knowledge_base_id = ?", knowledge_base_id
        )
        for source in sources:
            self._refuse_busy(source)
        gone = [self._finish(source["id"]) for source in sources]
        return all(gone)

    def resume(self) -> None:
        """After a restart: finish those that were under way."""
        for row in self.store.rows("SELECT id FROM data_sources WHERE status = 'DELETING'"):
            self._finish(row["id"])

    def _refuse_busy(self, source: Row) -> None:
        if self.store.row(_BUSY, source["id"]):
            raise DATA_SOURCE_HAS_JOB.broken()

    def _finish(self, data_source_id: str) -> bool:
        with self.store.transaction():
            row = self.store.row("SELECT * FROM data_sources WHERE id = ?", data_source_id)
            if row is None:
                return True
            if not self._is_cleared(row):
                reason = DATA_SOURCE_DELETION_FAILED.message.format(id=data_source_id)
                self._set_status(data_source_id, "DELETE_UNSUCCESSFUL", (reason,))
                return False
            self.store.write("DELETE FROM documents WHERE data_source_id = ?", data_source_id)
            self.store.write("DELETE FROM data_sources WHERE id = ?", data_source_id)
            return True

    def _is_cleared(self, source: Row) -> bool:
        """Take its passages out of the knowledge base; False if the index is gone."""
        knowledge_base_id = source["knowledge_base_id"]
        if loaded(source["body"])["dataDeletionPolicy"] == "RETAIN":
            self.vectors.disown(knowledge_base_id, source["id"])
        elif index_of(self.store, knowledge_base_id) is None:
            return False
        else:
            self.vectors.remove_data_source(knowledge_base_id, source["id"])
        return True

    def _set_status(self, data_source_id: str, status: str, reasons: tuple[str, ...] = ()) -> None:
        self.store.write(
            "UPDATE data_sources SET status = ?, failure_reasons = ?, updated_at = ? WHERE id = ?",
            status,
            dumped(reasons),
            self.clock.now().isoformat(),
            data_source_id,
        )
