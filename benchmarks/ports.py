"""The product's ports over the account's state machine and bucket, as thin as they can be."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.simulated_time.executions import (
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from benchmarks.simulated_time.workflow import Workflow
from benchmarks.stores import Bucket
from stackroom.inspection.inspection import File


@dataclass(frozen=True, kw_only=True)
class WorkflowExecutions:
    """The port `Executions`."""

    workflow: Workflow

    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        try:
            self.workflow.start(name, json.loads(json.dumps(payload)))
        except ExecutionAlreadyExists:
            return self.is_running(name)
        return True

    def is_running(self, name: str) -> bool:
        execution = self.workflow.describe(name)
        return execution is not None and execution.status == "RUNNING"


@dataclass(frozen=True, kw_only=True)
class WorkflowTaskTokens:
    """The port `TaskTokens`."""

    workflow: Workflow

    def wake(self, token: str) -> bool:
        try:
            self.workflow.turns.succeed(token, {"admitted": True})
        except (TaskTimedOut, TaskDoesNotExist):
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class StoredFiles:
    """What the inspection reads: of each file, its size."""

    bucket: Bucket

    def read(self, key: str, *, limit: int) -> File | None:
        found = self.bucket.objects.get(key)
        if found is None:
            return None
        return File(etag=found.etag, body=str(found.size).encode() if found.size <= limit else None)

    def etag_of(self, key: str) -> str | None:
        found = self.bucket.objects.get(key)
        return None if found is None else found.etag
