"""Tables made on request, and what they are refused for."""

import pytest

from stackroom.errors import SearchRefused
from stackroom_stores.pgvector.schema import Tables, create
from tests.aws.pgvector.conftest import EAST, Database
from tests.support.postgresql import READING

pytestmark = pytest.mark.processes


def test_unknown_reader_or_language_changes_nothing_and_no_tables_is_named(
    database: Database,
) -> None:
    tables = Tables(schema="new")
    with database.as_superuser() as connection:
        with pytest.raises(SearchRefused, match="CreateSchema answered 42704"):
            create(connection, tables, dimensions=3, readers=("nobody",))
        with pytest.raises(SearchRefused, match=r"no language 'klingon'; allowed: .*english"):
            create(connection, tables, dimensions=3, language="klingon")
        assert connection.execute("SELECT to_regnamespace('new')").fetchone() == (None,)

    elsewhere = database.repository.__class__(
        connections=database.reading, dimensions=3, tables=tables
    )
    with pytest.raises(SearchRefused, match="the schema 'new' has no tables of Stackroom's"):
        elsewhere.search_similar("handbook", EAST)


def test_schema_has_both_indexes_and_its_roles_have_no_privileges(database: Database) -> None:
    with database.as_superuser() as connection:
        made = "SELECT indexdef FROM pg_indexes WHERE tablename = 'knowledge_chunks'"
        indexes = " ".join(definition for [definition] in connection.execute(made))
        asked = "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = ANY(%s)"
        rows = connection.execute(asked, (["stackroom_reader", "stackroom_writer", READING],))

        assert rows.fetchall() == [(False, False, False)] * 3
    assert "USING hnsw (embedding vector_cosine_ops)" in indexes
    assert "USING gin (words)" in indexes


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"dimensions": 1024}, "vectors of 3 dimensions, not 1024"),
        ({"dimensions": 3, "language": "german"}, "language 'english', not 'german'"),
        ({"dimensions": 2001}, "2001 dimensions can't be indexed; allowed: 1 to 2000"),
    ],
)
def test_tables_that_are_not_what_is_asked_for_are_refused(
    database: Database, asked: dict[str, object], why: str
) -> None:
    with database.as_superuser() as connection, pytest.raises(SearchRefused, match=why):
        create(connection, Tables(), **asked)  # type: ignore[arg-type]  # as the parameters say


def test_tables_of_another_version_are_refused(own_database: Database) -> None:
    with own_database.as_superuser() as connection:
        connection.execute("UPDATE knowledge_schema SET version = 2")

        with pytest.raises(SearchRefused, match="of version 2, and this is for 1"):
            create(connection, Tables(), dimensions=3)
    with pytest.raises(SearchRefused, match="of version 2, and this is for 1"):
        own_database.repository.search_similar("handbook", EAST)


def test_reader_role_may_only_read(database: Database) -> None:
    with database.as_superuser() as connection:
        connection.execute('CREATE USER "an agent"')
        create(connection, Tables(), dimensions=3, readers=("an agent",))
    database.put("shared")

    with database.server.connections("an agent", database.name) as connections:
        there = database.repository.__class__(connections=connections, dimensions=3)
        assert len(there.search_similar("handbook", EAST)) == 1
        with pytest.raises(SearchRefused, match="Write answered 42501"):
            connections.write(
                "Write", lambda each: each.execute("DELETE FROM knowledge_chunks"), user_id=None
            )
