"""The life of an ingestion job, from STARTING to its end, in a thread of its own."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.indexing import Home, Indexing
from stackroom_local.simulator.rules import JOB_FAILED, JOB_SHORTEST, JOB_STARTING, JOB_STOPPING
from stackroom_local.simulator.store import Row, Store, dumped, loaded
from stackroom_local.simulator.synchronisation import Source, Stopped, Synchronisation
from stackroom_local.simulator.tally import Tally

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JobRuns:
    store: Store
    clock: Clock
    indexing: Indexing
    _stops: dict[str, threading.Event] = field(default_factory=dict)
    _threads: dict[str, threading.Thread] = field(default_factory=dict)
    _closing: threading.Event = field(default_factory=threading.Event)

    def start(self, job: str, source: Row) -> None:
        """Let a job that is STARTING live."""
        stop = self._stops[job] = threading.Event()
        thread = threading.Thread(target=self._live, args=(job, source, stop), daemon=True)
        self._threads[job] = thread
        thread.start()

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
        for thread in tuple(self._threads.values()):
            thread.join(timeout=5)

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
            if not self._closing.is_set():
                self._fail(job, error)
        finally:
            self._stops.pop(job, None)
            self._threads.pop(job, None)

    def _fail(self, job: str, error: Exception) -> None:
        logger.warning("ingestion job failed", exc_info=error)
        reason = JOB_FAILED.message.format(cause="The data source could not be read")
        self._set(job, "FAILED", failure_reasons=dumped([reason]))

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
