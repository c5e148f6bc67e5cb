"""What became of every document of a data source."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.store import Row, Store

# Nothing more will happen to a document in one of these by itself.
SETTLED = frozenset(
    {
        "INDEXED",
        "PARTIALLY_INDEXED",
        "METADATA_PARTIALLY_INDEXED",
        "METADATA_UPDATE_FAILED",
        "FAILED",
        "IGNORED",
    }
)
# A later job leaves these alone when neither object nor sidecar changed; it tries others again.
KEPT = frozenset({"INDEXED", "PARTIALLY_INDEXED", "METADATA_PARTIALLY_INDEXED"})


@dataclass(frozen=True, kw_only=True)
class Records:
    store: Store
    clock: Clock
    _unseen: dict[tuple[str, str], float] = field(default_factory=dict)  # until when

    def hide(self, data_source_id: str, identifier: str, *, seconds: float) -> None:
        """For so long `seen` doesn't find it: rule document.unseen."""
        self._unseen[data_source_id, identifier] = self.clock.elapsed() + seconds

    def seen(self, data_source_id: str, identifier: str) -> Row | None:
        """As who asks for a document by its identifier is told."""
        if self.clock.elapsed() < self._unseen.get((data_source_id, identifier), 0.0):
            return None
        return self.find(data_source_id, identifier)

    def known(self, data_source_id: str) -> dict[str, Row]:
        """By identifier, which is the URI or the custom id."""
        rows = self.store.rows(
            "SELECT * FROM documents WHERE data_source_id = ? ORDER BY identifier", data_source_id
        )
        return {row["identifier"]: row for row in rows}

    def find(self, data_source_id: str, identifier: str) -> Row | None:
        return self.store.row(
            "SELECT * FROM documents WHERE data_source_id = ? AND identifier = ?",
            data_source_id,
            identifier,
        )

    def mark(
        self,
        data_source_id: str,
        identifiers: Iterable[str],
        status: str,
        *,
        reason: str | None = None,
    ) -> None:
        """Set the status of documents, old or new, and nothing else of them."""
        now = self.clock.now().isoformat()
        with self.store.transaction():
            for identifier in identifiers:
                self.store.write(
                    "INSERT INTO documents"
                    " (data_source_id, identifier, status, status_reason, updated_at)"
                    " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                    " status = excluded.status, status_reason = excluded.status_reason,"
                    " updated_at = excluded.updated_at",
                    data_source_id,
                    identifier,
                    status,
                    reason,
                    now,
                )

    def mark_later(
        self, data_source_id: str, identifier: str, status: str, *, seconds: float
    ) -> None:
        """Let a document read IN_PROGRESS for so long, or until it is marked otherwise."""
        self.mark(data_source_id, [identifier], "IN_PROGRESS")  # rule document.late
        marked = self.find(data_source_id, identifier)

        def mark() -> None:
            with self.store.transaction():
                if self.find(data_source_id, identifier) == marked:
                    self.mark(data_source_id, [identifier], status)

        self.clock.later(seconds, mark)

    def stamp(
        self, data_source_id: str, identifier: str, *, etag: str, sidecar_etag: str | None
    ) -> None:
        """Remember which content and sidecar the status is about."""
        self.store.write(
            "UPDATE documents SET etag = ?, sidecar_etag = ?"
            " WHERE data_source_id = ? AND identifier = ?",
            etag,
            sidecar_etag,
            data_source_id,
            identifier,
        )

    def forget(self, data_source_id: str, identifier: str) -> None:
        self.store.write(
            "DELETE FROM documents WHERE data_source_id = ? AND identifier = ?",
            data_source_id,
            identifier,
        )

    def resume(self) -> None:
        """After a restart: what was under way has failed, and the next job tries it again."""
        marks = ", ".join("?" * len(SETTLED))
        self.store.write(
            f"UPDATE documents SET status = 'FAILED', updated_at = ? WHERE status NOT IN ({marks})",  # noqa: S608 - placeholders only
            self.clock.now().isoformat(),
            *sorted(SETTLED),
        )
