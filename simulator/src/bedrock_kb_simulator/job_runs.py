"""The life of an ingestion job, from STARTING to its end, beside everything else."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bedrock_kb_simulator.clock import Clock, Signal, Work
from bedrock_kb_simulator.errors import Stopped
from bedrock_kb_simulator.indexing import Destination, Indexing
from bedrock_kb_simulator.managed_ingestion import ingestion_of
from bedrock_kb_simulator.rules import JOB_FAILED, JOB_SHORTEST, JOB_STARTING, JOB_STOPPING
from bedrock_kb_simulator.sources import Source
from bedrock_kb_simulator.store import Row, Store, dumped, loaded
from bedrock_kb_simulator.synchronisation import Synchronisation
from bedrock_kb_simulator.tally import Tally

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JobRuns:
    store: Store
    clock: Clock
    indexing: Indexing
    at_a_time: int  # documents that a job indexes: rule job.at-a-time
    _stops: dict[str, Signal] = field(default_factory=dict)
    _lives: dict[str, Work] = field(default_factory=dict)
    _closing: Signal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", self.clock.signal())

    def start(self, job: str, source: Row) -> None:
        """Begin the life cycle of a job that is STARTING."""
        stop = self._stops[job] = self.clock.signal()
        self._lives[job] = self.clock.spawn(partial(self._live, job, source, stop))

    def stop(self, job: str) -> None:
        self._set(job, "STOPPING")
        self._stops[job].set()

    def resume(self) -> None:
        """After a restart: what ran is FAILED as after any internal error, what stopped STOPPED."""
        reason = JOB_FAILED.message.format(cause="An internal error occurred")
        for row in self.store.rows("SELECT id, status FROM ingestion_jobs"):
            if row["status"] == "STOPPING":
                self._set(row["id"], "STOPPED")
            elif row["status"] in ("STARTING", "IN_PROGRESS"):
                self._set(row["id"], "FAILED", failure_reasons=dumped([reason]))

    def close(self) -> None:
        """End the jobs that run, which then count as interrupted."""
        self._closing.set()
        for stop in tuple(self._stops.values()):
            stop.set()
        for life in tuple(self._lives.values()):
            life.join(timeout=5)

    def _live(self, job: str, source: Row, stop: Signal) -> None:
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
            if not self._closing.is_set():
                self._fail(job, error)
        finally:
            self._stops.pop(job, None)
            self._lives.pop(job, None)

    def _fail(self, job: str, error: Exception) -> None:
        logger.warning("ingestion job failed", exc_info=error)
        reason = JOB_FAILED.message.format(cause="The data source could not be read")
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
            source=Source.configured(body["dataSourceConfiguration"]),
            clock=self.clock,
            at_a_time=self.at_a_time,
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
        was_asked = row is not None and row["status"] == "STOPPING"
        if was_asked and not self.clock.wait(JOB_STOPPING.value, self._closing):
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
