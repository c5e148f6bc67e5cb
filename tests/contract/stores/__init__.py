"""
Promises of every searchable store: one set of tests, which each of them passes.

A store is a module here. It says in `STORES` what is known of it before it starts, by a name that
is the tests' id, and has a fixture of scope `package` for each, which gives its `World`:

    STORES = {"pgvector": Store(fixture="pgvector_world", ranks=Ranks.BY_MEANING, ...)}

    @pytest.fixture(scope="package")
    def pgvector_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
        with server_of(tmp_path_factory.mktemp("pgvector")) as server:
            yield PgvectorWorld(server)

table.py names the module and conftest.py imports the fixture: that is all to be done. A store that
`is_variant` of another's client is held to what it could break: whose is found, and how.

- document_sets.py: the documents that are searched, the same ones in every store
- worlds.py: what a world is asked for, and the troubles that it can be told to have
- meaning.py: cosines by the embedding of the stand-ins, for tests to compare scores with
- fake.py, bedrock.py, opensearch.py, pgvector.py: the fake of our tests; Bedrock's Retrieve and S3
  Vectors, its managed knowledge bases, and OpenSearch Serverless, as simulated; PostgreSQL with
  pgvector
- test_*.py: the promises; what only one store promises stands in a file named for it

A world fills a real stand-in: the simulator, a server of the store's own kind. A trouble is one of
the store, not of the adapter: no test replaces a part of what it tests. What the stand-in can't
have is left out of `Store.troubles`, with the reason beside it.
"""
