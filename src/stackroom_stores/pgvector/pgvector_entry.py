"""The settings of a knowledge base in PostgreSQL, and of its database."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from stackroom.aws.bedrock.retrieve_options import Said
from stackroom.aws.error_mapping import direct_search_errors
from stackroom.errors import SearchRefused
from stackroom.model.filters import Filter
from stackroom_stores.entries import Clients, OwnStoreSettings

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase
    from stackroom_stores.pgvector.connections import Connections

# AWS publishes the certificates of RDS in one file and recommends to verify by it; it is in no
# image of Lambda's, and too seldom changed to be fetched by each function.
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.SSL.html
ROOT_CERTIFICATES = "/opt/rds/global-bundle.pem"

# libpq takes a comma for several hosts, and a slash for a folder. A name is verified, and signed.
_HOST_NAME = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")


@dataclass(frozen=True, kw_only=True)
class Address:
    """
    A database's address and authentication: a token of IAM, over verified TLS.

    `ssl_root_cert` is a file of certificates. With `is_local`, the server listens on this machine
    alone, `host` may be the folder of its socket, and neither TLS nor a token is used. Raises
    ValueError for a remote host with `is_local`, and for an invalid host.
    """

    host: str
    database: str
    user: str
    port: int = 5432
    ssl_root_cert: str = ROOT_CERTIFICATES
    is_local: bool = False

    def __post_init__(self) -> None:
        if self.is_local and not _is_of_this_machine(self.host):
            raise ValueError(
                f"{self.host!r} is not of this machine; allowed without TLS: a loopback address,"
                " localhost, or the folder of a socket"
            )
        if not self.is_local and not _HOST_NAME.fullmatch(self.host):
            raise ValueError(f"{self.host!r} is no name of one host, as RDS tells an endpoint's")

    def connecting(self, client: Callable[[str], Any]) -> Callable[[], dict[str, Any]]:
        """
        Return a function that returns psycopg's parameters for each new connection.

        A token is valid for 15 minutes, and only to connect. `client` makes boto3 clients. The
        function raises SearchRefused without a file of certificates.

        https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html
        """
        where = {"host": self.host, "port": self.port, "dbname": self.database, "user": self.user}
        if self.is_local:
            return lambda: {**where, "sslmode": "disable"}

        def with_token() -> dict[str, Any]:
            # libpq would say so, too, but in an error like those that pass by themselves.
            if not Path(self.ssl_root_cert).is_file():
                raise SearchRefused(f"sslRootCert: there is no file {self.ssl_root_cert!r}")
            # Signed here: no call goes out, but perhaps one for the credentials to sign with.
            with direct_search_errors("GenerateDBAuthToken"):
                token = client("rds").generate_db_auth_token(
                    DBHostname=self.host, Port=self.port, DBUsername=self.user
                )
            tls = {"sslmode": "verify-full", "sslrootcert": self.ssl_root_cert}
            return {**where, **tls, "password": token}

        return with_token


def _is_of_this_machine(host: str) -> bool:
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# An identifier that is longer is cut without a word [PostgreSQL: Identifiers and Key Words].
_Name = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=r"^[^\x00]+$")]


class PgvectorSettings(OwnStoreSettings):
    """
    A knowledge base in the tables of `schema`, by its `knowledge_base_id`.

    `user` authenticates by a token of IAM, and the server by a certificate of `ssl_root_cert`; with
    `is_local` neither does, and `host` must be this machine.
    """

    vector_store_type: Literal["PGVECTOR"]
    host: Said
    port: Annotated[int, Field(strict=True, ge=1, le=65535)] = 5432
    database: _Name
    user: _Name
    # `schema` would hide a method of pydantic's.
    schema_name: _Name = Field("public", alias="schema")
    ssl_root_cert: Said = ROOT_CERTIFICATES
    is_local: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        _ = self.address  # which knows what is of this machine
        return self

    @property
    def address(self) -> Address:
        return Address(**{each.name: getattr(self, each.name) for each in fields(Address)})

    def searched(self, client: Clients, embeddings: QuestionEmbeddings) -> KnowledgeBase:
        """
        Return the adapter, which searches by meaning and words unless the settings say SEMANTIC.
        """
        from stackroom.model.passages import Search
        from stackroom_stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
        from stackroom_stores.pgvector.repository import Repository
        from stackroom_stores.pgvector.schema import Tables

        return PgvectorKnowledgeBase(
            Repository(
                connections=_connections(self.address, client),
                dimensions=self.embedding_dimensions,
                tables=Tables(schema=self.schema_name),
            ),
            self.knowledge_base_id,
            embeddings=embeddings.of(self.embedding_model, self.embedding_dimensions),
            search=Search[self.override_search_type or "HYBRID"],
            tenant_key=self.owner_in,
        )

    def check(self, condition: Filter) -> None:
        # psycopg, which is no package of an agent without such a knowledge base
        from stackroom_stores.pgvector.pgvector_filters import rendered

        rendered(condition)


@cache
def _connections(address: Address, client: Clients) -> Connections:
    """
    Return the pool that all knowledge bases of one database share, as a server allows few
    connections.
    """
    from stackroom_stores.pgvector.connections import Connections

    return Connections(address.connecting(client))
