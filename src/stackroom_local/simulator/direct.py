"""
Direct ingestion and deletion: Ingest- and DeleteKnowledgeBaseDocuments.

AWS answers at once and works on; it bounds how many requests are at work and keeps jobs and
direct requests of a knowledge base apart.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from stackroom_local.simulator.clock import Clock, Signal, Work
from stackroom_local.simulator.contents import Content, contents_of, drafted, refuse_too_much
from stackroom_local.simulator.data_source_deletions import RUNNING
from stackroom_local.simulator.data_sources import refuse_deleted
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.documents import detail, key_of, usable_data_source
from stackroom_local.simulator.errors import Stopped, Unindexable
from stackroom_local.simulator.identifiers import ClientTokens
from stackroom_local.simulator.indexing import Destination, Indexing
from stackroom_local.simulator.rules import (
    DIRECT_CONCURRENCY,
    DIRECT_DURATION,
    DIRECT_DURING_JOB,
    FILE_UNREADABLE,
    JOB_DURING_DIRECT,
)
from stackroom_local.simulator.store import Row, Store, loaded
from stackroom_local.simulator.vector_ingestion import VectorIngestion

logger = logging.getLogger(__name__)

# What the documents of a request read once it is accepted, and what in the second half of its
# time (rule document.statuses).
_BEGUN = {"STARTING": "IN_PROGRESS", "DELETING": "DELETE_IN_PROGRESS"}


class DirectCalls:
    """Which are under way: from their acceptance until their documents are settled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def begin(self, knowledge_base_id: str) -> None:
        """Raises ValidationException, not ThrottlingException, when there are too many."""
        with self._lock:
            if self._running.total() >= DIRECT_CONCURRENCY.limit:
                raise DIRECT_CONCURRENCY.broken()
            self._running[knowledge_base_id] += 1

    def end(self, knowledge_base_id: str) -> None:
        with self._lock:
            self._running[knowledge_base_id] -= 1

    def refuse_job(self, knowledge_base_id: str) -> None:
        with self._lock:
            if self._running[knowledge_base_id]:
                raise JOB_DURING_DIRECT.broken()


@dataclass(frozen=True, kw_only=True)
class Direct:
    store: Store
    clock: Clock
    tokens: ClientTokens
    calls: DirectCalls
    indexing: Indexing
    _numbers: Iterator[int] = field(default_factory=count)
    _lives: dict[int, Work] = field(default_factory=dict)
    _closing: Signal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", self.clock.signal())

    def ingest(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        refuse_deleted(source)
        refuse_too_much(parameters["documents"])
        contents = contents_of(source, parameters["documents"])
        keys = [content.identifier for content in contents]

        def work(destination: Destination) -> None:
            for content in contents:
                self._index(destination, content)

        return self._accept(parameters, source, keys=keys, named=keys, status="STARTING", work=work)

    def delete(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        refuse_deleted(source)
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

    def _accept(
        self,
        parameters: Parameters,
        source: Row,
        *,
        keys: list[str],
        named: list[str],
        status: str,
        work: Callable[[Destination], None],
    ) -> Parameters:
        """Begin unless the client token has begun it already; answers what is so before that."""
        scope, token = f"documents/{status}/{source['id']}", parameters.get("clientToken")
        destination = _destination(source)
        mark = partial(self.indexing.records.mark, destination.data_source_id, keys)
        with self.store.transaction():
            if self.tokens.made(scope, token) is not None:
                return {"documentDetails": self._details(source, named)}
            running = f"SELECT 1 FROM ingestion_jobs WHERE knowledge_base_id = ? AND {RUNNING}"  # noqa: S608 - a constant
            if self.store.row(running, destination.knowledge_base_id):
                raise DIRECT_DURING_JOB.broken()
            self.calls.begin(destination.knowledge_base_id)
            self.tokens.remember(scope, token, source["id"])
            mark(status)
            accepted = {"documentDetails": self._details(source, named)}
        number, begun = next(self._numbers), partial(mark, _BEGUN[status])
        self._lives[number] = self.clock.spawn(
            partial(self._live, number, destination, begun, work)
        )
        return accepted

    def _live(
        self,
        number: int,
        destination: Destination,
        begun: Callable[[], None],
        work: Callable[[Destination], None],
    ) -> None:
        try:
            if self.clock.wait(DIRECT_DURATION.value / 2, self._closing):
                return
            begun()
            if not self.clock.wait(DIRECT_DURATION.value / 2, self._closing):
                work(destination)
        except Stopped:
            logger.info("direct request stopped")
        except Exception as error:
            logger.warning("direct request failed", exc_info=error)
        finally:
            self.calls.end(destination.knowledge_base_id)
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


def _destination(source: Row) -> Destination:
    return Destination(
        knowledge_base_id=source["knowledge_base_id"],
        data_source_id=source["id"],
        ingestion=VectorIngestion.configured(
            loaded(source["body"]).get("vectorIngestionConfiguration")
        ),
        operation="IngestKnowledgeBaseDocuments",
    )
