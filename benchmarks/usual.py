"""
The usual design, as published samples have it, on the same account: to compare with.

One execution per upload: write the sidecar, start a sync of the whole bucket, wait 30 seconds, ask,
and mark the document by the job's end. A conflict or a throttle is retried until patience ends. One
knowledge base with one S3 data source: with one per catalog it would refuse the sixth catalog.
"""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from benchmarks.one_source import whole_bucket, write_record, write_sidecar
from benchmarks.simulated_time.account import Account
from benchmarks.simulated_time.functions import Function
from benchmarks.stores import Bucket

_BUSY = {
    # Eleven attempts within about an hour.
    "ErrorEquals": [
        "ConflictException",
        "ThrottlingException",
        "ValidationException",
        "ServiceQuotaExceededException",
    ],
    "IntervalSeconds": 30,
    "BackoffRate": 1.5,
    "MaxAttempts": 10,
    "MaxDelaySeconds": 600,
}
_MARK_FAILED = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "MarkFailed"}]


def _task(action: str, following: dict[str, Any], **more: Any) -> dict[str, Any]:
    payload = {"action": action, "key.$": "$.key", "job_id.$": "$.job_id"}
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": "sync", "Payload": payload},
        "OutputPath": "$.Payload",
        "TimeoutSeconds": 60,
        **more,
        **following,
    }


_DEFINITION = {
    "StartAt": "WriteSidecar",
    "States": {
        "WriteSidecar": _task("sidecar", {"Next": "StartSync"}, Catch=_MARK_FAILED),
        "StartSync": _task("start", {"Next": "WaitForSync"}, Retry=[_BUSY], Catch=_MARK_FAILED),
        "WaitForSync": {"Type": "Wait", "Seconds": 30, "Next": "CheckSync"},
        "CheckSync": _task("check", {"Next": "IsSyncOver"}, Retry=[_BUSY], Catch=_MARK_FAILED),
        "IsSyncOver": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.status", "StringEquals": "COMPLETE", "Next": "MarkIndexed"},
                {"Variable": "$.status", "StringEquals": "FAILED", "Next": "MarkFailed"},
            ],
            "Default": "WaitForSync",
        },
        "MarkIndexed": _task("indexed", {"End": True}),
        "MarkFailed": _task("failed", {"End": True}),
    },
}


class Usual:
    """`watch` is told what the record of a key says."""

    def __init__(self, account: Account, bucket: Bucket) -> None:
        self.account = account
        self.watch: Callable[[str, str], None] = lambda _key, _said: None
        self._bucket = bucket
        self._numbers = count(1)
        self._ids = whole_bucket(account)
        self._agent = account.client("bedrock-agent")
        account.function(Function(name="sync", memory=512, timeout=60, handler=self._handle))
        self.workflow = account.workflow(json.dumps(_DEFINITION), {})

    def notify(self, kind: str, key: str) -> None:
        """The rule on uploads starts an execution for each."""
        given = {"key": key, "job_id": None}
        name = f"upload-{next(self._numbers)}"
        self.account.invoke(kind, key, lambda: self.workflow.start(name, given))

    def _handle(self, event: dict[str, Any]) -> dict[str, Any]:
        key, job_id, status = event["key"], event["job_id"], ""
        match event["action"]:
            case "sidecar":
                self._write_sidecar(key)
            case "start":
                answer = self._agent.start_ingestion_job(**self._ids)
                job_id = answer["ingestionJob"]["ingestionJobId"]
            case "check":
                answer = self._agent.get_ingestion_job(**self._ids, ingestionJobId=job_id)
                status = answer["ingestionJob"]["status"]
            case said:
                self._record(key, said)
        return {"key": key, "job_id": job_id, "status": status}

    def _write_sidecar(self, key: str) -> None:
        self._record(key, "processing")
        write_sidecar(self.account, self._bucket, key)

    def _record(self, key: str, said: str) -> None:
        write_record(self.account)
        self.watch(key, said)
