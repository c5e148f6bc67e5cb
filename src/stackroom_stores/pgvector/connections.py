"""
A pool of connections to one database, and the transactions that use them.

A function that Lambda freezes between two calls may find its connections gone, closed by the server
or dropped on the way. So a lost connection is replaced, once, where repeating is harmless.
"""

import select
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self, TypeVar

import psycopg
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseThrottled
from stackroom_stores.pgvector.database_errors import database_errors, is_lost
from stackroom_stores.pgvector.schema import READER, USER_SETTING, WRITER

# A connection that waits for no answer longer than its caller does.

_GRACE = 0.3  # seconds for the server to tell that it has cancelled what took too long


class Bounded(Connection[Any]):
    """
    A connection with the `deadline` of its user; `on_failure` receives the error of a failed
    connect.
    """

    deadline: Deadline = NO_DEADLINE

    @classmethod
    def connect(  # type: ignore[override]  # one argument more, of the pool's own making
        cls, conninfo: str = "", *, on_failure: Callable[[psycopg.Error], None], **kwargs: Any
    ) -> Self:
        try:
            return super().connect(conninfo, **kwargs)
        except psycopg.Error as error:
            on_failure(error)
            raise

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        left = self.deadline.left() + _GRACE
        try:
            return super().wait(gen, interval, left if timeout is None else min(left, timeout))
        except psycopg.OperationalError as error:
            if not self.deadline.has_passed or error.sqlstate is not None:
                raise
            self.pgconn.finish()  # nobody will read what it may yet answer
            raise psycopg.errors.QueryCanceled from error


def is_heard(connection: Connection[Any]) -> bool:
    """
    Return whether the server is still connected; after it hung up, there would be something to
    read.
    """
    if connection.closed:
        return False
    unread = select.poll()
    unread.register(connection.pgconn.socket, select.POLLIN)
    return not unread.poll(0)


T = TypeVar("T")

# A search holds one for some milliseconds, and PostgreSQL has a few hundred for all functions.
_MOST = 4
_IDLE = 300.0  # seconds, of a function that is thawed that long
_LIFETIME = 1800.0  # seconds; a server that was replaced is found by its name again
_CONNECTING = 5  # seconds
_RECONNECTING = 0.2  # seconds for the pool to try again by itself; whoever asks next tries, too
_LOOK = 0.25  # seconds between two looks at why there is no connection yet
_STATEMENT = 8.0  # seconds, as a call of S3 Vectors and Retrieve may take
_WRITING = 120.0  # seconds for a document, of hundreds of passages that an index takes up
# Milliseconds that what was sent may go unacknowledged. Else a connection that was forgotten on the
# way, which answers nothing, would take all of a call's time [tcp(7): TCP_USER_TIMEOUT].
_UNACKNOWLEDGED = 2000

# Of the transaction alone: a connection that is handed on carries nothing of it.
_BEGUN = """
SELECT set_config('role', %(role)s, true),
    set_config(%(setting)s, %(user_id)s, true),
    set_config('transaction_read_only', %(is_read_only)s, true),
    set_config('statement_timeout', %(milliseconds)s, true)
"""


class Connections:
    """
    A pool of at most `most` connections, safe to use from several threads.

    `connecting` returns psycopg's parameters for each new connection, since a token of IAM is valid
    for 15 minutes.
    """

    def __init__(
        self,
        connecting: Callable[[], dict[str, Any]],
        *,
        statement_seconds: float = _STATEMENT,
        most: int = _MOST,
    ) -> None:
        self._connecting = connecting
        self._statement_seconds = statement_seconds
        # When and why the last one couldn't be made: a pool connects in threads of its own.
        self._failure: tuple[float, Exception] | None = None
        self._free = threading.BoundedSemaphore(most)
        self._pool: ConnectionPool[Bounded] = ConnectionPool(
            connection_class=Bounded,
            kwargs=self._parameters,
            min_size=0,
            max_size=most,
            max_idle=_IDLE,
            max_lifetime=_LIFETIME,
            reconnect_timeout=_RECONNECTING,
            num_workers=2,
            open=False,
        )

    def read(
        self,
        operation: str,
        work: Callable[[Connection[Any]], T],
        *,
        user_id: str | None,
        deadline: Deadline = NO_DEADLINE,
    ) -> T:
        """
        Return the result of `work` in a read-only transaction that sees the user's rows.

        It is repeated once if the connection is lost. Raises KnowledgeBaseThrottled or
        KnowledgeBaseUnavailable for temporary failures, SearchRefused for all others.
        """
        own = Deadline.after(self._statement_seconds)
        until = min(own, deadline, key=lambda each: each.at)
        deadline.check(operation)
        with database_errors(operation):
            with self._connection(operation, until) as connection:
                try:
                    return _done(connection, work, READER, user_id)
                except psycopg.Error as error:
                    if until.has_passed or not is_lost(error):
                        raise
            # Those beside it were idle for as long.
            self._pool.drain()
            with self._connection(operation, until) as connection:
                return _done(connection, work, READER, user_id)

    def write(
        self, operation: str, work: Callable[[Connection[Any]], T], *, user_id: str | None
    ) -> T:
        """
        Return the result of `work` in a transaction that writes the user's rows, or shared ones.

        Nothing is repeated. Raises the same errors.
        """
        until = Deadline.after(_WRITING)
        with database_errors(operation), self._connection(operation, until) as connection:
            return _done(connection, work, WRITER, user_id)

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _connection(self, operation: str, until: Deadline) -> Generator[Bounded, None, None]:
        if not self._free.acquire(timeout=until.left()):
            raise KnowledgeBaseThrottled(operation)
        try:
            connection = self._given(until)
            connection.deadline = until
            try:
                yield connection
            finally:
                connection.deadline = Deadline.after(0)
                self._pool.putconn(connection)
        finally:
            self._free.release()

    def _given(self, until: Deadline) -> Bounded:
        """
        Return a connection. Raises a connect error at once; the pool itself would go on waiting.
        """
        self._pool.open()
        started = time.monotonic()
        while True:
            try:
                given = self._pool.getconn(timeout=min(_LOOK, max(until.left(), 0.001)))
            except PoolTimeout:
                if (failure := self._failure) and failure[0] >= started:
                    raise failure[1] from None
                if until.has_passed:
                    raise
                continue
            if is_heard(given):
                return given
            given.close()
            self._pool.putconn(given)

    def _parameters(self) -> dict[str, Any]:
        try:
            connecting = self._connecting()
        except Exception as error:
            self._keep(error)
            raise
        return {
            "connect_timeout": _CONNECTING,
            "tcp_user_timeout": _UNACKNOWLEDGED,
            "application_name": "stackroom",
            **connecting,
            "autocommit": True,
            # A plan depends on whose rows are searched, so none is kept for the next.
            "prepare_threshold": None,
            "on_failure": self._keep,
        }

    def _keep(self, failure: Exception) -> None:
        self._failure = (time.monotonic(), failure)


def _done(
    connection: Bounded, work: Callable[[Connection[Any]], T], role: str, user_id: str | None
) -> T:
    # In a pipeline nothing waits for an answer but who reads one; who writes counts rows.
    at_once: AbstractContextManager[object] = (
        connection.pipeline() if role == READER else nullcontext()
    )
    with at_once, connection.transaction():
        connection.execute(
            _BEGUN,
            {
                "role": role,
                "setting": USER_SETTING,
                "user_id": user_id or "",
                "is_read_only": "on" if role == READER else "off",
                "milliseconds": str(max(1, int(connection.deadline.left() * 1000))),
            },
        )
        return work(connection)
