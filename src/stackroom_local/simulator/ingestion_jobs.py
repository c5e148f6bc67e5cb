"""Ingestion jobs: bedrock-agent's Start-, Get-, List- and StopIngestionJob, and their life."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.data_sources import RUNNING, data_source, open_data_source
from stackroom_local.simulator.direct import DirectCalls
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.identifiers import ClientTokens, new_id, page
from stackroom_local.simulator.indexing import Home, Indexing
from stackroom_local.simulator.rules import (
    JOB_FAILED,
    JOB_NOT_FOR_CUSTOM,
    JOB_NOT_RUNNING,
    JOB_SHORTEST,
    JOB_STARTING,
    JOB_STOPPING,
    JOBS_PER_ACCOUNT,
    JOBS_PER_KNOWLEDGE_BASE,
    NO_SUCH_RESOURCE,
)
from stackroom_local.simulator.store import Row, Store, dumped, loaded, moment
from stackroom_local.simulator.synchronisation import Source, Stopped, Synchronisation
from stackroom_local.simulator.tally import Tally, nothing_yet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class IngestionJobs:
    store: Store
    clock: Clock
    tokens: ClientTokens
    direct: DirectCalls
    indexing: Indexing
    _stops: dict[str, threading.Event] = field(default_factory=dict)
    _threads: dict[str, threading.Thread] = field(default_factory=dict)
    _closing: threading.Event = field(default_factory=threading.Event)

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
        self._run(job, source)
        return {"ingestionJob": _described(self._job(parameters, job))}

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
        places = {row["id"]: f"{place:09}" for place, row in enumerate(rows, start=1)}
        found, more = page(rows, parameters, lambda row: places[row["id"]], size=1000)
        return {"ingestionJobSummaries": [_summary(row) for row in found], **more}

    def stop(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = self._job(parameters, parameters["ingestionJobId"])
            if row["status"] not in ("STARTING", "IN_PROGRESS"):
                raise JOB_NOT_RUNNING.broken(id=row["id"], status=row["status"])
            self._set(row["id"], "STOPPING")
            self._stops[row["id"]].set()
        return {"ingestionJob": _described(self._job(parameters, row["id"]))}

    def resume(self) -> None:
        """After a restart: what ran is FAILED as after any internal error, what stopped STOPPED."""
        reason = JOB_FAILED.message.format(cause="An internal error occurred")
        now = self.clock.now().isoformat()
        self.store.write(
            "UPDATE ingestion_jobs SET status = 'STOPPED', updated_at = ?"
            " WHERE status = 'STOPPING'",
            now,
        )
        self.store.write(
            "UPDATE ingestion_jobs SET status = 'FAILED', failure_reasons = ?, updated_at = ?"
            " WHERE status IN ('STARTING', 'IN_PROGRESS')",
            dumped([reason]),
            now,
        )

    def close(self) -> None:
        """End the jobs that run, which then count as interrupted."""
        self._closing.set()
        for stop in list(self._stops.values()):
            stop.set()
        for thread in list(self._threads.values()):
            thread.join(timeout=5)

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
        if loaded(source["body"])["dataSourceConfiguration"]["type"] != "S3":
            raise JOB_NOT_FOR_CUSTOM.broken()
        self.direct.refuse_job(source["knowledge_base_id"])
        running = f"SELECT count(*) FROM ingestion_jobs WHERE {RUNNING}"  # noqa: S608 - a constant
        here = self.store.count(f"{running} AND knowledge_base_id = ?", source["knowledge_base_id"])
        if here >= JOBS_PER_KNOWLEDGE_BASE.limit:
            raise JOBS_PER_KNOWLEDGE_BASE.broken()
        if self.store.count(running) >= JOBS_PER_ACCOUNT.limit:
            raise JOBS_PER_ACCOUNT.broken()

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

    def _run(self, job: str, source: Row) -> None:
        stop = self._stops[job] = threading.Event()
        thread = threading.Thread(target=self._live, args=(job, source, stop), daemon=True)
        self._threads[job] = thread
        thread.start()

    def _live(self, job: str, source: Row, stop: threading.Event) -> None:
        """The whole life of a job, in a thread of its own."""
        begun = self.clock.elapsed()
        try:
            self._wait(JOB_STARTING.value, stop)
            self._set(job, "IN_PROGRESS")
            self._synchronise(job, source, stop)
            self._wait(begun + JOB_SHORTEST.value - self.clock.elapsed(), stop)
            self._set(job, "COMPLETE")
        except Stopped:
            self._finish_stopping(job)
        except Exception as error:
            logger.warning("ingestion job failed", exc_info=error)
            reason = JOB_FAILED.message.format(cause="The data source could not be read")
            self._set(job, "FAILED", failure_reasons=dumped([reason]))
        finally:
            self._stops.pop(job, None)
            self._threads.pop(job, None)

    def _wait(self, seconds: float, stop: threading.Event) -> None:
        if self.clock.wait(seconds, stop):
            raise Stopped

    def _synchronise(self, job: str, source: Row, stop: threading.Event) -> None:
        body = loaded(source["body"])
        home = Home(
            knowledge_base_id=source["knowledge_base_id"],
            data_source_id=source["id"],
            chunking=Chunking.configured(body.get("vectorIngestionConfiguration")),
        )
        Synchronisation(
            indexing=self.indexing,
            home=home,
            source=Source.configured(body["dataSourceConfiguration"]),
            stop=stop,
            report=self._reporter(job),
        ).run()

    def _reporter(self, job: str) -> Callable[[Tally], None]:
        def report(tally: Tally) -> None:
            self._set(
                job,
                None,
                statistics=dumped(tally.statistics()),
                failure_reasons=dumped(tally.failure_reasons()),
            )

        return report

    def _finish_stopping(self, job: str) -> None:
        row = self.store.row("SELECT status FROM ingestion_jobs WHERE id = ?", job)
        if row is not None and row["status"] == "STOPPING":
            if not self.clock.wait(JOB_STOPPING.value, self._closing):
                self._set(job, "STOPPED")

    def _set(self, job: str, status: str | None, **columns: str) -> None:
        """A status of None leaves that as it is; a job that is STOPPING can only be STOPPED."""
        changes: dict[str, Any] = {**columns, "updated_at": self.clock.now().isoformat()}
        if status is not None:
            changes["status"] = status
        assignments = ", ".join(f"{column} = ?" for column in changes)
        unless = "" if status in (None, "STOPPED") else " AND status != 'STOPPING'"
        # Column names are this module's own words.
        statement = f"UPDATE ingestion_jobs SET {assignments} WHERE id = ?{unless}"  # noqa: S608
        self.store.write(statement, *changes.values(), job)


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
