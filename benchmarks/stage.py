"""An account in simulated time with Stackroom on it, and the outcome of a scenario."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from benchmarks.limits import Least, Limits
from benchmarks.observation import Observation, unsearchable
from benchmarks.product import WINDOW, Stackroom
from benchmarks.traffic import Upload, put
from benchmarks.use_cases import Stores
from benchmarks.worlds import ASSUMED, WORLDS
from simulated_time.account import CREATED, DELETED, Account
from simulated_time.bedrock import Durations
from simulated_time.bill import Bill
from simulated_time.hub import Hub
from simulated_time.memory import MemoryReceipts
from simulated_time.stores import AdmissionBook, Bucket, Catalogs, Documents, Leases
from stackroom.model.records import CatalogDataSources, Document
from stackroom.runs.ledger import Grant, Mode

DEFINITION = Path(__file__).parents[1] / "statemachines" / "ingest_catalog.asl.json"
_MONTH = 30 * 86_400.0  # seconds; longer than any scenario
_LOOK = 10.0  # simulated seconds between two checks for the end


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """
    An outcome; `settled` is in seconds from the first upload until a search finds the last document
    and its record says indexed, `least` the minimum of that.
    """

    observation: Observation
    bill: Bill
    settled: float
    least: Least
    executions: int
    broken: int
    lost: int  # uploads that no search finds, or whose record never reported their end
    false_failures: int
    dead_letters: int


class Stage:
    """An account with Stackroom on it, and an observer."""

    def __init__(
        self,
        *,
        seed: int,
        pool_size: int = 1,
        durations: Durations | None = None,
        window: float = WINDOW,
        catalog_data_sources: str = "custom",
        world: str = ASSUMED,
        faults: Faults | None = None,
    ) -> None:
        """Inject `faults` only into calls that are not measured."""
        # The use cases draw their jitter from the global generator.
        random.seed(seed)
        self.hub = Hub()
        self.bucket = Bucket(self.hub.now)
        self.account = Account(
            shelves=self.bucket,
            durations=durations or Durations(seed=seed),
            seed=seed,
            hub=self.hub,
            assumptions=WORLDS[world],
            faults=faults,
        )
        self._limits = Limits.of(WORLDS[world])
        catalogs = Catalogs()
        self.stores = Stores(
            bucket=self.bucket,
            catalogs=catalogs,
            documents=Documents(catalogs, watch=self._watch),
            leases=Leases(),
            receipts=MemoryReceipts(),
            book=AdmissionBook(),
        )
        self.observation = Observation(
            now=lambda: self.hub.time, found_since=self.account.searchable.found_since
        )
        self.stackroom = Stackroom(
            self.account,
            self.stores,
            definition=DEFINITION.read_text("utf-8"),
            pool_size=pool_size,
            window=window,
            catalog_data_sources=CatalogDataSources(catalog_data_sources),
        )
        self.removed: Callable[[str], None] = lambda _key: None  # called when a record is removed
        self.hub.spawn(self.stackroom.keep_sweeping)

    def upload(self, upload: Upload) -> None:
        put(self.bucket, upload)
        self.observation.uploaded(upload)
        self.account.notify(CREATED, upload.key)

    def delete(self, key: str) -> None:
        self.bucket.delete(key)
        self.observation.deleted(key)
        self.account.notify(DELETED, key)

    def plan(self, uploads: Iterable[Upload]) -> None:
        """Schedule each upload at its time from now on."""
        for each in uploads:
            self.hub.spawn(partial(self.upload, each), after=each.at)

    def keys(self) -> dict[str, str]:
        """Return the etags of all documents, by id."""
        return {each.document_id: each.s3_key for each in self.stores.documents.kept.values()}

    def hold(self, knowledge_base_id: str, seconds: float) -> None:
        """Occupy the knowledge base by another job in the ledger for this long."""
        now, book = self.hub.now(), self.stores.book
        grant = Grant(
            worklist_id="another",
            epoch=1,
            knowledge_base_id=knowledge_base_id,
            mode=Mode.JOB,
            slots=1,
            granted_at=now,
            until=now + timedelta(seconds=seconds),
        )
        book.ledger = replace(book.ledger, grants=(grant,))

    def is_quiet(self) -> bool:
        queues = all(queue.is_empty for queue in self.account.queues)
        return queues and not self.observation.waiting and not self.stackroom.workflow.at_work

    def run(self, *, at_most: float, until: Callable[[], bool]) -> None:
        end = self.hub.time + at_most
        while self.hub.time < end and not until():
            self.hub.run(until=min(end, self.hub.time + _LOOK))

    def settle(self, *, at_most: float = _MONTH) -> None:
        """Run until nothing is left to do, or for this many seconds."""
        self.run(at_most=at_most, until=self.is_quiet)

    def outcome(self, planned: Sequence[Upload] = ()) -> Outcome:
        # Documents are found a moment after they were indexed.
        self.hub.run(until=self.hub.time + SEARCHABLE_LAG.value + 1)
        seen, workflow = self.observation, self.stackroom.workflow
        return Outcome(
            observation=seen,
            bill=self.account.bill,
            settled=seen.last - seen.first,
            least=Least.of(planned, self.account.durations, len(self.stackroom.pool), self._limits),
            executions=workflow.started,
            broken=len(self.stackroom.broken),
            lost=seen.waiting + unsearchable(self._indexed(), self.account.searchable),
            false_failures=seen.false_failures,
            dead_letters=sum(len(queue.dead) for queue in self.account.queues),
        )

    def _indexed(self) -> dict[str, str]:
        return {
            document.document_id: document.etag
            for document in self.stores.documents.kept.values()
            if document.status == "indexed"
        }

    def _watch(self, document: Document, removed: bool) -> None:
        if removed:
            self.removed(document.s3_key)
        else:
            self.observation.note_status(document.s3_key, document.etag, document.status)
