"""Data sources: bedrock-agent's Create-, Get-, List-, Update- and DeleteDataSource."""

from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.data_source_deletions import Deletions
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import ClientTokens, new_id, page
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.named_sources import data_source, open_data_source
from bedrock_kb_simulator.rules import (
    DATA_SOURCE_NAME_TAKEN,
    DATA_SOURCES_PER_KNOWLEDGE_BASE,
    DATA_SOURCES_PER_MANAGED,
    MANAGED_NOT_ACTIVE,
    MANAGED_SOURCE_CREATION,
)
from bedrock_kb_simulator.source_configurations import (
    body_of,
    described,
    failure_of,
    is_connector,
    refuse_changed,
)
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment

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
            made = self.tokens.made(scope, token)
            if made is None:
                body = body_of(base, parameters)
                self._admit(base, parameters["name"])
                made = self._insert(parameters, body)
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
            base = knowledge_base(self.store, home)
            body, old = body_of(base, parameters), loaded(row["body"])
            refuse_changed(old, body)
            if parameters["name"] != row["name"]:
                self._refuse_taken(home, parameters["name"])
            self.store.write(
                "UPDATE data_sources SET name = ?, body = ?, status = ?,"
                " failure_reasons = '[]', updated_at = ? WHERE id = ?",
                parameters["name"],
                dumped(body),
                "UPDATING" if is_managed(base) else "AVAILABLE",
                self.clock.now().isoformat(),
                row["id"],
            )
            if is_managed(base):
                self._finish_later(row["id"], MANAGED_SOURCE_CREATION.value)
        return {"dataSource": _described(data_source(self.store, home, row["id"]))}

    def delete(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = open_data_source(self.store, parameters)
            self.deletions.begin(row)
        members = {"knowledgeBaseId": row["knowledge_base_id"], "dataSourceId": row["id"]}
        return {**members, "status": "DELETING"}

    def _named(self, parameters: Parameters) -> Row:
        return data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])

    def _admit(self, base: Row, name: str) -> None:
        self._refuse_taken(base["id"], name)
        most = DATA_SOURCES_PER_KNOWLEDGE_BASE
        if is_managed(base):
            most = DATA_SOURCES_PER_MANAGED
            if base["status"] != "ACTIVE":
                raise MANAGED_NOT_ACTIVE.broken(id=base["id"], status=base["status"])
        count = self.store.count(
            "SELECT count(*) FROM data_sources WHERE knowledge_base_id = ?", base["id"]
        )
        if count >= most.limit:
            raise most.broken()

    def _refuse_taken(self, home: str, name: str) -> None:
        query = "SELECT 1 FROM data_sources WHERE knowledge_base_id = ? AND name = ?"
        if self.store.row(query, home, name):
            raise DATA_SOURCE_NAME_TAKEN.broken(name=name)

    def resume(self) -> None:
        """After a restart: whatever was being created or changed is there, or has failed."""
        for row in self.store.rows("SELECT id FROM data_sources WHERE status IN (?, ?)", *_PASSING):
            self._finish(row["id"])

    def _insert(self, parameters: Parameters, body: dict[str, Any]) -> str:
        now, data_source_id = self.clock.now().isoformat(), new_id()
        late = self.faults.of_made("CreateDataSource", parameters["name"])
        seconds = late.seconds if late else _creation(body)
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
        """What was CREATING or UPDATING is AVAILABLE; or FAILED, as a connector may be."""
        with self.store.transaction():
            row = self.store.row("SELECT * FROM data_sources WHERE id = ?", data_source_id)
            if row is None or row["status"] not in _PASSING:
                return
            reason = failure_of(loaded(row["body"]))
            self.store.write(
                "UPDATE data_sources SET status = ?, failure_reasons = ? WHERE id = ?",
                "AVAILABLE" if reason is None else "FAILED",
                dumped([] if reason is None else [reason]),
                data_source_id,
            )


def _creation(body: dict[str, Any]) -> float | None:
    """How long it is CREATING; None where it is AVAILABLE at once."""
    return MANAGED_SOURCE_CREATION.value if is_connector(body) else None


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
        **described(loaded(row["body"])),
        "createdAt": moment(row["created_at"]),
        **({"failureReasons": reasons} if reasons else {}),
    }
