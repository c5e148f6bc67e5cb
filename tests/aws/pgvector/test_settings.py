"""From an entry of KNOWLEDGE_BASES_CONFIG to passages, and how a database is connected to."""

import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.exceptions import NoCredentialsError
from botocore.httpsession import where

from stackroom.access.identity import Caller
from stackroom.errors import (
    MissingIdentity,
    RetrievalFailed,
    SearchRefused,
)
from stackroom.search.search_arguments import SearchArguments
from stackroom_stores.linked_knowledge_bases import (
    LinkedKnowledgeBasesInvalid,
    linked_retrieval,
    linked_settings,
)
from stackroom_stores.pgvector.pgvector_entry import Address
from tests.aws.pgvector.conftest import EAST, Database, opened
from tests.support.postgresql import PostgreSQL

ENTRY: dict[str, Any] = {
    "knowledgeBaseId": "handbook",
    "name": "Handbook",
    "description": "Rules for all.",
    "vectorStoreType": "PGVECTOR",
    "tenancy": "user",
    "host": "db.cluster-abc.us-east-1.rds.amazonaws.com",
    "database": "knowledge",
    "user": "agent",
}

_numbers = itertools.count()


@pytest.fixture
def database(server: PostgreSQL) -> Iterator[Database]:
    """A database with the fewest dimensions that Titan offers."""
    name = f"wide_{next(_numbers)}"
    server.database(name, dimensions=256)
    with opened(server, name, dimensions=256) as database:
        yield database


@dataclass
class FixedModel:
    """bedrock-runtime, to which all texts mean the same."""

    dimensions: int = 256

    def invoke_model(self, **_asked: Any) -> dict[str, Any]:
        vector = [*EAST, *[0] * (self.dimensions - 3)]
        return {"body": io.BytesIO(json.dumps({"embedding": vector}).encode())}


def client(service: str) -> Any:
    assert service == "embeddings", "nobody else is to be asked"
    return FixedModel()


def rds(service: str) -> Any:
    assert service == "rds"
    return boto3.client(
        "rds",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="secret-of-the-role",
    )


def settings_json(database: Database, **members: Any) -> str:
    local = {"host": database.server.socket, "database": database.name, "isLocal": True}
    return json.dumps([{**ENTRY, **local, "embeddingDimensions": 256, **members}])


def found_for(database: Database, caller: Caller | None, **members: Any) -> list[str]:
    retrieval = linked_retrieval(linked_settings(settings_json(database, **members)), client)
    answer = retrieval.search(SearchArguments(query="leave"), caller)
    return [result.text for result in answer.results]


@pytest.mark.processes
def test_each_user_finds_only_own_documents_within_the_fixed_filter(
    database: Database,
) -> None:
    for user, year in (("alice", 2026), ("bob", 2019)):
        database.put(f"leave of {user}", user_id=user, attributes={"year": year})
    database.put("leave of everybody")
    since = {"greaterThan": {"key": "year", "value": 2020}}

    for way in ({}, {"overrideSearchType": "SEMANTIC"}, {"overrideSearchType": "HYBRID"}):
        assert found_for(database, Caller("alice"), **way) == ["leave of alice"]
        assert found_for(database, Caller("bob"), **way) == ["leave of bob"]
        assert found_for(database, Caller("carol"), **way) == []
        with pytest.raises(MissingIdentity):
            found_for(database, None, **way)
    assert found_for(database, Caller("alice"), tenancy="shared") == ["leave of everybody"]
    assert found_for(database, Caller("alice"), retrievalFilter=since) == ["leave of alice"]
    assert found_for(database, Caller("bob"), retrievalFilter=since) == []


@pytest.mark.processes
def test_tables_of_other_dimensions_fail_without_a_word_of_the_question(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    settings = linked_settings(settings_json(database, embeddingDimensions=512))
    retrieval = linked_retrieval(settings, lambda _service: FixedModel(512))

    with pytest.raises(RetrievalFailed):
        retrieval.search(SearchArguments(query="leave in secret"), Caller("alice"))
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"tenancy": "none"}, "tenancy"),
        ({"host": " "}, "host"),
        ({"host": "/run/postgresql"}, "no name of one host"),
        ({"user": "x" * 64}, "user"),
        ({"embeddingDimensions": 2048}, "embeddingDimensions"),
        ({"isLocal": True}, "not of this machine; allowed without TLS: a loopback address"),
        ({"password": "secret"}, "password"),
        (
            {"retrievalFilter": {"startsWith": {"key": "city", "value": "\x00"}}},
            "retrievalFilter can't be asked of PGVECTOR: a filter with a null character",
        ),
    ],
)
def test_invalid_entry_is_refused_naming_the_member(members: dict[str, Any], why: str) -> None:
    with pytest.raises(LinkedKnowledgeBasesInvalid) as raised:
        linked_settings(json.dumps([{**ENTRY, **members}]))

    assert why in str(raised.value)
    assert "secret" not in str(raised.value)


def an_address(certificates: str | None = None) -> Address:
    return Address(
        host="db.example.com",
        database="knowledge",
        user="agent",
        ssl_root_cert=certificates or where(),
    )


def test_database_connection_uses_token_and_verifies_certificate() -> None:
    address = an_address()

    first, second = (address.connecting(rds)() for _ in range(2))

    token = first.pop("password")
    assert first == {
        "host": "db.example.com",
        "port": 5432,
        "dbname": "knowledge",
        "user": "agent",
        "sslmode": "verify-full",
        "sslrootcert": where(),
    }
    assert token.startswith("db.example.com:5432/?Action=connect&DBUser=agent&")
    assert "X-Amz-Expires=900" in token  # seconds
    assert "secret-of-the-role" not in token
    assert second["sslmode"] == "verify-full"


def test_missing_certificates_or_credentials_are_refused_not_unavailable() -> None:
    def nobody(_service: str) -> Any:
        raise NoCredentialsError

    with pytest.raises(SearchRefused, match=r"there is no file 'not-there\.pem'"):
        an_address("not-there.pem").connecting(rds)()
    with pytest.raises(SearchRefused, match="GenerateDBAuthToken can't be called: NoCredentials"):
        an_address().connecting(nobody)()


def test_only_local_hosts_may_be_configured_without_tls() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "/run/postgresql"):
        address = Address(host=host, database="knowledge", user="agent", is_local=True)
        assert address.connecting(rds)()["sslmode"] == "disable"
    for host in ("10.0.0.7", "localhost.example.com", "0.0.0.0"):
        with pytest.raises(ValueError, match="not of this machine"):
            Address(host=host, database="knowledge", user="agent", is_local=True)
