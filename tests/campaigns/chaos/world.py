"""A deployment, and the people who use it while time passes."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from moto.s3.models import FakeDeleteMarker, s3_backends

from bedrock_kb_simulator.bucket_objects import SUFFIX
from bedrock_kb_simulator.faults import Faults
from simulated_time.account import Account
from simulated_time.bedrock import ACCOUNT, Durations
from simulated_time.functions import FunctionFailed
from simulated_time.hub import Hub
from stackroom.aws.dynamodb.bookmark import DynamoBookmark
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.model.bucket import FileVersion
from stackroom.model.keys import Location, TextName, locate, text_name_of
from stackroom.model.records import Document, DocumentStatus
from stackroom.text.text_ids import text_id_of
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.campaigns.chaos.deployment import Command, Deployment, Terms, place_of
from tests.campaigns.chaos.disruptions import Disruptions
from tests.campaigns.chaos.handlers import simulated
from tests.campaigns.chaos.kills import Kills
from tests.campaigns.chaos.wire import AccountLine, Wire, clear_stores
from tests.support.table_streams import Record, recorded


class BucketShelves:
    def under(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        keys = _keys()
        for key in sorted(each for each in keys if each.startswith(prefix)):
            found = _present(keys.get(key))
            if found is not None:
                yield key, found.contentsize, found.etag.strip('"')

    def find(self, key: str) -> tuple[int, str] | None:
        """Return size and ETag of what lies there; a text has those of its file's version."""
        found = _present(_keys().get(key))
        if found is not None and (name := text_name_of(key)) is not None:
            found = _version_of(name)
        return None if found is None else (found.contentsize, found.etag.strip('"'))

    def sidecar(self, key: str) -> tuple[bytes, str] | None:
        assert key.endswith(SUFFIX), "only sidecars are read"
        found = _present(_keys().get(key))
        return None if found is None else (found.value, found.etag.strip('"'))


def _keys() -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets[BUCKET].keys


def _version_of(text: TextName) -> Any:
    keys = _keys()
    for key in keys:
        place = locate(key)
        if not isinstance(place, Location) or place.document_id != text.document_id:
            continue
        for each in keys.getlist(key):
            if _present(each) is None:
                continue
            version = FileVersion(each.etag.strip('"'), each.version_id)
            if text_id_of(version, place.filename) == text.text_id:
                return each
    return None


def _present(found: Any) -> Any:
    return None if isinstance(found, FakeDeleteMarker) else found


_PATIENCE = 10 * 3600.0  # seconds, simulated, until all is quiet
# What is younger may be under way, and a reconciliation lets it be: of what waits to be read, or is
# a text, for a quarter of an hour.
_QUIET = 16 * 60.0


@dataclass(kw_only=True)
class World(Deployment):
    """
    `may_fail` are keys of documents that no fault is needed to fail, `must_fail` those that can't
    but; `deleted` those whose receipts must tell that they are gone. `states` are those that
    executions were seen in; `streams` is what was written into each table.
    """

    may_fail: set[str] = field(default_factory=set)
    must_fail: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    streams: Mapping[str, list[Record]] = field(default_factory=dict)

    def drop(self, key: str, text: str) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode())

    def remove(self, key: str) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=key)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """Events get lost within."""
        self.silent = True
        yield
        self.silent = False

    def forget(self, sort_key: str, key: str) -> None:
        """An item of the key's catalog."""
        self.wire.client("dynamodb").delete_item(
            TableName=CATALOG_TABLE,
            Key={"catalog_id": {"S": place_of(key).catalog_id}, "sk": {"S": sort_key}},
        )

    def forget_document(self, key: str) -> None:
        self.forget(f"DOC#{place_of(key).document_id}", key)

    def ingest(self, key: str, *, into: str, **attributes: str) -> None:
        """Into that data source of the first knowledge base, by nobody of ours."""
        document_id = place_of(key).document_id
        custom = {
            "customDocumentIdentifier": {"id": document_id},
            "sourceType": "S3_LOCATION",
            "s3Location": {"uri": f"s3://{BUCKET}/{key}"},
        }
        told = [
            {"key": name, "value": {"type": "STRING", "stringValue": value}}
            for name, value in {**attributes, "document_id": document_id}.items()
        ]
        self.account.client("bedrock-agent", unpaced=True).ingest_knowledge_base_documents(
            knowledgeBaseId=self.pool[0].knowledge_base_id,
            dataSourceId=into,
            documents=[
                {
                    "content": {"dataSourceType": "CUSTOM", "custom": custom},
                    "metadata": {"type": "IN_LINE_ATTRIBUTE", "inlineAttributes": told},
                }
            ],
        )
        self.pass_time(20)

    def command(self, command: Command) -> None:
        """Run on somebody's machine, and again until it ends well."""
        self.pending += 1

        def insist() -> None:
            while True:
                try:
                    self.account.functions.begin("person", command).result()
                except FunctionFailed:
                    self.hub.sleep(30)
                else:
                    self.pending -= 1
                    return

        self.hub.spawn(insist)

    def pass_time(self, seconds: float) -> None:
        self.hub.run(until=self.hub.time + seconds)

    def settle(self) -> bool:
        """Let time pass until all is quiet; False if it never is."""
        until, quiet = self.hub.time + _PATIENCE, 0
        while quiet < 3:
            if self.hub.time > until:
                return False
            self.pass_time(15)
            quiet = 0 if self._is_busy else quiet + 1
        return True

    def reconcile(self) -> Counter[str]:
        """
        One reconciliation, from its beginning to its end, once all is quiet; what it found.

        One that was cut short has yet to go on where it stood: that is not the one.
        """
        self.settle()
        self.pass_time(_QUIET)
        found: Counter[str] = Counter()

        def go_on() -> None:
            for _ in range(20):
                try:
                    answer = self.account.functions.begin(
                        "reconciler", {"action": "reconcile"}
                    ).result()
                except FunctionFailed:
                    self.hub.sleep(60)  # as Lambda tries again
                    continue
                found.update(answer["found"])
                if answer["finished"]:
                    return
            raise AssertionError("a reconciliation never ends")

        bookmark = DynamoBookmark(client=self.wire.client("dynamodb"), table=CONTROL_TABLE)
        if bookmark.read() is not None:
            self.do(go_on)
            self.settle()
        self.do(go_on)
        self.settle()
        return found

    def failed(self) -> list[Document]:
        return [each for each in self.documents() if each.status is DocumentStatus.FAILED]

    def documents(self) -> list[Document]:
        catalog_ids = {
            item["catalog_id"]["S"]
            for item in self.wire.client("dynamodb").scan(TableName=CATALOG_TABLE)["Items"]
        }
        documents = DynamoDocuments(client=self.wire.client("dynamodb"), table=CATALOG_TABLE)
        shelves = (documents.of_catalog(each) for each in sorted(catalog_ids))
        return [each for shelf in shelves for each in shelf]

    def do(self, action: Callable[[], Any]) -> Any:
        """Return the result of the action, which may take simulated time."""
        answers: list[Any] = []
        task = self.hub.spawn(lambda: answers.append(action()))
        until = self.hub.time + _PATIENCE
        while not task.dead and self.hub.time < until:
            self.pass_time(1)
        assert answers, "it never ends"
        return answers[0]

    def restart_account(self) -> None:
        """
        Start the account after a power cut, as `stackroom up` does: without executions, with a
        thorough sweep.
        """
        self.workflow.forget()
        self.do(self.account.restart_bedrock)
        self.begin("ingest", {"action": "sweep", "thorough": True})

    @property
    def _is_busy(self) -> bool:
        queued = any(not queue.is_empty for queue in self.account.queues)
        return bool(queued or self.pending or self.kills.busy or self.workflow.at_work)


@contextmanager
def world(
    wire: Wire,
    terms: Terms,
    *,
    kills: Kills | None = None,
    disruptions: Disruptions | None = None,
) -> Iterator[World]:
    clear_stores()
    random.seed(terms.seed)  # the use cases' own jitter
    hub = Hub()
    faults = Faults()
    account = Account(
        shelves=BucketShelves(),
        durations=Durations(seed=terms.seed),
        seed=terms.seed,
        hub=hub,
        faults=faults,
    )
    made = World(
        terms=terms,
        wire=wire,
        kills=kills or Kills(),
        faults=faults,
        disruptions=disruptions or Disruptions(),
        account=account,
    )
    wire.line = AccountLine(
        account=account,
        workflow=lambda: made.workflow,
        kills=made.kills,
        disruptions=made.disruptions,
        happened=made.happened,
        read=lambda body: made.readings.send(body),  # noqa: PLW0108 - it is set up later
    )
    made.set_up()
    with (
        recorded(hub.now) as made.streams,
        simulated(wire, now=hub.now, pace=account.pace, environment=made.environment),
    ):
        yield made
