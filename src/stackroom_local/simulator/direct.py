"""
Direct ingestion and deletion: Ingest- and DeleteKnowledgeBaseDocuments.

AWS answers at once and works on; it bounds how many requests are at work and keeps jobs and
direct requests of a knowledge base apart.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.contents import Content, contents_of, drafted
from stackroom_local.simulator.data_source_deletions import RUNNING
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.documents import detail, key_of, usable_data_source
from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.identifiers import ClientTokens
from stackroom_local.simulator.indexing import Home, Indexing
from stackroom_local.simulator.rules import (
    DIRECT_CONCURRENCY,
    DIRECT_DURATION,
    DIRECT_DURING_JOB,
    JOB_DURING_DIRECT,
)
from stackroom_local.simulator.store import Row, Store, loaded

logger = logging.getLogger(__name__)


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
    _closing: threading.Event = field(default_factory=threading.Event)
    _threads: set[threading.Thread] = field(default_factory=set)

    def ingest(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        contents = contents_of(source, parameters["documents"])
        keys = [content.identifier for content in contents]

        def work(home: Home) -> None:
            for content in contents:
                self._index(home, content)

        self._accept(parameters, source, keys=keys, status="STARTING", work=work)
        return {"documentDetails": self._details(source, keys)}

    def delete(self, parameters: Parameters) -> Parameters:
        source = usable_data_source(self.store, parameters)
        named = [key_of(source, given) for given in parameters["documentIdentifiers"]]
        known = self.indexing.records.known(source["id"])
        keys = [key for key in named if key in known]

        def work(home: Home) -> None:
            for key in keys:
                self.indexing.records.mark(home.data_source_id, [key], "DELETE_IN_PROGRESS")
                self.indexing.remove(home, key)

        self._accept(parameters, source, keys=keys, status="DELETING", work=work)
        return {"documentDetails": self._details(source, named)}

    def close(self) -> None:
        """What was not begun is FAILED after a restart."""
        self._closing.set()
        for thread in tuple(self._threads):
            thread.join(timeout=5)

    def _accept(
        self,
        parameters: Parameters,
        source: Row,
        *,
        keys: list[str],
        status: str,
        work: Callable[[Home], None],
    ) -> None:
        """Begin unless the client token has begun it already."""
        scope, token = f"documents/{status}/{source['id']}", parameters.get("clientToken")
        home = _home(source)
        with self.store.transaction():
            if self.tokens.made(scope, token) is not None:
                return
            running = f"SELECT 1 FROM ingestion_jobs WHERE knowledge_base_id = ? AND {RUNNING}"  # noqa: S608 - a constant
            if self.store.row(running, home.knowledge_base_id):
                raise DIRECT_DURING_JOB.broken()
            self.calls.begin(home.knowledge_base_id)
            self.tokens.remember(scope, token, source["id"])
            self.indexing.records.mark(home.data_source_id, keys, status)
        thread = threading.Thread(target=self._live, args=(home, work), daemon=True)
        self._threads.add(thread)
        thread.start()

    def _live(self, home: Home, work: Callable[[Home], None]) -> None:
        try:
            if not self.clock.wait(DIRECT_DURATION.value, self._closing):
                work(home)
        except Exception as error:
            logger.warning("direct request failed", exc_info=error)
        finally:
            self.calls.end(home.knowledge_base_id)
            self._threads.discard(threading.current_thread())

    def _index(self, home: Home, content: Content) -> None:
        self.indexing.records.mark(home.data_source_id, [content.identifier], "IN_PROGRESS")
        try:
            self.indexing.index(home, drafted(self.indexing, content))
        except Unindexable:
            self.indexing.fail(home, content.identifier, "FAILED")

    def _details(self, source: Row, keys: list[str]) -> list[dict[str, object]]:
        records = self.indexing.records
        return [detail(source, key, records.find(source["id"], key)) for key in keys]


def _home(source: Row) -> Home:
    return Home(
        knowledge_base_id=source["knowledge_base_id"],
        data_source_id=source["id"],
        chunking=Chunking.configured(loaded(source["body"]).get("vectorIngestionConfiguration")),
    )
