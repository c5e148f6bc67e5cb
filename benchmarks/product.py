"""
Stackroom as deployed, on an account with simulated time.

Only what the functions' handlers call is run, without logs and metrics.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from benchmarks.use_cases import Stores, UseCases
from functions.batch import object_event
from simulated_time.account import Account
from simulated_time.executions import Execution
from simulated_time.functions import Function
from simulated_time.queues import Queue
from stackroom.model.records import CatalogDataSources, PoolMember
from stackroom.runs.run import Run
from stackroom.runs.run_leases import RunRequests
from stackroom.uploads.reconcile import Uploads

UPLOADS = 10  # messages of a full batch (infra/pipeline.py)
WINDOW = 0.0  # seconds that an upload waits for others, likewise
UPLOAD_BATCHES = 10  # at a time, likewise
READERS, LARGE_READERS = 100, 50  # likewise, each of one file
LARGE_FILE = 5_000_000  # bytes, likewise
_VISIBILITY = 720.0  # seconds, likewise, of a message to a reader
_WAITED = 2.0  # seconds by which such a message tells that others wait (functions/batch.py)
SENDING = 0.02  # seconds of a SendMessageBatch, assumed: AWS says none
_SWEEP = 300.0  # seconds between two sweeps (infra/runs.py)
_SETTLING = 5.0  # seconds until a new knowledge base is active
Event = dict[str, Any]


class Stackroom:
    """The pipeline: its functions, its queues, its state machine and its rules."""

    def __init__(
        self,
        account: Account,
        stores: Stores,
        *,
        definition: str,
        pool_size: int,
        window: float = WINDOW,
        catalog_data_sources: CatalogDataSources = CatalogDataSources.CUSTOM,
    ) -> None:
        self._account = account
        self.pool = [self._knowledge_base(catalog_data_sources) for _ in range(pool_size)]
        self.broken: list[Execution] = []
        self._declare_functions()
        self._uploads = account.consumed_queue(
            "uploads", "upload_handler", batch_size=UPLOADS, window=window, batches=UPLOAD_BATCHES
        )
        self._lanes = {
            name: account.consumed_queue(
                name,
                "inspect",
                batch_size=1,
                window=0.0,
                batches=batches,
                visibility=_VISIBILITY,
                wants=partial(self._is_for, is_large),
            )
            for name, batches, is_large in (
                ("inspections", READERS, False),
                ("large-inspections", LARGE_READERS, True),
            )
        }
        self.workflow = account.workflow(
            definition,
            {"IngestFunctionArn": "ingest", "StatusPollerFunctionArn": "status_poller"},
        )
        self.workflow.ended.append(self._follow)
        self.use_cases = UseCases.on(account, stores, self.workflow, self.pool)
        self._inspection = self.use_cases.inspection(account)
        self._bucket = stores.bucket

    def _is_for(self, is_large: bool, key: str) -> bool:
        found = self._bucket.head(key)
        return (found is not None and found.size > LARGE_FILE) is is_large

    def keep_sweeping(self) -> None:
        """Sweep forever; the one who runs the hub decides when it ends."""
        while True:
            self._account.hub.sleep(_SWEEP)
            self._account.functions.begin("ingest", {"action": "sweep"})

    def _knowledge_base(self, chosen: CatalogDataSources) -> PoolMember:
        knowledge_base_id, data_source_id = self._account.knowledge_base()
        self._account.hub.run(until=self._account.hub.time + _SETTLING)
        return PoolMember(
            knowledge_base_id=knowledge_base_id,
            data_source_id=data_source_id,
            catalog_data_sources=chosen,
        )

    def _declare_functions(self) -> None:
        """Declare the functions with memory and timeouts of infra/pipeline_functions.py."""
        for name, memory, timeout, handler in (
            ("upload_handler", 1024, 60.0, self._reconcile),
            ("inspect", 1536, 660.0, self._inspect),
            ("ingest", 1024, 120.0, self._ingest),
            ("status_poller", 1024, 120.0, self._poll),
        ):
            self._account.function(
                Function(name=name, memory=memory, timeout=timeout, handler=handler)
            )

    def _reconcile(self, event: Event) -> Event:
        is_full = len(event["Records"]) == UPLOADS
        left = in_turn(event, self._account, self._uploads) if is_full else event
        return registered(left, self.use_cases.uploads, self.use_cases.requests)

    def _inspect(self, event: Event) -> Event:
        [record] = event["Records"]
        if self._account.hub.time - record["sent_at"] >= _WAITED:
            lane = self._lanes[record["eventSourceARN"].rpartition(":")[2]]
            event = in_turn(event, self._account, lane)
        _, failed = _each(event, self._inspection.inspect)
        return _response(failed)

    def _ingest(self, event: Event) -> Event:
        tasks, broken_runs = self.use_cases.run_tasks, self.use_cases.broken_runs
        match event["action"]:
            case "sweep":
                broken_runs.sweep(self.use_cases.runs.expired())
                return {}
            case "record_failure":
                error = event["error"].get("Error", "an unknown error")
                broken_runs.record(event["worklist_id"], event["epoch"], error)
                return {}
            case "admit":
                tasks.admit(_run(event), event["token"])
                return {}
            case "ensure":
                moved = tasks.ensure(_run(event)).run
            case "start":
                moved = tasks.start(_run(event)).run
            case "release":
                moved = tasks.release(_run(event))
            case "hand_over":
                moved = tasks.hand_over(_run(event))
            case action:
                raise AssertionError(f"the state machine asks for {action}")
        return moved.model_dump(mode="json")

    def _poll(self, event: Event) -> Event:
        return self.use_cases.polling.poll(_run(event)).run.model_dump(mode="json")

    def _follow(self, execution: Execution) -> None:
        """Follow executions that did not succeed, as the rule of infra/runs.py does."""
        if execution.status == "SUCCEEDED":
            return
        self.broken.append(execution)
        catalog_id, _, epoch = execution.name.rpartition("-")
        error = {"Error": "an execution cut short"}
        self._account.functions.begin(
            "ingest",
            {
                "action": "record_failure",
                "worklist_id": catalog_id,
                "epoch": int(epoch),
                "error": error,
            },
        )


def in_turn(event: Event, account: Account, queue: Queue) -> Event:
    """Resend S3's messages if others may wait, as functions/batch.py does."""
    again = [each["body"] for each in event["Records"] if not each["by_function"]]
    if not again:
        return event
    account.pace.spend(SENDING)
    queue.send(*again, by_function=True)
    return {**event, "Records": [each for each in event["Records"] if each["by_function"]]}


def registered(event: Event, uploads: Uploads, requests: RunRequests) -> Event:
    keys, failed = _each(event, lambda key: key)
    outcomes = uploads.reconcile_all(dict.fromkeys(keys.values(), "event"))
    waiting: dict[str, list[str]] = {}
    for message_id, key in keys.items():
        outcome = outcomes[key]
        if isinstance(outcome, Exception):
            failed.append(message_id)
        elif outcome.run_for is not None:
            waiting.setdefault(outcome.run_for, []).append(message_id)
    for catalog_id in requests.ask_all(waiting):
        failed += waiting[catalog_id]
    return _response(failed)


def _each(event: Event, handle: Callable[[str], Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the outcome of each message by its id, and the ids of failed ones."""
    outcomes: dict[str, Any] = {}
    failed: list[str] = []
    for record in event["Records"]:
        try:
            outcomes[record["messageId"]] = handle(object_event(record["body"]).key)
        except Exception:  # as in functions/batch.py, a bad message fails alone
            failed.append(record["messageId"])
    return outcomes, failed


def _response(failed: Iterable[str]) -> Event:
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def _run(event: Event) -> Run:
    return Run.model_validate({each: event[each] for each in ("worklist_id", "epoch", "progress")})
