"""Steps of a run that call the functions one by one, as the state machine does."""

import json
import time
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

import functions.ingest.handler as ingest
import functions.inspect.handler as inspect
import functions.status_poller.handler as status_poller
import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.model.keys import Location, locate
from stackroom.model.records import Document
from stackroom.runs.run_leases import worklist_of
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.support.lambda_context import Context
from tests.workflow.bedrock import Bedrock

FUNCTIONS: dict[str, Any] = {
    "upload_handler": upload_handler,
    "inspect": inspect,
    "ingest": ingest,
    "status_poller": status_poller,
}
KEY = "alice/research/report.txt"
_numbers = count(1)

Event = dict[str, Any]


def place_of(key: str = KEY) -> Location:
    place = locate(key)
    assert isinstance(place, Location), "a test's key has its place"
    return place


def body(key: str = KEY, kind: str = "Object Created", **more: object) -> str:
    """Return an event with a unique id, as EventBridge delivers it."""
    detail = {"bucket": {"name": BUCKET}, "object": {"key": key, "sequencer": "0A1B"}}
    event = {"id": f"event-{next(_numbers)}", "detail-type": kind, "detail": detail}
    return json.dumps({**event, **more})


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    bedrock: Bedrock
    monkeypatch: pytest.MonkeyPatch

    @property
    def leases(self) -> DynamoLeases:
        return DynamoLeases(client=session.client("dynamodb"), table=CONTROL_TABLE)

    def call(self, name: str, event: Event) -> Event:
        """Call a function in the environment that its deployment gives it."""
        self.monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", name)
        context = Context(milliseconds_left=660_000 if name == "inspect" else 60_000)
        answer: Event = FUNCTIONS[name].handler(event, context)
        return answer

    def put(self, key: str = KEY, text: str = "some text") -> None:
        session.client("s3").put_object(Bucket=BUCKET, Key=key, Body=text.encode())

    def remove(self, key: str = KEY) -> None:
        session.client("s3").delete_object(Bucket=BUCKET, Key=key)

    def deliver(self, *bodies: str, to: str = "upload_handler") -> list[str]:
        """Pass messages m0, m1 ... to a function, and return which failed."""
        records = [
            {
                "messageId": f"m{each}",
                "body": text,
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{to}",
                "attributes": {"SentTimestamp": str(int(time.time() * 1000))},
            }
            for each, text in enumerate(bodies)
        ]
        answer = self.call(to, {"Records": records})
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    def read(self, *bodies: str) -> list[str]:
        """Pass messages to the inspect function, and return which failed."""
        return self.deliver(*bodies, to="inspect")

    def drop(self, key: str = KEY, text: str = "some text") -> str:
        """Put an object and deliver its event to both functions; return the event's id."""
        self.put(key, text)
        return self.arrive(key)

    def arrive(self, key: str = KEY) -> str:
        """Deliver the event of an existing object to both functions; return the event's id."""
        message = body(key)
        assert self.deliver(message) == []
        assert self.read(message) == []
        return str(json.loads(message)["id"])

    def live_run(self, key: str = KEY) -> Event:
        """Return the event of the live run that has the catalog's documents."""
        catalog_id = place_of(key).catalog_id
        catalogs = DynamoCatalogs(client=session.client("dynamodb"), table=CATALOG_TABLE)
        catalog = catalogs.get(catalog_id)
        assert catalog is not None, "an upload has opened it"
        worklist_id = worklist_of(catalog_id, catalog.source)
        lease = self.leases.get(worklist_id)
        assert lease is not None, "an upload has asked for a run"
        return {"worklist_id": worklist_id, "epoch": lease.epoch}

    def ingest(self, action: str, run: Event) -> Event:
        return self.call("ingest", {**run, "action": action})

    def poll(self, run: Event) -> Event:
        return self.call("status_poller", {**run, "action": "poll"})

    def polled(self, run: Event) -> Event:
        """Poll until the run's work is complete, and return the run."""
        while run["progress"]["outcome"] in ("started", "running"):
            run = self.poll(run)
        return run

    def ensured(self, key: str = KEY) -> Event:
        """Return the live run once its data source exists or it has nothing to do."""
        run = self.ingest("ensure", self.live_run(key))
        while run["progress"]["outcome"] == "waiting":
            run = self.ingest("ensure", run)
        return run

    def started(self, key: str = KEY) -> Event:
        """Return the live run once AWS works on documents."""
        return self._start(self.ensured(key))

    def settle(self, key: str = KEY) -> None:
        """Take the live run to its end."""
        run = self.ensured(key)
        if run["progress"]["outcome"] == "ready":
            run = self._start(run)
        released = self.ingest("release", self.polled(run))
        assert released["progress"]["outcome"] == "released"

    def _start(self, run: Event) -> Event:
        """Admit the run, after its turn in the queue if it needs one."""
        started = self.ingest("start", run)
        if started["progress"]["outcome"] != "queued":
            return started
        self.admit(started)
        return self.ingest("start", started)

    def admit(self, run: Event) -> Event:
        return self.call("ingest", {**run, "action": "admit", "token": "token of a task"})

    def executions(self) -> list[str]:
        arn = session.client("stepfunctions").list_state_machines()["stateMachines"][0]
        found = session.client("stepfunctions").list_executions(
            stateMachineArn=arn["stateMachineArn"]
        )
        return sorted(each["name"] for each in found["executions"])

    def document(self, key: str = KEY) -> Document | None:
        documents = DynamoDocuments(client=session.client("dynamodb"), table=CATALOG_TABLE)
        return documents.get(place_of(key).catalog_id, place_of(key).document_id)
