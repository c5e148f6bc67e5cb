"""
Files registered a second: 10,000 dropped at once into one catalog, and into 50.

    make bench-registration
    make bench-registration ARGS=--processor    what a file takes of a processor, on this machine

The use cases and the adapters of DynamoDB run as they are, in simulated time, ten batches of ten
messages at a time, over tables that take what DynamoDB's do (benchmarks/simulated_time/table.py).
A second of a function's processor is one for all that it does beside each other. "One by one" is
the same with the messages of a batch handled one after another, each record saved alone.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import boto3

import stackroom.concurrency
from benchmarks import metering
from benchmarks.metering import Metered
from benchmarks.product import UPLOAD_BATCHES, in_turn, registered
from benchmarks.serving import measure, print_machine, verdict
from benchmarks.simulated_time.account import CREATED, Account
from benchmarks.simulated_time.bedrock import Durations
from benchmarks.simulated_time.functions import Function
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.table import Item, Table
from benchmarks.stores import Bucket, HubClock
from benchmarks.traffic import Traffic, put
from simulator.tests.running import ministack
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_items import DOCUMENT
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.dynamodb.worklist_records import DynamoWorklists
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.aws.session import CONFIG
from stackroom.documents.model import PoolMember
from stackroom.runs.placement import SharedSources
from stackroom.runs.run_leases import LEASE, RunLeases
from stackroom.runs.run_requests import RunRequests
from stackroom.uploads.plan import Plan
from stackroom.uploads.reconcile import Uploads
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE, create_tables
from tests.fakes.pipeline import FakeReceipts, FakeSlots

FILES, CATALOGS, BATCH = 10_000, (1, 50), 10
AIM = 200.0  # files a second
MEMORY, TIMEOUT = 1_024, 60.0  # of the function (infra/pipeline_functions.py)
_SEQUENTIAL = 512  # MB are enough for one message at a time
_FIRST_TASK = 1.0  # seconds, assumed: from StartExecution until the run renews its lease
_MEASURED = 200


class _BothTables(Table):
    """That of the catalogs and the control table, which have no partition in common."""

    def _key_of(self, item: Item) -> tuple[str, str]:
        return super()._key_of(item if "catalog_id" in item else item | {"catalog_id": item["pk"]})


@dataclass(frozen=True, kw_only=True)
class _OneByOne(Uploads):
    """Each key alone, after the one before."""

    def reconcile_all(self, correlation_ids: Mapping[str, str]) -> dict[str, Plan | Exception]:
        outcomes: dict[str, Plan | Exception] = {}
        for key in correlation_ids:
            try:
                outcomes[key] = self.reconcile(key)
            except Exception as error:  # it is this key's
                outcomes[key] = error
        return outcomes


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """For each file, `refused` transactions; in all, messages that came `again`."""

    rate: float
    refused: float
    again: int
    reads: float
    writes: float
    memory: float  # GB-s


class Registration:
    """The upload handler with its queue and its stores. A run that it asks for only begins."""

    def __init__(self, *, seed: int, memory: int, one_by_one: bool) -> None:
        self._seed = seed
        self._hub = Hub()
        self._bucket = Bucket(clock=HubClock(hub=self._hub))
        self._account = Account(
            shelves=self._bucket, durations=Durations(seed=seed), seed=seed, hub=self._hub
        )
        self._table = _BothTables(
            hub=self._hub,
            chance=random.Random(seed),
            keys=("catalog_id", "sk"),
            index=("live", "until"),
            names=("catalog_id", "filename", "size", "uploaded_at"),
            spend=self._account.pace.spend,
        )
        self._last, self._handled = 0.0, 0
        self._account.function(
            Function(name="upload_handler", memory=memory, timeout=TIMEOUT, handler=self._handle)
        )
        self._queue = self._account.consumed_queue(
            "uploads", "upload_handler", batch_size=BATCH, window=0, batches=UPLOAD_BATCHES
        )
        self._compose(_OneByOne if one_by_one else Uploads)

    def of(self, files: int, catalogs: int) -> Outcome:
        for upload in Traffic(random.Random(self._seed)).burst(files, catalogs, within=0):
            put(self._bucket, upload)
            self._hub.spawn(partial(self._queue.send, _event(upload.key)))
        # The adapters pause by themselves.
        asleep = SimpleNamespace(sleep=partial(self._account.pace.spend, own=0.0))
        with patch.object(stackroom.concurrency, "time", asleep):
            self._hub.run()
        kept = sum(name.startswith(DOCUMENT) for _, name in self._table.items)
        assert kept == files, "every file is on record"
        calls, used = self._table.calls, self._table.used
        refused = (n for what, n in calls.items() if what.startswith("TransactWriteItems "))
        return Outcome(
            rate=files / self._last,
            refused=sum(refused) / files,
            again=self._handled - files,
            reads=sum(n for what, n in used.items() if what.startswith("read ")) / files,
            writes=sum(n for what, n in used.items() if not what.startswith("read ")) / files,
            memory=self._account.bill.amounts["lambda GB-s"] / files,
        )

    def _handle(self, event: dict[str, Any]) -> dict[str, Any]:
        left = in_turn(event, self._account, self._queue, full=BATCH)
        answer = registered(left, self._uploads, self._requests)
        self._handled += len(left["Records"])
        self._last = self._hub.time
        return answer

    def _compose(self, uploads: type[Uploads]) -> None:
        client: Any = self._table
        documents = DynamoDocuments(client=client, table="", beside=self._account.beside)
        register = DynamoCatalogRegister(client=client, table="", control_table="")
        pool = (PoolMember(knowledge_base_id="KB00000001", data_source_id="DS00000001"),)
        slots = FakeSlots()
        slots.survey(pool[0].knowledge_base_id, ())
        self._leases = DynamoLeases(client=client, table="")
        self._uploads = uploads(
            catalogs=register,
            documents=documents,
            bucket=self._metered(self._bucket, metering.BUCKET),
            receipts=FakeReceipts(),
            now=self._hub.now,
            beside=self._account.beside,
        )
        self._requests = RunRequests(
            catalogs=register,
            shared=SharedSources(
                catalogs=register, slots=self._metered(slots, metering.SLOTS), pool=pool
            ),
            worklists=DynamoWorklists(client=client, table=""),
            runs=RunLeases(
                leases=self._leases,
                executions=self._metered(_Beginning(begin=self._begin), metering.EXECUTIONS),
                now=self._hub.now,
            ),
            pool=pool,
        )

    def _metered(self, port: object, costs: Mapping[str, metering.Cost]) -> Any:
        return Metered(port, costs, bill=self._account.bill, pace=self._account.pace)

    def _begin(self, payload: Mapping[str, Any]) -> None:
        """The run's first task; it goes on for as long as anybody drops anything."""
        renew = partial(
            self._leases.renew,
            payload["worklist_id"],
            payload["epoch"],
            until=self._hub.now() + LEASE,
        )
        self._hub.spawn(renew, after=_FIRST_TASK)


@dataclass(frozen=True, kw_only=True)
class _Beginning:
    """The port `Executions`."""

    begin: Callable[[Mapping[str, Any]], None]
    names: set[str] = field(default_factory=set)

    def start(self, name: str, payload: Mapping[str, Any]) -> bool:
        if name not in self.names:
            self.names.add(name)
            self.begin(payload)
        return True


def _event(key: str) -> str:
    detail = {"bucket": {"name": "docs"}, "object": {"key": key}}
    return json.dumps({"id": "event", "detail-type": CREATED, "detail": detail})


def show(catalogs: int, *, memory: int, one_by_one: bool, seed: int) -> None:
    outcome = Registration(seed=seed, memory=memory, one_by_one=one_by_one).of(FILES, catalogs)
    how = "one by one" if one_by_one else "beside each other"
    print(
        f"{FILES:,} files into {catalogs:3} catalogs, {how:17}, {memory:5,} MB:"
        f" {outcome.rate:4.0f} a second (aim {AIM:.0f}: {verdict(outcome.rate >= AIM)});"
        f" a file: {outcome.writes:.2f} write units, {outcome.reads:.2f} read units,"
        f" {outcome.memory:.3f} GB-s, {outcome.refused:.3f} refused, {outcome.again} came again",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--processor", action="store_true", help="measure what a file takes of it")
    parser.add_argument("--memory", type=int, default=MEMORY, help="MB of the function")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    print_machine()
    if asked.processor:
        show_processor()
        return
    for one_by_one in (True, False):
        for catalogs in CATALOGS:
            memory = _SEQUENTIAL if one_by_one else asked.memory
            show(catalogs, memory=memory, one_by_one=one_by_one, seed=asked.seed)


def show_processor() -> None:
    """Milliseconds of this process for each file, against a DynamoDB and an S3 of this machine."""
    with ministack() as endpoint:
        dynamodb, s3 = (_client(each, endpoint) for each in ("dynamodb", "s3"))
        create_tables(dynamodb)
        s3.create_bucket(Bucket=BUCKET)
        uploads = Uploads(
            catalogs=DynamoCatalogRegister(
                client=dynamodb, table=CATALOG_TABLE, control_table=CONTROL_TABLE
            ),
            documents=DynamoDocuments(client=dynamodb, table=CATALOG_TABLE),
            bucket=S3DocumentBucket(client=s3, bucket=BUCKET),
            receipts=DynamoReceipts(client=dynamodb, table=CONTROL_TABLE),
        )
        keys = [f"alice/research/{number}.txt" for number in range(_MEASURED + BATCH)]
        for key in keys:
            s3.put_object(Bucket=BUCKET, Key=key, Body=b"text")
        batches = [keys[start : start + BATCH] for start in range(0, len(keys), BATCH)]
        uploads.reconcile_all(dict.fromkeys(batches[0], "event"))
        began = time.process_time()
        for batch in batches[1:]:
            uploads.reconcile_all(dict.fromkeys(batch, "event"))
        taken = (time.process_time() - began) / _MEASURED
    print(f"a file, in batches of {BATCH}: {1000 * taken:.1f} ms of a processor")


def _client(service: str, endpoint: str) -> Any:
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=endpoint,
        config=CONFIG,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


if __name__ == "__main__":
    measure(main)
