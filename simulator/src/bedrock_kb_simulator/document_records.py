"""Get- and ListKnowledgeBaseDocuments, and the records of documents."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.connectors import kind_in
from bedrock_kb_simulator.data_sources import data_source
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.identifiers import page
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.store import Row, Store, loaded, moment

# A later job skips documents in these statuses if neither object nor sidecar changed.
INDEXED = frozenset({"INDEXED", "PARTIALLY_INDEXED", "METADATA_PARTIALLY_INDEXED"})
# Final statuses.
SETTLED = INDEXED | {"METADATA_UPDATE_FAILED", "FAILED", "IGNORED"}


@dataclass(frozen=True, kw_only=True)
class DocumentRecords:
    store: Store
    clock: Clock
    _hidden_until: dict[tuple[str, str], float] = field(default_factory=dict)

    def hide(self, data_source_id: str, identifier: str, *, seconds: float) -> None:
        """Hide a document from `visible` for some seconds: rule document.unseen."""
        self._hidden_until[data_source_id, identifier] = self.clock.elapsed() + seconds

    def visible(self, data_source_id: str, identifier: str) -> Row | None:
        """Return a document's record, or None if it is unknown or hidden."""
        if self.clock.elapsed() < self._hidden_until.get((data_source_id, identifier), 0.0):
            return None
        return self.find(data_source_id, identifier)

    def known(self, data_source_id: str) -> dict[str, Row]:
        """Return all records by identifier, which is the URI or the custom id."""
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
        """Set the status of known or new documents, and nothing else."""
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

    def stamp(
        self, data_source_id: str, identifier: str, *, etag: str, sidecar_etag: str | None
    ) -> None:
        """Record the content and sidecar that the status is about."""
        self.store.update(
            "documents",
            {"etag": etag, "sidecar_etag": sidecar_etag},
            data_source_id=data_source_id,
            identifier=identifier,
        )

    def forget(self, data_source_id: str, identifier: str) -> None:
        self.store.write(
            "DELETE FROM documents WHERE data_source_id = ? AND identifier = ?",
            data_source_id,
            identifier,
        )

    def resume(self) -> None:
        """Mark documents that a restart interrupted as FAILED; the next job retries them."""
        marks = ", ".join("?" * len(SETTLED))
        self.store.write(
            f"UPDATE documents SET status = 'FAILED', updated_at = ? WHERE status NOT IN ({marks})",  # noqa: S608 - placeholders only
            self.clock.now().isoformat(),
            *sorted(SETTLED),
        )


@dataclass(frozen=True, kw_only=True)
class Documents:
    store: Store
    records: DocumentRecords

    def get(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        details = []
        for identifier in parameters["documentIdentifiers"]:
            key = key_of(source, identifier)
            details.append(detail(source, key, self.records.visible(source["id"], key)))
        return {"documentDetails": details}

    def list(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        home = knowledge_base(self.store, source["knowledge_base_id"])
        if is_managed(home) and (parameters.get("maxResults") or 0) > rules.MANAGED_LIST_PAGE.limit:
            raise rules.MANAGED_LIST_PAGE.broken()
        size = rules.MANAGED_LIST_PAGE.limit if is_managed(home) else 1000
        rows = list(self.records.known(source["id"]).values())
        found, more = page(rows, parameters, lambda row: str(row["identifier"]), size=size)
        return {
            "documentDetails": [detail(source, row["identifier"], row) for row in found],
            **more,
        }


def usable_data_source(store: Store, parameters: Parameters) -> Row:
    """Return a request's data source; an S3 one must have been synced once."""
    row = data_source(store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
    synced = store.row("SELECT 1 FROM ingestion_jobs WHERE data_source_id = ?", row["id"])
    if kind_of(row) == "S3" and synced is None:
        raise rules.NOT_YET_SYNCED.broken(id=row["id"])
    return row


def refuse_unsynced(store: Store, source: Row) -> None:
    """Raise ValidationException for a direct request before the first complete sync."""
    complete = "SELECT 1 FROM ingestion_jobs WHERE data_source_id = ? AND status = 'COMPLETE'"
    if kind_of(source) == "S3" and store.row(complete, source["id"]) is None:
        raise rules.NOT_YET_SYNCED.broken(id=source["id"])


def kind_of(source: Row) -> str:
    """Return S3 or CUSTOM."""
    return kind_in(loaded(source["body"])["dataSourceConfiguration"])


def key_of(source: Row, identifier: dict[str, Any]) -> str:
    """Return the URI or custom id in a request's identifier."""
    kind, given = kind_of(source), identifier["dataSourceType"]
    member, name = ("s3", "uri") if kind == "S3" else ("custom", "id")
    if given != kind or not identifier.get(member):
        raise rules.WRONG_IDENTIFIER.broken(given=given, is_=kind)
    return str(identifier[member][name])


def detail(source: Row, key: str, row: Row | None) -> dict[str, Any]:
    """Return a document's details; one without a record is NOT_FOUND."""
    kind = kind_of(source)
    identifier = {"s3": {"uri": key}} if kind == "S3" else {"custom": {"id": key}}
    found = {
        "knowledgeBaseId": source["knowledge_base_id"],
        "dataSourceId": source["id"],
        "identifier": {"dataSourceType": kind, **identifier},
        "status": "NOT_FOUND" if row is None else row["status"],
    }
    if row is None:
        return found
    reason = {"statusReason": row["status_reason"]} if row["status_reason"] else {}
    return {**found, **reason, "updatedAt": moment(row["updated_at"])}
