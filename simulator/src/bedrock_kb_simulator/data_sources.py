"""Data sources: bedrock-agent's Create-, Get-, List-, Update- and DeleteDataSource."""

from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import connectors, ingestion_settings, rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import ClientTokens, new_id, page
from bedrock_kb_simulator.indexes import index_of, is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.vector_bucket_policies import refusal_of_role
from bedrock_kb_simulator.vectors import Vectors

# Deletion of data sources, in the background; passages follow the deletion policy (rule
# data-source.retained).

RUNNING = "status IN ('STARTING', 'IN_PROGRESS', 'STOPPING')"  # an ingestion job

_BUSY = f"SELECT 1 FROM ingestion_jobs WHERE data_source_id = ? AND {RUNNING}"  # noqa: S608 - a constant


@dataclass(frozen=True, kw_only=True)
class Deletions:
    store: Store
    clock: Clock
    vectors: Vectors

    def begin(self, source: Row) -> None:
        """Start deleting a data source; raises ValidationException while a job runs."""
        self._refuse_busy(source)
        self._set_status(source["id"], "DELETING")
        self.clock.later(rules.DATA_SOURCE_DELETION.value, lambda: self._finish(source["id"]))

    def of_knowledge_base(self, knowledge_base_id: str) -> bool:
        """Delete a knowledge base's data sources now; return False if one can't be deleted."""
        sources = self.store.rows(
            "SELECT * FROM data_sources WHERE knowledge_base_id = ?", knowledge_base_id
        )
        for source in sources:
            self._refuse_busy(source)
        gone = [self._finish(source["id"]) for source in sources]
        return all(gone)

    def resume(self) -> None:
        """Finish deletions that a restart interrupted."""
        for row in self.store.rows("SELECT id FROM data_sources WHERE status = 'DELETING'"):
            self._finish(row["id"])

    def _refuse_busy(self, source: Row) -> None:
        if self.store.row(_BUSY, source["id"]):
            raise rules.DATA_SOURCE_HAS_JOB.broken()

    def _finish(self, data_source_id: str) -> bool:
        with self.store.transaction():
            row = self.store.row("SELECT * FROM data_sources WHERE id = ?", data_source_id)
            if row is None:
                return True
            if not self._is_cleared(row):
                reason = rules.DATA_SOURCE_DELETION_FAILED.message.format(id=data_source_id)
                self._set_status(data_source_id, "DELETE_UNSUCCESSFUL", reason)
                return False
            self.store.write("DELETE FROM documents WHERE data_source_id = ?", data_source_id)
            self.store.write("DELETE FROM data_sources WHERE id = ?", data_source_id)
            return True

    def _is_cleared(self, source: Row) -> bool:
        """Remove its passages from the knowledge base; False if the index is gone or denied."""
        knowledge_base_id = source["knowledge_base_id"]
        if loaded(source["body"])["dataDeletionPolicy"] == "RETAIN":
            self.vectors.disown(knowledge_base_id, source["id"])
            return True
        denied = refusal_of_role(self.store, knowledge_base_id, "DeleteVectors")
        if denied is not None or index_of(self.store, knowledge_base_id) is None:
            return False
        self.vectors.remove_data_source(knowledge_base_id, source["id"])
        return True

    def _set_status(self, data_source_id: str, status: str, *reasons: str) -> None:
        self.store.update(
            "data_sources",
            {
                "status": status,
                "failure_reasons": dumped(reasons),
                "updated_at": self.clock.now().isoformat(),
            },
            id=data_source_id,
        )


# The members of CreateDataSource and UpdateDataSource, and their validation.

_INGESTION = "vectorIngestionConfiguration"
_KEPT = (
    "description",
    "dataSourceConfiguration",
    "dataDeletionPolicy",
    "serverSideEncryptionConfiguration",
    _INGESTION,
)


def body_of(home: Row, parameters: Parameters) -> dict[str, Any]:
    """Return the members of the request to store; raises ServiceError for invalid ones."""
    body = {member: parameters[member] for member in _KEPT if parameters.get(member) is not None}
    body = {"dataDeletionPolicy": "DELETE", **body}
    if is_managed(home):
        return _of_managed(body)
    kind = body["dataSourceConfiguration"]["type"]
    if kind == connectors.TYPE:
        raise rules.CONNECTOR_OF_VECTOR.broken()
    if kind not in ("S3", "CUSTOM"):
        raise rules.NOT_SIMULATED.broken(what=f"data sources of type {kind}")
    ingestion_settings.check(body.get(_INGESTION) or {})
    return body


def is_connector(body: dict[str, Any]) -> bool:
    """Return True for a data source of a managed knowledge base."""
    return bool(body["dataSourceConfiguration"]["type"] == connectors.TYPE)


def _of_managed(body: dict[str, Any]) -> dict[str, Any]:
    if not is_connector(body):
        raise rules.MANAGED_SOURCE_TYPE.broken()
    if body["dataDeletionPolicy"] != "DELETE":
        raise rules.MANAGED_DELETION_POLICY.broken()
    ingestion_settings.check_managed(body.get(_INGESTION) or {})
    return {
        **body,
        "dataSourceConfiguration": connectors.with_defaults(body["dataSourceConfiguration"]),
    }


# The data source that a request names.


def data_source(store: Store, knowledge_base_id: str, data_source_id: str) -> Row:
    knowledge_base(store, knowledge_base_id)
    row = store.row(
        "SELECT * FROM data_sources WHERE id = ? AND knowledge_base_id = ?",
        data_source_id,
        knowledge_base_id,
    )
    if row is None:
        raise rules.NO_SUCH_RESOURCE.broken(what="Data Source", id=data_source_id)
    return row


def open_data_source(store: Store, parameters: Parameters) -> Row:
    """Return the data source that a request names; raises ConflictException if it is DELETING."""
    row = data_source(store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
    refuse_deleted(row)
    return row


def refuse_deleted(source: Row) -> None:
    """Raise ConflictException for a data source that is being deleted."""
    if source["status"] == "DELETING":
        raise rules.DATA_SOURCE_BEING_DELETED.broken(id=source["id"])


def refuse_unavailable(row: Row) -> None:
    """Raise ValidationException for a connector that is not AVAILABLE."""
    if is_connector(loaded(row["body"])) and row["status"] != "AVAILABLE":
        raise rules.MANAGED_SOURCE_STATUS.broken(status=row["status"])


_PASSING = ("CREATING", "UPDATING")


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
            base = knowledge_base(self.store, home)
            data_source_id = self.tokens.resource_of(scope, token)
            if data_source_id is None:
                body = body_of(base, parameters)
                self._admit(base, parameters["name"])
                data_source_id = self._insert(parameters, body)
                self.tokens.remember(scope, token, data_source_id)
        return {"dataSource": _description(data_source(self.store, home, data_source_id))}

    def get(self, parameters: Parameters) -> Parameters:
        row = data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
        return {"dataSource": _description(row)}

    def list(self, parameters: Parameters) -> Parameters:
        home = parameters["knowledgeBaseId"]
        knowledge_base(self.store, home)
        rows = self.store.rows(
            "SELECT * FROM data_sources WHERE knowledge_base_id = ? ORDER BY id", home
        )
        found, more = page(rows, parameters, lambda row: str(row["id"]), size=1000)
        return {"dataSourceSummaries": [_summary(row) for row in found], **more}

    def update(self, parameters: Parameters) -> Parameters:
        """Replace the whole configuration: rule data-source.replaced."""
        home = parameters["knowledgeBaseId"]
        with self.store.transaction():
            row = open_data_source(self.store, parameters)
            base = knowledge_base(self.store, home)
            body, old = body_of(base, parameters), loaded(row["body"])
            if (body.get(_INGESTION) or None) != (old.get(_INGESTION) or None):
                raise rules.CHUNKING_IMMUTABLE.broken()
            if parameters["name"] != row["name"]:
                self._refuse_taken(home, parameters["name"])
            changes = {
                "name": parameters["name"],
                "body": dumped(body),
                "status": "UPDATING" if is_managed(base) else "AVAILABLE",
                "failure_reasons": "[]",
                "updated_at": self.clock.now().isoformat(),
            }
            self.store.update("data_sources", changes, id=row["id"])
            if is_managed(base):
                self._finish_later(row["id"], rules.MANAGED_SOURCE_CREATION.value)
        return {"dataSource": _description(data_source(self.store, home, row["id"]))}

    def delete(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = open_data_source(self.store, parameters)
            self.deletions.begin(row)
        members = {"knowledgeBaseId": row["knowledge_base_id"], "dataSourceId": row["id"]}
        return {**members, "status": "DELETING"}

    def _admit(self, base: Row, name: str) -> None:
        self._refuse_taken(base["id"], name)
        most = rules.DATA_SOURCES_PER_KNOWLEDGE_BASE
        if is_managed(base):
            most = rules.DATA_SOURCES_PER_MANAGED
            if base["status"] != "ACTIVE":
                raise rules.MANAGED_NOT_ACTIVE.broken(id=base["id"], status=base["status"])
        count = self.store.count(
            "SELECT count(*) FROM data_sources WHERE knowledge_base_id = ?", base["id"]
        )
        if count >= most.limit:
            raise most.broken()

    def _refuse_taken(self, home: str, name: str) -> None:
        query = "SELECT 1 FROM data_sources WHERE knowledge_base_id = ? AND name = ?"
        if self.store.row(query, home, name):
            raise rules.DATA_SOURCE_NAME_TAKEN.broken(name=name)

    def resume(self) -> None:
        """Finish creations and changes that a restart interrupted."""
        for row in self.store.rows("SELECT id FROM data_sources WHERE status IN (?, ?)", *_PASSING):
            self._finish(row["id"])

    def _insert(self, parameters: Parameters, body: dict[str, Any]) -> str:
        now, data_source_id = self.clock.now().isoformat(), new_id()
        seconds = rules.MANAGED_SOURCE_CREATION.value if is_connector(body) else None
        if late := self.faults.inject_into("CreateDataSource", parameters["name"]):
            seconds = late.seconds
        row = {
            "id": data_source_id,
            "knowledge_base_id": parameters["knowledgeBaseId"],
            "name": parameters["name"],
            "status": "AVAILABLE" if seconds is None else "CREATING",  # rule data-source.creating
            "body": dumped(body),
            "created_at": now,
            "updated_at": now,
        }
        self.store.insert("data_sources", row)
        if seconds is not None:
            self._finish_later(data_source_id, seconds)
        return data_source_id

    def _finish_later(self, data_source_id: str, seconds: float) -> None:
        self.clock.later(seconds, lambda: self._finish(data_source_id))

    def _finish(self, data_source_id: str) -> None:
        """Mark a data source that was CREATING or UPDATING as AVAILABLE, or as FAILED."""
        with self.store.transaction():
            row = self.store.row("SELECT * FROM data_sources WHERE id = ?", data_source_id)
            if row is None or row["status"] not in _PASSING:
                return
            body, changes = loaded(row["body"]), {"status": "AVAILABLE", "failure_reasons": "[]"}
            if is_connector(body):
                reason = connectors.failure(body["dataSourceConfiguration"])
                if reason is not None:
                    changes = {"status": "FAILED", "failure_reasons": dumped([reason])}
            self.store.update("data_sources", changes, id=data_source_id)


def _summary(row: Row) -> dict[str, Any]:
    return {
        "knowledgeBaseId": row["knowledge_base_id"],
        "dataSourceId": row["id"],
        "name": row["name"],
        "status": row["status"],
        "description": loaded(row["body"]).get("description"),
        "updatedAt": moment(row["updated_at"]),
    }


def _description(row: Row) -> dict[str, Any]:
    reasons, body = loaded(row["failure_reasons"]), loaded(row["body"])
    if is_connector(body):
        body["dataSourceConfiguration"] = connectors.echoed_configuration(
            body["dataSourceConfiguration"]
        )
    return {
        **_summary(row),
        **body,
        "createdAt": moment(row["created_at"]),
        **({"failureReasons": reasons} if reasons else {}),
    }
