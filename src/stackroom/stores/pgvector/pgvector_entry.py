"""An entry of KNOWLEDGE_BASES_CONFIG for a knowledge base in PostgreSQL that we search."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from stackroom.filters import Filter
from stackroom.stores.entries import Said
from stackroom.stores.own_store_entries import OwnStoreSettings
from stackroom.stores.pgvector.addresses import ROOT_CERTIFICATES, Address

# An identifier that is longer is cut without a word [PostgreSQL: Identifiers and Key Words].
_Name = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=r"^[^\x00]+$")]


class PgvectorSettings(OwnStoreSettings):
    """
    `knowledge_base_id` is that of the tables in `schema`.

    `user` proves itself by a token of IAM, and the server by a certificate of `ssl_root_cert`;
    with `is_local` neither does, and `host` must be this machine.
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
        return Address(
            host=self.host,
            port=self.port,
            database=self.database,
            user=self.user,
            ssl_root_cert=self.ssl_root_cert,
            is_local=self.is_local,
        )

    def check(self, condition: Filter) -> None:
        # psycopg, which is no package of an agent without such a knowledge base
        from stackroom.stores.pgvector.pgvector_filters import rendered  # noqa: PLC0415 - as said above

        rendered(condition)
