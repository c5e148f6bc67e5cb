"""A user's bucket, our functions, the state machine and a Bedrock, wired as in AWS."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.model.keys import Location, locate
from stackroom.model.records import Catalog, Document
from stackroom.runs.run_leases import Lease
from tests.aws.stores import BUCKET
from tests.workflow.bedrock import Bedrock
from tests.workflow.functions import Functions
from tests.workflow.machine import Execution, Machine

_messages = count(1)


@dataclass(frozen=True, kw_only=True)
class World:
    s3: Any
    functions: Functions
    machine: Machine
    bedrock: Bedrock
    catalogs: DynamoCatalogs
    documents: DynamoDocuments
    leases: DynamoLeases
    book: DynamoAdmissionBook

    def drop(self, key: str, body: bytes = b"some text") -> None:
        """Put an object and deliver its event, as S3, EventBridge and SQS do."""
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        self.notify("Object Created", key)

    def notify(self, kind: str, *keys: str) -> None:
        for name in ("upload_handler", "inspect"):
            reply = self.functions.invoke(name, sqs_event(kind, *keys))
            assert reply.payload == {"batchItemFailures": []}, reply

    def at(self, action: str, time: int, happens: Callable[[], None]) -> None:
        """It happens just before that task is done for so many a time."""
        self.functions.before[action].extend([_nothing] * (time - 1))
        self.functions.before[action].append(happens)

    def executions(self) -> list[Execution]:
        return self.machine.executions()

    def tell_of_broken_runs(self) -> None:
        """Tell of broken runs, as the rule on failed, timed-out or aborted executions does."""
        for execution in self.executions():
            if execution.status != "SUCCEEDED":
                self.ingest({"action": "recover", "execution_name": execution.name})

    def grants(self) -> list[str]:
        """The catalogs that have one."""
        return [each.worklist_id for each in self.book.read().grants]

    def ingest(self, event: dict[str, Any]) -> Any:
        reply = self.functions.invoke("ingest", event)
        assert not reply.function_error, reply
        return reply.payload

    def document(self, key: str) -> Document | None:
        place = _place(key)
        return self.documents.get(place.catalog_id, place.document_id)

    def status(self, key: str) -> str | None:
        document = self.document(key)
        return None if document is None else str(document.status)

    def catalog(self, key: str) -> Catalog:
        catalog = self.catalogs.get(_place(key).catalog_id)
        assert catalog is not None, "the upload opened it"
        return catalog

    def lease(self, key: str) -> Lease:
        lease = self.leases.get(_place(key).catalog_id)
        assert lease is not None, "the upload asked for a run"
        return lease


def _nothing() -> None:
    """Do nothing, at any time but one."""


def sqs_event(kind: str, *keys: str) -> dict[str, Any]:
    return {"Records": [_record(kind, key) for key in keys]}


def _record(kind: str, key: str) -> dict[str, Any]:
    number = next(_messages)
    body = {
        "id": f"event-{number}",
        "detail-type": kind,
        "detail": {"bucket": {"name": BUCKET}, "object": {"key": key, "sequencer": "00"}},
    }
    return {
        "messageId": f"message-{number}",
        "body": json.dumps(body),
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:a-queue",
    }


def _place(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location), "a test's key has its place"
    return place
