"""Connections that get lost, are too many, or answer too late."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, SearchRefused
from stackroom_stores.pgvector.connections import Connections
from tests.aws.pgvector.conftest import EAST, Database
from tests.support.postgresql import READING

pytestmark = pytest.mark.processes


def backend(connection: psycopg.Connection[Any]) -> int:
    return connection.info.backend_pid


def sleeping(seconds: float) -> Any:
    return lambda connection: connection.execute("SELECT pg_sleep(%s)", (seconds,))


def read_rows(connections: Connections, work: Any = backend, **options: Any) -> Any:
    return connections.read("Search", work, user_id="alice", **options)


def test_connections_are_reused_and_reopened_after_the_server_closes_them(
    database: Database,
) -> None:
    database.put("there", user_id="alice")
    of_alice = database.repository.of("alice")
    first = of_alice.search_similar("handbook", EAST)

    assert read_rows(database.reading) == read_rows(database.reading)
    for _ in range(2):
        assert database.server.hang_up() > 0
        assert of_alice.search_similar("handbook", EAST) == first


def test_connection_lost_mid_query_is_retried_once_but_never_for_writes(
    database: Database,
) -> None:
    lost: list[int] = []

    def lose(connection: psycopg.Connection[Any]) -> int:
        if len(lost) < loses:
            lost.append(connection.info.backend_pid)
            with database.as_superuser() as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", (lost[-1],))
        connection.execute("SELECT 1")
        return connection.info.backend_pid

    loses = 1
    assert read_rows(database.reading, lose) not in lost
    loses = 3
    with pytest.raises(KnowledgeBaseUnavailable, match="Search answered"):
        read_rows(database.reading, lose)
    assert len(lost) == 3
    loses = 9
    with pytest.raises(KnowledgeBaseUnavailable, match="Write answered"):
        database.loading.write("Write", lose, user_id="alice")
    assert len(lost) == 4


def test_a_statement_is_cancelled_in_the_server_at_the_deadline(database: Database) -> None:
    read_rows(database.reading)

    with pytest.raises(KnowledgeBaseUnavailable, match="Search answered 57014"):
        read_rows(database.reading, sleeping(60), deadline=Deadline.after(0.3))

    with database.as_superuser() as connection:
        running = """
        SELECT count(*) FROM pg_stat_activity
        WHERE usename = %s AND state = 'active' AND query LIKE '%%pg_sleep%%'
        """
        assert connection.execute(running, (READING,)).fetchone() == (0,)
    impatient = database.server.connections(READING, database.name, statement_seconds=0.3)
    with impatient as connections, pytest.raises(KnowledgeBaseUnavailable, match="57014"):
        read_rows(connections, sleeping(60))


def test_unresponsive_server_does_not_block_its_caller(database: Database) -> None:
    kept = read_rows(database.reading)

    with database.server.frozen():
        for _ in range(2):  # on the connection that is there, and on a new one
            with pytest.raises(KnowledgeBaseUnavailable):
                read_rows(database.reading, deadline=Deadline.after(0.5))

    assert read_rows(database.reading, deadline=Deadline.after(60)) != kept


def test_search_without_a_free_connection_is_throttled(
    database: Database,
) -> None:
    with database.server.connections(READING, database.name, most=1) as connections:
        read_rows(connections)
        held, released = threading.Event(), threading.Event()

        def hold(connection: psycopg.Connection[Any]) -> None:
            held.set()
            assert released.wait(60)

        with ThreadPoolExecutor(1) as threads:
            holding = threads.submit(read_rows, connections, hold)
            assert held.wait(60)
            with pytest.raises(KnowledgeBaseThrottled, match="Search was throttled"):
                read_rows(connections, deadline=Deadline.after(0.4))
            released.set()
            holding.result(60)
        assert read_rows(connections)

    with database.as_superuser() as connection:
        connection.execute("CREATE USER crowded CONNECTION LIMIT 0")
        connection.execute("GRANT stackroom_reader TO crowded")
    with (
        database.server.connections("crowded", database.name) as connections,
        pytest.raises(KnowledgeBaseThrottled, match="Search was throttled"),
    ):
        read_rows(connections)


def test_refused_connection_is_reported_without_password_or_statement(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "not-to-be-told"
    connections = Connections(
        lambda: {**database.server.of_user("nobody", database.name), "password": secret}
    )

    with pytest.raises(KnowledgeBaseUnavailable) as raised:
        read_rows(connections)

    connections.close()
    assert str(raised.value) == "Search answered OperationalError"
    assert secret not in caplog.text
    assert secret not in repr(connections)
    with pytest.raises(SearchRefused) as refused:  # nor of a statement that is wrong
        read_rows(
            database.reading, lambda connection: connection.execute("SELECT 'secret'::integer")
        )
    assert str(refused.value) == "Search answered 22P02"
    with pytest.raises(SearchRefused, match="Search can't be asked: DataError"):
        read_rows(database.reading, lambda connection: connection.execute("SELECT %s", ("\0",)))


def test_reason_without_connection_parameters_is_raised_at_once() -> None:
    def connecting() -> dict[str, Any]:
        raise SearchRefused("sslRootCert: there is no file")

    connections = Connections(connecting)
    with pytest.raises(SearchRefused, match="sslRootCert"):
        read_rows(connections)
    connections.close()


def test_each_connection_is_made_with_credentials_of_its_own(database: Database) -> None:
    passwords: list[str] = []

    def connecting() -> dict[str, Any]:
        passwords.append(f"token {len(passwords)}")
        return {**database.server.of_user(READING, database.name), "password": passwords[-1]}

    connections = Connections(connecting)
    read_rows(connections)
    read_rows(connections)
    once = list(passwords)
    database.server.hang_up()
    read_rows(connections)
    connections.close()

    assert once == ["token 0"]
    assert passwords[:2] == ["token 0", "token 1"]
