"""Row-level security under attack: in SQL, and through every text that a caller may choose."""

from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from stackroom.errors import KnowledgeBaseNotFound, SearchRefused
from stackroom.model.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has
from stackroom.model.passages import Search
from stackroom_stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
from stackroom_stores.pgvector.schema import Tables, create
from tests.aws.pgvector.conftest import EAST, Database
from tests.fakes.embeddings import FixedEmbeddings
from tests.support.postgresql import LOADING, READING

pytestmark = pytest.mark.processes

EVERYTHING = "SELECT content FROM knowledge_chunks ORDER BY content"
ATTACKS = [
    "bob",
    "'; SET stackroom.user_id = 'bob'; SELECT '",
    "%s %(user_id)s {} {0}",
]


@pytest.fixture
def filled(database: Database) -> Database:
    database.put("shared")
    database.put("of alice", user_id="alice")
    database.put("of bob", user_id="bob")
    return database


def knowledge_base(
    database: Database, *, search: Search = Search.SEMANTIC, base: str = "handbook"
) -> PgvectorKnowledgeBase:
    return PgvectorKnowledgeBase(
        database.repository,
        base,
        embeddings=FixedEmbeddings(EAST),
        search=search,
        tenant_key="user_id",
    )


def rows(connection: psycopg.Connection[Any], user_id: str | None = None) -> list[str]:
    """Everything there is, by a statement that forgets its tenant."""
    if user_id is not None:
        connection.execute("SELECT set_config('stackroom.user_id', %s, false)", (user_id,))
    return [content for [content] in connection.execute(EVERYTHING)]


def test_statement_without_tenant_finds_no_other_users_rows_in_any_table(
    filled: Database,
) -> None:
    filled.documents("bob", "his")

    with filled.agent() as connection:
        assert rows(connection) == ["shared"]
        assert rows(connection, "") == ["shared"]
        assert rows(connection, "alice") == ["of alice", "shared"]
        for table in ("knowledge_bases", "knowledge_documents", "knowledge_chunks"):
            asked = SQL("SELECT DISTINCT user_id FROM {}").format(Identifier(table))
            owners = {owner for [owner] in connection.execute(asked)}
            assert owners <= {None, "alice"}


def test_the_owner_of_the_tables_is_bound_too(own_database: Database) -> None:
    own_database.put("shared")
    own_database.put("of bob", user_id="bob")
    with own_database.as_superuser() as connection:
        connection.execute("CREATE ROLE keeper LOGIN")
        connection.execute("GRANT CREATE, USAGE ON SCHEMA public TO keeper")
        for table in ("knowledge_bases", "knowledge_documents", "knowledge_chunks"):
            changed = SQL("ALTER TABLE {} OWNER TO keeper").format(Identifier(table))
            connection.execute(changed)

    keeper = own_database.server.of_user("keeper", own_database.name)
    with psycopg.connect("", **keeper) as connection:
        assert rows(connection) == ["shared"]


@pytest.mark.parametrize("user", ["postgres", LOADING, READING])
def test_search_runs_with_row_security_whoever_connects(filled: Database, user: str) -> None:
    with filled.as_superuser() as connection:
        connection.execute(SQL("GRANT stackroom_reader TO {}").format(Identifier(LOADING)))
    with filled.server.connections(user, filled.name) as connections:
        found = connections.read("Search", rows, user_id="alice")

    assert found == ["of alice", "shared"]


def test_missing_read_right_is_reported(filled: Database) -> None:
    with filled.as_superuser() as connection:
        connection.execute("CREATE USER stranger")

    with (
        filled.server.connections("stranger", filled.name) as connections,
        pytest.raises(SearchRefused, match="Search answered 42501"),
    ):
        connections.read("Search", rows, user_id="alice")


def test_connection_forgets_its_user_after_each_transaction(filled: Database) -> None:
    kept: list[psycopg.Connection[Any]] = []
    with filled.server.connections(READING, filled.name, most=1) as connections:
        connections.read("Search", kept.append, user_id="alice")
        [idle] = kept  # between transactions it is nobody's
        carried = idle.execute("SELECT current_user, current_setting('stackroom.user_id', true)")
        assert carried.fetchone() in ((READING, ""), (READING, None))
        assert rows(idle) == ["shared"]
        for user_id, expected in (
            ("alice", ["of alice", "shared"]),
            (None, ["shared"]),
            ("bob", ["of bob", "shared"]),
            ("", ["shared"]),
        ):
            assert connections.read("Search", rows, user_id=user_id) == expected
        in_session = connections.read(
            "Search", lambda connection: rows(connection, "bob"), user_id="alice"
        )
        afterwards = connections.read("Search", rows, user_id=None)
        with pytest.raises(SearchRefused):
            connections.read("Search", lambda each: each.execute("SELECT 1 / 0"), user_id="alice")
        after_a_failure = connections.read("Search", rows, user_id=None)

    assert in_session == ["of bob", "shared"]
    assert afterwards == after_a_failure == ["shared"]


def test_a_search_writes_nothing(filled: Database) -> None:
    with pytest.raises(SearchRefused, match=r"answered (25006|42501)"):
        filled.loading.read(
            "Search",
            lambda connection: connection.execute("DELETE FROM knowledge_chunks"),
            user_id="alice",
        )


def test_writing_rows_of_another_user_is_refused(filled: Database) -> None:
    def steal(connection: psycopg.Connection[Any]) -> int:
        return connection.execute("UPDATE knowledge_chunks SET user_id = 'alice'").rowcount

    def plant(connection: psycopg.Connection[Any]) -> int:
        planted = "INSERT INTO knowledge_bases (knowledge_base_id, name, user_id) "
        return connection.execute(planted + "VALUES ('x', 'x', 'bob')").rowcount

    assert filled.loading.write("Write", steal, user_id="alice") == 1
    with pytest.raises(SearchRefused, match="42501"):
        filled.loading.write("Write", plant, user_id="alice")
    assert [each.content for each in filled.repository.of("bob").search_similar("handbook", EAST)]


def test_writing_into_another_users_knowledge_base_is_refused(filled: Database) -> None:
    filled.documents("bob", "his")

    for user_id in ("alice", None):
        with pytest.raises(KnowledgeBaseNotFound, match="Knowledge base 'his' not found"):
            filled.documents(user_id, "his")


@pytest.mark.parametrize("search", [Search.SEMANTIC, Search.HYBRID])
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_of_a_caller_reaches_into_the_statement(
    filled: Database, attack: str, search: Search
) -> None:
    searched = knowledge_base(filled, search=search)
    alice = Has("user_id", "alice")
    own = Has("user_id", attack)
    narrowed: list[Filter] = [
        AllOf((alice, Has("city", attack))),
        AllOf((alice, Has(attack, "x"))),
        AllOf((alice, own)),
        AllOf((alice, AnyOf((own, Has("user_id", "bob"))))),
        AllOf((alice, Compares(attack, Comparison.STARTS_WITH, attack))),
        AllOf((alice, Compares("user_id", Comparison.STRING_CONTAINS, attack))),
        AllOf((alice, Compares(attack, Comparison.IN, (attack, 1, True)))),
    ]

    asked = searched.retrieve(attack, alice, 10)
    owned = searched.retrieve("leave", own, 10)

    assert [each.text for each in asked.passages] == ["of alice"]
    assert {each.text for each in owned.passages} <= ({"of bob"} if attack == "bob" else set())
    for each in narrowed:
        found = searched.retrieve("leave", each, 10).passages
        assert {passage.text for passage in found} <= {"of alice"}
    assert knowledge_base(filled, base=attack).retrieve("leave", alice, 10).passages == ()
    assert filled.repository.of(attack).find_by_id(attack) is None


@pytest.mark.parametrize(
    "unowned",
    [
        None,
        Has("city", "Rome"),
        AnyOf((Has("user_id", "alice"), Has("user_id", "bob"))),
        AllOf((Has("user_id", "alice"), AllOf((Has("user_id", "bob"),)))),
        Compares("user_id", Comparison.IN, ("alice", "bob")),
    ],
)
def test_search_without_a_single_owner_finds_nothing(
    filled: Database, unowned: Filter | None
) -> None:
    assert knowledge_base(filled).retrieve("leave", unowned, 10).passages == ()


def test_owner_comes_from_the_row_and_not_from_its_attributes(filled: Database) -> None:
    filled.put("forged", user_id="bob", attributes={"user_id": "alice"})

    [of_alice] = knowledge_base(filled).retrieve("leave", Has("user_id", "alice"), 10).passages
    of_bob = knowledge_base(filled).retrieve("leave", Has("user_id", "bob"), 10).passages

    assert of_alice.text == "of alice"
    assert [each.attributes for each in of_bob] == [{"user_id": "bob"}] * 2


def test_role_that_bypasses_row_security_is_refused(database: Database) -> None:
    with database.as_superuser() as connection:
        connection.execute("ALTER ROLE stackroom_reader BYPASSRLS")
        try:
            with pytest.raises(SearchRefused, match="'stackroom_reader'"):
                create(connection, Tables(), dimensions=3)
        finally:
            connection.execute("ALTER ROLE stackroom_reader NOBYPASSRLS")
