"""Ingestion jobs: bedrock-agent's Start-, Get-, List- and StopIngestionJob."""

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock, Signal, Work
from bedrock_kb_simulator.connectors import Source
from bedrock_kb_simulator.data_sources import (
    RUNNING,
    data_source,
    open_data_source,
    refuse_unavailable,
)
from bedrock_kb_simulator.direct_ingestion import DirectCalls, ExclusionScope
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.document_records import kind_of
from bedrock_kb_simulator.identifiers import ClientTokens, new_id, page
from bedrock_kb_simulator.indexes import managed_index
from bedrock_kb_simulator.indexing import Destination, Indexing
from bedrock_kb_simulator.ingestion_settings import ingestion_of
from bedrock_kb_simulator.service_errors import Stopped
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.synchronisation import Synchronisation, Tally, empty_statistics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JobRuns:
    store: Store
    clock: Clock
    indexing: Indexing
    at_a_time: int  # documents that a job indexes in parallel: rule job.at-a-time
    _stops: dict[str, Signal] = field(default_factory=dict)
    _lives: dict[str, Work] = field(default_factory=dict)
    _closing: Signal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", self.clock.signal())

    def start(self, job: str, source: Row) -> None:
        """Run a job that is STARTING."""
        stop = self._stops[job] = self.clock.signal()
        self._lives[job] = self.clock.spawn(partial(self._run, job, source, stop))

    def stop(self, job: str) -> None:
        self._set(job, "STOPPING")
        self._stops[job].set()

    def resume(self) -> None:
        """Settle jobs that a restart interrupted: running ones FAILED, stopping ones STOPPED."""
        reason = rules.JOB_FAILED.message.format(cause="An internal error occurred")
        for row in self.store.rows("SELECT id, status FROM ingestion_jobs"):
            if row["status"] == "STOPPING":
                self._set(row["id"], "STOPPED")
            elif row["status"] in ("STARTING", "IN_PROGRESS"):
                self._set(row["id"], "FAILED", failure_reasons=dumped([reason]))

    def close(self) -> None:
        """Stop running jobs; the next start marks them as interrupted."""
        self._closing.set()
        for stop in tuple(self._stops.values()):
            stop.set()
        for life in tuple(self._lives.values()):
            life.join(timeout=5)

    def _run(self, job: str, source: Row, stop: Signal) -> None:
        begun = self.clock.elapsed()
        try:
            self._wait(rules.JOB_STARTING.value, stop)
            self._set(job, "IN_PROGRESS")
            self._synchronise(job, source, stop)
            self._wait(begun + rules.JOB_SHORTEST.value - self.clock.elapsed(), stop)
            self._set(job, "COMPLETE")
        except Stopped:
            self._finish_stopping(job)
        except Exception as error:
            if not self._closing.is_set():
                self._fail(job, error)
        finally:
            self._stops.pop(job, None)
            self._lives.pop(job, None)

    def _fail(self, job: str, error: Exception) -> None:
        logger.warning("ingestion job failed", exc_info=error)
        reason = rules.JOB_FAILED.message.format(cause="The data source could not be read")
        self._set(job, "FAILED", failure_reasons=dumped([reason]))

    def _wait(self, seconds: float, stop: Signal) -> None:
        if self.clock.wait(seconds, stop):
            raise Stopped

    def _synchronise(self, job: str, source: Row, stop: Signal) -> None:
        body = loaded(source["body"])
        destination = Destination(
            knowledge_base_id=source["knowledge_base_id"],
            data_source_id=source["id"],
            ingestion=ingestion_of(body),
            operation="StartIngestionJob",
        )
        Synchronisation(
            indexing=self.indexing,
            destination=destination,
            source=Source.from_configuration(body["dataSourceConfiguration"]),
            clock=self.clock,
            at_a_time=self.at_a_time,
            stop=stop,
            report=partial(self._report, job),
        ).run()

    def _report(self, job: str, tally: Tally) -> None:
        counts, reasons = dumped(tally.statistics()), dumped(tally.failure_reasons())
        self._set(job, None, statistics=counts, failure_reasons=reasons)

    def _finish_stopping(self, job: str) -> None:
        row = self.store.row("SELECT status FROM ingestion_jobs WHERE id = ?", job)
        was_asked = row is not None and row["status"] == "STOPPING"
        if was_asked and not self.clock.wait(rules.JOB_STOPPING.value, self._closing):
            self._set(job, "STOPPED")

    def _set(self, job: str, status: str | None, **columns: str) -> None:
        """Update a job; None keeps its status, and a STOPPING job can only become STOPPED."""
        changes: dict[str, Any] = {**columns, "updated_at": self.clock.now().isoformat()}
        if status is not None:
            changes["status"] = status
        assignments = ", ".join(f"{column} = ?" for column in changes)
        unless = "" if status in (None, "STOPPED") else " AND status != 'STOPPING'"
        # Column names come from this module alone.
        statement = f"UPDATE ingestion_jobs SET {assignments} WHERE id = ?{unless}"  # noqa: S608
        self.store.write(statement, *changes.values(), job)


# Rule managed.in-account.
_RUNNING = (
    "SELECT count(*) FROM ingestion_jobs j JOIN knowledge_bases k ON k.id = j.knowledge_base_id"  # noqa: S608 - a constant
    f" WHERE j.{RUNNING} AND k.index_arn NOT LIKE ?"
)


@dataclass(frozen=True, kw_only=True)
class IngestionJobs:
    store: Store
    clock: Clock
    tokens: ClientTokens
    direct: DirectCalls
    runs: JobRuns

    def start(self, parameters: Parameters) -> Parameters:
        home = parameters["knowledgeBaseId"]
        scope = f"StartIngestionJob/{home}/{parameters['dataSourceId']}"
        token = parameters.get("clientToken")
        with self.store.transaction():
            source = open_data_source(self.store, parameters)
            known = self.tokens.resource_of(scope, token)
            if known is not None:
                return {"ingestionJob": _description(self._job(parameters, known))}
            self._admit(source)
            job = self._insert(parameters)
            self.tokens.remember(scope, token, job)
        started = {"ingestionJob": _description(self._job(parameters, job))}
        self.runs.start(job, source)
        return started

    def get(self, parameters: Parameters) -> Parameters:
        return {"ingestionJob": _description(self._job(parameters, parameters["ingestionJobId"]))}

    def list(self, parameters: Parameters) -> Parameters:
        """List jobs, newest first by default; without failure reasons, as on AWS."""
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
                raise rules.JOB_NOT_RUNNING.broken(id=row["id"], status=row["status"])
            self.runs.stop(row["id"])
        return {"ingestionJob": _description(self._job(parameters, row["id"]))}

    def _job(self, parameters: Parameters, job_id: str) -> Row:
        data_source(self.store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
        row = self.store.row(
            "SELECT * FROM ingestion_jobs WHERE id = ? AND data_source_id = ?",
            job_id,
            parameters["dataSourceId"],
        )
        if row is None:
            raise rules.NO_SUCH_RESOURCE.broken(what="Ingestion Job", id=job_id)
        return row

    def _admit(self, source: Row) -> None:
        if kind_of(source) != "S3":
            raise rules.JOB_NOT_FOR_CUSTOM.broken()
        realm = ExclusionScope.of(self.store, source)
        refuse_unavailable(source)
        self.direct.refuse_job(realm)
        if realm.running_jobs(self.store):
            raise (
                rules.JOBS_PER_SOURCE if realm.is_managed else rules.JOBS_PER_KNOWLEDGE_BASE
            ).broken()
        running = self.store.count(_RUNNING, managed_index("%"))
        if not realm.is_managed and running >= rules.JOBS_PER_ACCOUNT.limit:
            raise rules.JOBS_PER_ACCOUNT.broken()

    def _insert(self, parameters: Parameters) -> str:
        now = self.clock.now().isoformat()
        row = {
            "id": new_id(),
            "knowledge_base_id": parameters["knowledgeBaseId"],
            "data_source_id": parameters["dataSourceId"],
            "status": "STARTING",
            "description": parameters.get("description"),
            "statistics": dumped(empty_statistics()),
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


def _description(row: Row) -> dict[str, Any]:
    reasons = loaded(row["failure_reasons"])
    return {**_summary(row), **({"failureReasons": reasons} if reasons else {})}
