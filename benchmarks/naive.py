"""
The naive design, done carefully, on the same account: to compare with.

One knowledge base with one S3 data source over the whole bucket, and one full sync at a time of
whatever has arrived; it is asked every five seconds whether it is over, and the next one begins at
once if something new has come since it was started. What each sync came to is read from Bedrock's
list of documents, so that nothing is lost and nothing untrue is told. All knowledge bases but one
of a pool would be of no use to it.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import count, islice
from typing import Any

from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from benchmarks.least import Least
from benchmarks.limits import Limits
from benchmarks.observation import Observation, unsearchable
from benchmarks.simulated_time.account import CREATED, DELETED, Account
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.simulated_time.functions import Function
from benchmarks.simulated_time.hub import Hub
from benchmarks.stage import Outcome
from benchmarks.stores import Bucket, HubClock
from benchmarks.traffic import Upload, put
from benchmarks.worlds import ASSUMED, WORLDS

_POLL = 5  # seconds
_PAGE, _PAGES_A_SECOND = 1_000, 5  # [API model; rule rate.ListKnowledgeBaseDocuments]
# Records are written ten at a time, as ours are; what one invocation writes at most.
_WRITERS, _AT_ONCE = 10, 5_000
_SEARCHED = ("INDEXED", "PARTIALLY_INDEXED", "METADATA_PARTIALLY_INDEXED")
_FAILED = ("FAILED", "IGNORED")
_BUSY = {
    "ErrorEquals": ["ConflictException", "ThrottlingException", "ValidationException"],
    "IntervalSeconds": _POLL,
    "BackoffRate": 1.0,
    "MaxAttempts": 1_000,
}
_DEFINITION = {
    "StartAt": "Sync",
    "States": {
        "Sync": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"FunctionName": "sync", "Payload": {}},
            "OutputPath": "$.Payload",
            "TimeoutSeconds": 300,
            "Retry": [_BUSY],
            "Next": "IsOver",
        },
        "IsOver": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.next", "StringEquals": "wait", "Next": "WaitForSync"},
                {"Variable": "$.next", "StringEquals": "again", "Next": "Sync"},
            ],
            "Default": "Over",
        },
        "WaitForSync": {"Type": "Wait", "Seconds": _POLL, "Next": "Sync"},
        "Over": {"Type": "Succeed"},
    },
}


@dataclass
class _State:
    """What its table holds besides the records."""

    pending: dict[str, datetime]  # keys of which something was heard, and when
    is_locked: bool = False  # by the one execution
    is_dirty: bool = False  # something was heard since the last sync was started
    job_id: str | None = None
    ended: Iterator[tuple[str, str]] = field(default_factory=lambda: iter(()))
    # what is still to be told of the last sync


class Naive:
    """`watch` is told what the record of a key says."""

    def __init__(self, account: Account, bucket: Bucket) -> None:
        self.account = account
        self.watch: Callable[[str, str], None] = lambda _key, _said: None
        self._bucket = bucket
        self._numbers = count(1)
        self._state = _State(pending={})
        self._ids = account.whole_bucket()
        self._agent = account.client("bedrock-agent")
        for name, timeout, handler in (("hear", 60, self._hear), ("sync", 300, self._sync)):
            account.function(Function(name=name, memory=512, timeout=timeout, handler=handler))
        self.workflow = account.workflow(json.dumps(_DEFINITION), {})

    def notify(self, kind: str, key: str) -> None:
        """The rule on objects invokes a function for each that is created or deleted."""
        functions = self.account.functions
        self.account.invoke(kind, key, lambda: functions.begin("hear", {"key": key}))

    def _hear(self, event: dict[str, Any]) -> None:
        state, key = self._state, event["key"]
        if key in self._bucket.objects:
            self._write_sidecar(key)
        self._write_record()
        state.pending[key] = self.account.hub.now()
        state.is_dirty = True
        self._write_record()  # the lock, on the condition that nobody has it
        if not state.is_locked:
            state.is_locked = True
            self.workflow.start(f"sync-{next(self._numbers)}", {})

    def _write_sidecar(self, key: str) -> None:
        """It says whose the document is; its key is its id."""
        self.account.bill.add("s3 puts", 1)
        self.account.pace.spend(0.04)
        attributes = {"user_id": key.partition("/")[0], "document_id": key}
        self._bucket.write_sidecar(key, json.dumps({"metadataAttributes": attributes}).encode())

    def _write_record(self) -> None:
        self.account.bill.add("dynamodb writes", 1)
        self.account.pace.spend(0.012)

    def _sync(self, _event: dict[str, Any]) -> dict[str, str]:
        state = self._state
        if state.job_id is not None:
            if not self._is_over(state.job_id):
                return {"next": "wait"}
            state.job_id = None
            state.ended = self._ended()
        if state.is_dirty:
            self._start()
        return {"next": self._tell()}

    def _is_over(self, job_id: str) -> bool:
        answer = self._agent.get_ingestion_job(**self._ids, ingestionJobId=job_id)
        status = answer["ingestionJob"]["status"]
        if status == "FAILED":
            self._state.is_dirty = True
        return status in ("COMPLETE", "FAILED")

    def _start(self) -> None:
        answer = self._agent.start_ingestion_job(**self._ids)
        # Called later than heard: whatever had been heard of by then lies in the bucket.
        self._state.is_dirty = False
        self._state.job_id = answer["ingestionJob"]["ingestionJobId"]

    def _tell(self) -> str:
        """Say of some documents what came of them; answers what is to be done next."""
        state = self._state
        some = list(islice(state.ended, _AT_ONCE))
        for key, said in some:
            self.account.bill.add("dynamodb writes", 1)
            self.account.pace.spend(0.08 / _WRITERS)
            state.pending.pop(key, None)
            self.watch(key, said)
        if len(some) == _AT_ONCE:
            return "again"
        if state.job_id is not None:
            return "wait"
        if state.is_dirty:
            return "again"
        state.is_locked = False
        return "over"

    def _ended(self) -> Iterator[tuple[str, str]]:
        """Of what was heard: what Bedrock's list says since then, or that it is not there."""
        listed = self._listed()
        for key, heard in tuple(self._state.pending.items()):
            status, at = listed.get(key, ("", heard))
            if key not in self._bucket.objects:
                if not status:
                    yield key, "removed"
            elif status in _SEARCHED and at >= heard:
                yield key, "indexed"
            elif status in _FAILED and at >= heard:
                yield key, "failed"

    def _listed(self) -> dict[str, tuple[str, datetime]]:
        listed: dict[str, tuple[str, datetime]] = {}
        asked: dict[str, Any] = {**self._ids, "maxResults": _PAGE}
        while True:
            page = self._agent.list_knowledge_base_documents(**asked)
            for each in page["documentDetails"]:
                key = each["identifier"]["s3"]["uri"].split("/", 3)[3]
                listed[key] = (each["status"], each["updatedAt"])
            if not page.get("nextToken"):
                return listed
            asked["nextToken"] = page["nextToken"]
            self.account.pace.spend(1 / _PAGES_A_SECOND)


class NaiveStage:
    """An account with it, and someone who looks on: as `Stage` is for ours."""

    def __init__(self, *, seed: int, world: str = ASSUMED) -> None:
        self.hub = Hub()
        self.bucket = Bucket(clock=HubClock(hub=self.hub))
        self.account = Account(
            shelves=self.bucket,
            durations=Durations(seed=seed),
            seed=seed,
            hub=self.hub,
            assumptions=WORLDS[world],
        )
        self.limits = Limits.of(WORLDS[world])
        self.design = Naive(self.account, self.bucket)
        self.design.watch = self._watch
        self.observation = Observation(
            now=lambda: self.hub.time, found_since=self.account.searchable.found_since
        )
        self.removed: Callable[[str], None] = lambda _key: None  # told when its record goes

    def upload(self, upload: Upload) -> None:
        put(self.bucket, upload)
        self.observation.uploaded(upload)
        self.design.notify(CREATED, upload.key)

    def delete(self, key: str) -> None:
        self.bucket.delete(key)
        self.design.notify(DELETED, key)

    def plan(self, uploads: Iterable[Upload]) -> None:
        """Each at its moment from now on."""
        for each in uploads:
            self.hub.spawn(partial(self.upload, each), after=each.at)

    def keys(self) -> dict[str, str]:
        """Of all documents, by their ids, which are their keys."""
        return {key: key for key in self.bucket.objects}

    def settle(self, *, at_most: float | None = None) -> None:
        """Until nothing is left to do, or for so many seconds."""
        self.hub.run(until=None if at_most is None else self.hub.time + at_most)

    def _watch(self, key: str, said: str) -> None:
        if said == "removed":
            self.removed(key)
        else:
            self.observation.said(key, self.bucket.objects[key].etag, said)


def naive(planned: Sequence[Upload], *, seed: int, world: str = ASSUMED) -> Outcome:
    """Each upload at its moment, until nothing is left to do."""
    began = time.perf_counter()
    stage = NaiveStage(seed=seed, world=world)
    stage.plan(planned)
    stage.settle()
    # What was indexed a moment ago can be searched a moment later.
    stage.hub.run(until=stage.hub.time + SEARCHABLE_LAG.value + 1)
    seen, workflow = stage.observation, stage.design.workflow
    versions = {each.key: each.etag for each in planned if not each.is_broken}
    return Outcome(
        observation=seen,
        bill=stage.account.bill,
        settled=seen.last - seen.first,
        least=Least.of(planned, stage.account.durations, pool_size=1, limits=stage.limits),
        executions=workflow.started,
        broken=workflow.at_work,
        lost=seen.waiting + unsearchable(versions, stage.account.searchable),
        false_failures=seen.false_failures,
        dead_letters=0,
        simulated=stage.hub.time,
        took=time.perf_counter() - began,
    )
