"""Searches in the tables, on a PostgreSQL with pgvector."""

import pytest

from stackroom.model.filters import Has
from stackroom_stores.pgvector import repository
from stackroom_stores.pgvector.document_loading import Chunk, NewDocument
from tests.aws.pgvector.conftest import EAST, Database, between

pytestmark = pytest.mark.processes


def test_matches_tell_all_that_is_known_and_none_is_below_the_threshold(
    database: Database,
) -> None:
    database.documents().put(
        NewDocument(
            name="leave.pdf",
            digest="1",
            chunks=[
                Chunk(content="far", embedding=between(0.2), page=1),
                Chunk(content="near", embedding=between(0.9), page=2),
            ],
            source_uri="s3://docs/leave.pdf",
            attributes={"year": 2026},
        )
    )

    near, far = database.repository.search_similar("handbook", EAST)
    alone = database.repository.search_similar("handbook", EAST, similarity_threshold=0.3)

    assert (near.content, far.content) == ("near", "far")
    assert (near.document_name, near.chunk_index, near.page) == ("leave.pdf", 1, 2)
    assert near.similarity == pytest.approx(0.9, abs=1e-6)
    assert (near.source_uri, near.attributes) == ("s3://docs/leave.pdf", {"year": 2026})
    assert alone == (near,)


def test_user_gets_only_own_and_shared_knowledge_bases(database: Database) -> None:
    database.documents("alice", "hers").put(
        NewDocument(name="a", digest="1", chunks=[Chunk(content="a", embedding=EAST)])
    )
    database.documents("bob", "his")
    database.documents(None, "everybody's")

    of_alice = database.repository.of("alice")
    shared = of_alice.find_by_id("everybody's")
    assert [each.knowledge_base_id for each in of_alice.find_by_user_id()] == ["hers"]
    assert shared is not None
    assert shared.user_id is None
    assert of_alice.find_by_id("his") is None
    database.documents("alice", "newer")
    newest = of_alice.find_by_user_id(limit=1)
    assert [each.knowledge_base_id for each in newest] == ["newer"]
    assert (of_alice.get_stats("hers").document_count, of_alice.get_stats("hers").chunk_count) == (
        1,
        1,
    )
    assert database.repository.of("bob").get_stats("hers").chunk_count == 0


@pytest.mark.parametrize("compared", [0, 3, 1000])
def test_few_and_many_are_found_alike(
    database: Database, compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one, by the index, and one by one after all where the index tells of too few."""
    documents = database.documents()
    chunks = [Chunk(content=f"{each}", embedding=between(1 - each / 400)) for each in range(300)]
    documents.put(NewDocument(name="many", digest="1", chunks=chunks))
    database.put("hidden", between(-0.9), attributes={"city": "Oslo"})
    monkeypatch.setattr(repository, "COMPARED", compared)

    nearest = database.repository.search_similar("handbook", EAST, 20)
    hidden = database.repository.search_similar("handbook", EAST, 1, condition=Has("city", "Oslo"))

    assert [each.content for each in nearest] == [f"{each}" for each in range(20)]
    assert [each.content for each in hidden] == ["hidden"]


def test_many_are_walked_to_by_the_index(database: Database) -> None:
    documents = database.documents()
    chunks = [Chunk(content=f"{each}", embedding=between(1 - each / 4000)) for each in range(2000)]
    documents.put(NewDocument(name="many", digest="1", chunks=chunks))
    with database.as_superuser() as connection:
        connection.execute("ANALYZE knowledge_chunks")

    def walked() -> int:
        with database.as_superuser() as connection:
            asked = """
            SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes
            WHERE indexrelname = 'knowledge_chunks_embedding_idx'
            """
            row = connection.execute(asked).fetchone()
            return int(row[0]) if row else 0

    before = walked()
    found = database.repository.search_similar("handbook", EAST, 20)
    database.server.hang_up()  # then it tells what it did
    assert [each.content for each in found] == [f"{each}" for each in range(20)]
    assert walked() > before


def test_removed_document_is_no_longer_found(database: Database) -> None:
    database.put("leave", user_id="alice")
    database.put("leave", user_id="bob")

    removed = [database.documents("alice", made=False).remove("leave.txt") for _ in range(2)]

    assert removed == [True, False]
    assert database.repository.of("alice").search_similar("handbook", EAST) == ()
    assert len(database.repository.of("bob").search_similar("handbook", EAST)) == 1
