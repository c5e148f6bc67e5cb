"""
Direct ingestion and deletion: Ingest- and DeleteKnowledgeBaseDocuments.

AWS answers at once and works on; it bounds how many requests are at work and keeps jobs and
direct requests of a knowledge base apart.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from bedrock_kb_simulator.clock import Clock, Signal, Work
from bedrock_kb_simulator.contents import Content, contents_of, drafted, refuse_too_much
from bedrock_kb_simulator.direct_calls import DirectCalls
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.documents import detail, key_of, refuse_unsynced, usable_data_source
from bedrock_kb_simulator.errors import Stopped, Unindexable
from bedrock_kb_simulator.faults import AT_ACCEPTANCE, Kind
from bedrock_kb_simulator.identifiers import ClientTokens
from bedrock_kb_simulator.indexing import Destination, Indexing
from bedrock_kb_simulator.managed_ingestion import ingestion_of
from bedrock_kb_simulator.named_sources import refuse_deleted, refuse_unavailable
from bedrock_kb_simulator.realms import Realm
from bedrock_kb_simulator.rules import (
    DIRECT_DURING_JOB,
    DOCUMENT_SLOW,
    FILE_UNREADABLE,
    MANAGED_FIRST_INGESTION,
)
from bedrock_kb_simulator.store import Row, Store, loaded

logger = logging.getLogger(__name__)

_INGEST = "IngestKnowledgeBaseDocuments"
# What the documents of a request read once it is accepted, and what in the second half of its
# time (rule document.statuses).
_BEGUN = {"STARTING": "IN_PROGRESS", "DELETING": "DELETE_IN_PROGRESS"}


@dataclass(frozen=True, kw_only=True)
class Direct:
    """A request takes `duration` AWS seconds, and what its documents take: document.duration."""

    store: Store
    clock: Clock
    tokens: ClientTokens
    calls: DirectCalls
    indexing: Indexing
    duration: float
    _numbers: Iterator[int] = field(default_factory=count)
    _lives: dict[int, Work] = field(default_factory=dict)
    _closing: Signal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", self.clock.signal())

    def ingest(self, parameters: Parameters) -> Parameters:
        source = self._source(parameters)
        refuse_too_much(parameters["documents"])
        contents = contents_of(source, parameters["documents"])
        keys = [content.identifier for content in contents]

        def work(destination: Destination) -> None:
            for content in contents:
                self._index(destination, content)

        return self._accept(
            parameters,
            source,
            keys=keys,
            named=keys,
            status="STARTING",
            work=work,
            slower=partial(self._slowness, source["id"], keys),
        )

    def delete(self, parameters: Parameters) -> Parameters:
        source = self._source(parameters)
        named = [key_of(source, given) for given in parameters["documentIdentifiers"]]
        records = self.indexing.records
        keys = [key for key in named if records.find(source["id"], key) is not None]

        def work(destination: Destination) -> None:
            for key in keys:
                self.indexing.remove(destination, key)

        return self._accept(
            parameters, source, keys=keys, named=named, status="DELETING", work=work
        )

    def close(self) -> None:
        """What was not begun is FAILED after a restart."""
        self._closing.set()
        for life in tuple(self._lives.values()):
            life.join(timeout=5)

    def _source(self, parameters: Parameters) -> Row:
        """One that is there, and whose documents may be asked for."""
        source = usable_data_source(self.store, parameters)
        refuse_deleted(source)
        refuse_unavailable(source)
        return source

    def _accept(
        self,
        parameters: Parameters,
        source: Row,
        *,
        keys: list[str],
        named: list[str],
        status: str,
        work: Callable[[Destination], None],
        slower: Callable[[], float] = lambda: 1.0,
    ) -> Parameters:
        """Begin unless the client token has begun it already; answers what is so before that."""
        scope, token = f"documents/{status}/{source['id']}", parameters.get("clientToken")
        destination, realm = _destination(source), Realm.of(self.store, source)
        mark = partial(self.indexing.records.mark, destination.data_source_id, keys)
        with self.store.transaction():
            if self.tokens.made(scope, token) is not None:
                return {"documentDetails": self._details(source, named)}
            if realm.running_jobs(self.store):
                raise DIRECT_DURING_JOB.broken()
            refuse_unsynced(self.store, source)
            seconds = self.duration + self._warming(realm, destination)
            self.calls.begin(realm)
            self.tokens.remember(scope, token, source["id"])
            mark(status)
            accepted = {"documentDetails": self._details(source, named)}
        number = next(self._numbers)
        life = _Life(realm=realm, seconds=seconds * slower(), begun=partial(mark, _BEGUN[status]))
        self._lives[number] = self.clock.spawn(
            partial(self._live, number, life, partial(work, destination))
        )
        return accepted

    def _slowness(self, data_source_id: str, keys: Sequence[str]) -> float:
        """How many times as long a request takes by what its documents meet: they are accepted."""
        times = 1.0
        for key in keys:
            fault = self.indexing.faults.of_made(_INGEST, key, AT_ACCEPTANCE)
            if fault is not None and fault.kind is Kind.UNSEEN:
                self.indexing.records.hide(data_source_id, key, seconds=fault.seconds)
            elif fault is not None:
                times = DOCUMENT_SLOW.value
        return times

    def _warming(self, realm: Realm, destination: Destination) -> float:
        """Rule managed.first-ingestion: AWS seconds more, before anything was ingested at all."""
        begun = (
            "SELECT 1 FROM documents d JOIN data_sources s ON s.id = d.data_source_id"
            " WHERE s.knowledge_base_id = ?"
        )
        if not realm.is_managed or self.store.row(begun, destination.knowledge_base_id):
            return 0
        return MANAGED_FIRST_INGESTION.value

    def _live(self, number: int, life: "_Life", work: Callable[[], None]) -> None:
        try:
            if self.clock.wait(life.seconds / 2, self._closing):
                return
            life.begun()
            if not self.clock.wait(life.seconds / 2, self._closing):
                work()
        except Stopped:
            logger.info("direct request stopped")
        except Exception as error:
            logger.warning("direct request failed", exc_info=error)
        finally:
            self.calls.end(life.realm)
            self._lives.pop(number, None)

    def _index(self, destination: Destination, content: Content) -> None:
        try:
            draft = drafted(self.indexing, destination.ingestion, content)
            self.indexing.index(destination, draft, stop=self._closing)
        except Stopped:
            raise
        except Unindexable as error:
            self.indexing.fail(destination, content.identifier, error)
        except Exception as error:  # the bucket can't be read, for one; the others go on
            logger.warning("document could not be read", exc_info=error)
            self.indexing.fail(
                destination, content.identifier, Unindexable(FILE_UNREADABLE.message)
            )

    def _details(self, source: Row, keys: list[str]) -> list[dict[str, object]]:
        records = self.indexing.records
        return [detail(source, key, records.find(source["id"], key)) for key in keys]


@dataclass(frozen=True, kw_only=True)
class _Life:
    """Of an accepted request: `begun` is called in the middle of its AWS seconds."""

    realm: Realm
    seconds: float
    begun: Callable[[], None]


def _destination(source: Row) -> Destination:
    return Destination(
        knowledge_base_id=source["knowledge_base_id"],
        data_source_id=source["id"],
        ingestion=ingestion_of(loaded(source["body"])),
        operation=_INGEST,
    )
