"""Ingestion jobs: bedrock-agent's Start-, Get-, List- and StopIngestionJob."""

from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.data_source_deletions import RUNNING
from bedrock_kb_simulator.direct_calls import DirectCalls
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.documents import kind_of
from bedrock_kb_simulator.identifiers import ClientTokens, new_id, page
from bedrock_kb_simulator.indexes import managed_index
from bedrock_kb_simulator.job_runs import JobRuns
from bedrock_kb_simulator.named_sources import data_source, open_data_source, refuse_unavailable
from bedrock_kb_simulator.realms import Realm
from bedrock_kb_simulator.rules import (
    JOB_NOT_FOR_CUSTOM,
    JOB_NOT_RUNNING,
    JOBS_PER_ACCOUNT,
    JOBS_PER_KNOWLEDGE_BASE,
    JOBS_PER_MANAGED,
    JOBS_PER_SOURCE,
    NO_SUCH_RESOURCE,
)
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.tally import nothing_yet

_RUNNING = (
    "SELECT count(*) FROM ingestion_jobs j JOIN knowledge_bases k ON k.id = j.knowledge_base_id"  # noqa: S608 - a constant
    f" WHERE j.{RUNNING}"
)


@dataclass(frozen=True, kw_only=True)
class IngestionJobs:
    store: Store
    clock: Clock
    tokens: ClientTokens
    direct: DirectCalls
    runs: JobRuns
    assumptions: Assumptions

    def start(self, parameters: Parameters) -> Parameters:
        home = parameters["knowledgeBaseId"]
        scope = f"StartIngestionJob/{home}/{parameters['dataSourceId']}"
        token = parameters.get("clientToken")
        with self.store.transaction():
            source = open_data_source(self.store, parameters)
            made = self.tokens.made(scope, token)
            if made is not None:
                return {"ingestionJob": _described(self._job(parameters, made))}
            self._admit(source)
            job = self._insert(parameters)
            self.tokens.remember(scope, token, job)
        started = {"ingestionJob": _described(self._job(parameters, job))}
        self.runs.start(job, source)
        return started

    def get(self, parameters: Parameters) -> Parameters:
        return {"ingestionJob": _described(self._job(parameters, parameters["ingestionJobId"]))}

    def list(self, parameters: Parameters) -> Parameters:
        """Newest first unless told otherwise; no failure reasons, as on AWS."""
        data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
        rows = self.store.rows(
            "SELECT * FROM ingestion_jobs WHERE data_source_id = ?", parameters["dataSourceId"]
        )
        for condition in parameters.get("filters") or ():
            rows = [row for row in rows if row["status"] in condition["values"]]
        sort = parameters.get("sortBy") or {"attribute": "STARTED_AT", "order": "DESCENDING"}
        column = {"STATUS": "status", "STARTED_AT": "started_at"}[sort["attribute"]]
        rows.sort(key=lambda row: str(row[column]), reverse=sort["order"] == "DESCENDING")
        positions = {row["id"]: f"{position:09}" for position, row in enumerate(rows, start=1)}
        found, more = page(rows, parameters, lambda row: positions[row["id"]], size=1000)
        return {"ingestionJobSummaries": [_summary(row) for row in found], **more}

    def stop(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = self._job(parameters, parameters["ingestionJobId"])
            if row["status"] not in ("STARTING", "IN_PROGRESS"):
                raise JOB_NOT_RUNNING.broken(id=row["id"], status=row["status"])
            self.runs.stop(row["id"])
        return {"ingestionJob": _described(self._job(parameters, row["id"]))}

    def _job(self, parameters: Parameters, job_id: str) -> Row:
        data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
        row = self.store.row(
            "SELECT * FROM ingestion_jobs WHERE id = ? AND data_source_id = ?",
            job_id,
            parameters["dataSourceId"],
        )
        if row is None:
            raise NO_SUCH_RESOURCE.broken(what="Ingestion Job", id=job_id)
        return row

    def _admit(self, source: Row) -> None:
        if kind_of(source) != "S3":
            raise JOB_NOT_FOR_CUSTOM.broken()
        realm = Realm.of(self.store, source)
        refuse_unavailable(source)
        self.direct.refuse_job(realm)
        if realm.running_jobs(self.store):
            raise (JOBS_PER_SOURCE if realm.is_managed else JOBS_PER_KNOWLEDGE_BASE).broken()
        here = self.store.count(
            f"{_RUNNING} AND j.knowledge_base_id = ?", source["knowledge_base_id"]
        )
        if realm.is_managed and here >= JOBS_PER_MANAGED.limit:
            raise JOBS_PER_MANAGED.broken()
        if self._account_is_full(is_managed=realm.is_managed):
            raise JOBS_PER_ACCOUNT.broken()

    def _account_is_full(self, *, is_managed: bool) -> bool:
        """Rules job.per-account and managed.jobs-in-account."""
        if self.assumptions.managed_jobs_in_account:
            return self.store.count(_RUNNING) >= JOBS_PER_ACCOUNT.limit
        others = f"{_RUNNING} AND k.index_arn NOT LIKE ?"
        return (
            not is_managed
            and self.store.count(others, managed_index("%")) >= JOBS_PER_ACCOUNT.limit
        )

    def _insert(self, parameters: Parameters) -> str:
        now = self.clock.now().isoformat()
        row = {
            "id": new_id(),
            "knowledge_base_id": parameters["knowledgeBaseId"],
            "data_source_id": parameters["dataSourceId"],
            "status": "STARTING",
            "description": parameters.get("description"),
            "statistics": dumped(nothing_yet()),
            "failure_reasons": "[]",
            "started_at": now,
            "updated_at": now,
        }
        self.store.insert("ingestion_jobs", row)
        return str(row["id"])


def _summary(row: Row) -> dict[str, Any]:
    return {
        "knowledgeBaseId": row["knowledge_base_id"],
        "dataSourceId": row["data_source_id"],
        "ingestionJobId": row["id"],
        "description": row["description"],
        "status": row["status"],
        "statistics": loaded(row["statistics"]),
        "startedAt": moment(row["started_at"]),
        "updatedAt": moment(row["updated_at"]),
    }


def _described(row: Row) -> dict[str, Any]:
    reasons = loaded(row["failure_reasons"])
    return {**_summary(row), **({"failureReasons": reasons} if reasons else {})}
