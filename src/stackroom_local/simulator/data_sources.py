"""Data sources: bedrock-agent's Create-, Get-, List-, Update- and DeleteDataSource."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator import vector_ingestion
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.data_source_deletions import Deletions
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.faults import Faults
from stackroom_local.simulator.identifiers import ClientTokens, new_id, page
from stackroom_local.simulator.knowledge_bases import knowledge_base
from stackroom_local.simulator.rules import (
    CHUNKING_IMMUTABLE,
    DATA_SOURCE_BEING_DELETED,
    DATA_SOURCE_NAME_TAKEN,
    DATA_SOURCES_PER_KNOWLEDGE_BASE,
    NO_SUCH_RESOURCE,
    NOT_SIMULATED,
)
from stackroom_local.simulator.store import Row, Store, dumped, loaded, moment

_KEPT = (
    "description",
    "dataSourceConfiguration",
    "dataDeletionPolicy",
    "serverSideEncryptionConfiguration",
    "vectorIngestionConfiguration",
)


@dataclass(frozen=True, kw_only=True)
class DataSources:
    store: Store
    clock: Clock
    tokens: ClientTokens
    deletions: Deletions
    faults: Faults

    def create(self, parameters: Parameters) -> Parameters:
        home = parameters["knowledgeBaseId"]
        scope, token = f"CreateDataSource/{home}", parameters.get("clientToken")
        with self.store.transaction():
            knowledge_base(self.store, home)
            made = self.tokens.made(scope, token)
            if made is None:
                _check(parameters)
                self._admit(home, parameters["name"])
                made = self._insert(parameters)
                self.tokens.remember(scope, token, made)
        return {"dataSource": _described(data_source(self.store, home, made))}

    def get(self, parameters: Parameters) -> Parameters:
        return {"dataSource": _described(self._named(parameters))}

    def list(self, parameters: Parameters) -> Parameters:
        home = parameters["knowledgeBaseId"]
        knowledge_base(self.store, home)
        rows = self.store.rows(
            "SELECT * FROM data_sources WHERE knowledge_base_id = ? ORDER BY id", home
        )
        found, more = page(rows, parameters, lambda row: str(row["id"]), size=1000)
        return {"dataSourceSummaries": [_summary(row) for row in found], **more}

    def update(self, parameters: Parameters) -> Parameters:
        """What the request leaves out is as if never set: rule data-source.replaced."""
        home = parameters["knowledgeBaseId"]
        with self.store.transaction():
            row = open_data_source(self.store, parameters)
            _check(parameters)
            old = loaded(row["body"])
            member = "vectorIngestionConfiguration"
            if (parameters.get(member) or None) != (old.get(member) or None):
                raise CHUNKING_IMMUTABLE.broken()
            if parameters["name"] != row["name"]:
                self._refuse_taken(home, parameters["name"])
            self.store.write(
                "UPDATE data_sources SET name = ?, body = ?, status = 'AVAILABLE',"
                " failure_reasons = '[]', updated_at = ? WHERE id = ?",
                parameters["name"],
                dumped(_body(parameters)),
                self.clock.now().isoformat(),
                row["id"],
            )
        return {"dataSource": _described(data_source(self.store, home, row["id"]))}

    def delete(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = open_data_source(self.store, parameters)
            self.deletions.begin(row)
        members = {"knowledgeBaseId": row["knowledge_base_id"], "dataSourceId": row["id"]}
        return {**members, "status": "DELETING"}

    def _named(self, parameters: Parameters) -> Row:
        return data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])

    def _admit(self, home: str, name: str) -> None:
        self._refuse_taken(home, name)
        count = self.store.count(
            "SELECT count(*) FROM data_sources WHERE knowledge_base_id = ?", home
        )
        if count >= DATA_SOURCES_PER_KNOWLEDGE_BASE.limit:
            raise DATA_SOURCES_PER_KNOWLEDGE_BASE.broken()

    def _refuse_taken(self, home: str, name: str) -> None:
        query = "SELECT 1 FROM data_sources WHERE knowledge_base_id = ? AND name = ?"
        if self.store.row(query, home, name):
            raise DATA_SOURCE_NAME_TAKEN.broken(name=name)

    def resume(self) -> None:
        """After a restart: whatever was being created is there."""
        self.store.write("UPDATE data_sources SET status = 'AVAILABLE' WHERE status = 'CREATING'")

    def _insert(self, parameters: Parameters) -> str:
        now, data_source_id = self.clock.now().isoformat(), new_id()
        late = self.faults.of_made("CreateDataSource", parameters["name"])
        row = {
            "id": data_source_id,
            "knowledge_base_id": parameters["knowledgeBaseId"],
            "name": parameters["name"],
            "status": "CREATING" if late else "AVAILABLE",  # rule data-source.creating
            "body": dumped(_body(parameters)),
            "created_at": now,
            "updated_at": now,
        }
        self.store.insert("data_sources", row)
        if late:
            self.clock.later(late.seconds, lambda: self._finish_creating(data_source_id))
        return data_source_id

    def _finish_creating(self, data_source_id: str) -> None:
        self.store.write(
            "UPDATE data_sources SET status = 'AVAILABLE' WHERE id = ? AND status = 'CREATING'",
            data_source_id,
        )


def data_source(store: Store, knowledge_base_id: str, data_source_id: str) -> Row:
    knowledge_base(store, knowledge_base_id)
    row = store.row(
        "SELECT * FROM data_sources WHERE id = ? AND knowledge_base_id = ?",
        data_source_id,
        knowledge_base_id,
    )
    if row is None:
        raise NO_SUCH_RESOURCE.broken(what="Data Source", id=data_source_id)
    return row


def open_data_source(store: Store, parameters: Parameters) -> Row:
    """The data source that a request names, unless it is on its way out."""
    row = data_source(store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
    refuse_deleted(row)
    return row


def refuse_deleted(source: Row) -> None:
    """Raise ConflictException for a data source that is on its way out."""
    if source["status"] == "DELETING":
        raise DATA_SOURCE_BEING_DELETED.broken(id=source["id"])


def _check(parameters: Parameters) -> None:
    kind = parameters["dataSourceConfiguration"]["type"]
    if kind not in ("S3", "CUSTOM"):
        raise NOT_SIMULATED.broken(what=f"data sources of type {kind}")
    vector_ingestion.check(parameters.get("vectorIngestionConfiguration") or {})


def _body(parameters: Parameters) -> dict[str, Any]:
    body = {member: parameters[member] for member in _KEPT if parameters.get(member) is not None}
    return {"dataDeletionPolicy": "DELETE", **body}


def _summary(row: Row) -> dict[str, Any]:
    return {
        "knowledgeBaseId": row["knowledge_base_id"],
        "dataSourceId": row["id"],
        "name": row["name"],
        "status": row["status"],
        "description": loaded(row["body"]).get("description"),
        "updatedAt": moment(row["updated_at"]),
    }


def _described(row: Row) -> dict[str, Any]:
    reasons = loaded(row["failure_reasons"])
    return {
        **_summary(row),
        **loaded(row["body"]),
        "createdAt": moment(row["created_at"]),
        **({"failureReasons": reasons} if reasons else {}),
    }
