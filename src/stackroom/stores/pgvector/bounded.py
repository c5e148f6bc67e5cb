"""A connection that waits for no answer longer than its caller does."""

import select
import time
from collections.abc import Callable
from typing import Any, Self

import psycopg
from psycopg import Connection

from stackroom.clock import NO_DEADLINE, Deadline

_GRACE = 0.3  # seconds for the server to tell that it has cancelled what took too long


class Bounded(Connection[Any]):
    """`deadline` is that of whoever has it; `on_failure` hears why one could not be made."""

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


class LastFailure:
    """Why the last connection couldn't be made: a pool connects in threads of its own."""

    def __init__(self) -> None:
        self._kept: tuple[float, Exception] | None = None

    def keep(self, error: Exception) -> None:
        self._kept = (time.monotonic(), error)

    def since(self, moment: float) -> Exception | None:
        kept = self._kept
        return kept[1] if kept is not None and kept[0] >= moment else None


def is_heard(connection: Connection[Any]) -> bool:
    """Whether the server hasn't hung up: then there would be something to read, unasked for."""
    if connection.closed:
        return False
    unread = select.poll()
    unread.register(connection.pgconn.socket, select.POLLIN)
    return not unread.poll(0)
