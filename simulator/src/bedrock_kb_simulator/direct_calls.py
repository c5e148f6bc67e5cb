"""How many direct requests are at work, and where."""

import threading
from collections import Counter

from bedrock_kb_simulator.realms import Realm
from bedrock_kb_simulator.rules import DIRECT_CONCURRENCY, JOB_DURING_DIRECT


class DirectCalls:
    """Which are under way: from their acceptance until their documents are settled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def begin(self, realm: Realm) -> None:
        """
        Raises ValidationException, not ThrottlingException, when there are too many; those into
        managed knowledge bases count, too: rule managed.direct-in-account.
        """
        with self._lock:
            if self._running.total() >= DIRECT_CONCURRENCY.limit:
                raise DIRECT_CONCURRENCY.broken()
            self._running[realm.id] += 1

    def end(self, realm: Realm) -> None:
        with self._lock:
            self._running[realm.id] -= 1

    def refuse_job(self, realm: Realm) -> None:
        with self._lock:
            if self._running[realm.id]:
                raise JOB_DURING_DIRECT.broken()
