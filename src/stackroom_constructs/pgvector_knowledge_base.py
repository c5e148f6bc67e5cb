"""A knowledge base in PostgreSQL with pgvector that the agent searches itself."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, check_range, check_text
from stackroom_constructs.base_knowledge_base import RetrievalTool
from stackroom_constructs.bedrock_model import Right
from stackroom_constructs.own_store_knowledge_base import OwnStoreArguments, OwnStoreKnowledgeBase

# The packages that the tool imports, from Stackroom's extra `pgvector`.
PACKAGES = ("pgvector>=0.5", "psycopg[binary,pool]>=3.3")
# A layer's files are in /opt.
# https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html
_FOLDER, _BUNDLE = "rds", "global-bundle.pem"
_MAX_NAME = 63  # of an identifier [PostgreSQL: Identifiers and Key Words]
_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
# The resource ids of instances, clusters and proxies.
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.IAMPolicy.html
_RESOURCE = re.compile(r"(db|cluster|prx)-[A-Za-z0-9]+")
# Part of an ARN, in which a wildcard would match more users.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")


class PgvectorKnowledgeBase(OwnStoreKnowledgeBase):
    """
    Tables of PostgreSQL in RDS or Aurora that the agent searches itself.

        PgvectorKnowledgeBase(
            stack, "Handbook", tenancy="user",
            host="db.cluster-abc.us-east-1.rds.amazonaws.com", resource_id="cluster-ABCDEF",
            database="knowledge", user="agent", certificates="global-bundle.pem",
        )

    `stackroom load` creates and fills the tables (docs/pgvector.md). The database must have IAM
    authentication, and the agent's function must reach it: give the agent the database's `network`.
    Searches combine meaning and text, unless override_search_type is SEMANTIC.

    host, resource_id: Endpoint of instance, cluster or proxy; its id: `db-...`, `cluster-...` or
        `prx-...`.
    database, user: The user needs the roles rds_iam, stackroom_reader.
    certificates: Local path of [AWS's bundle](https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem),
        deployed as a layer.
    port, schema: Of the tables.
    min_score: Leave out passages that score less, 0 to 1: the cosine.

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        host: str,
        resource_id: str,
        database: str,
        user: str,
        certificates: str,
        port: int = 5432,
        schema: str = "public",
        knowledge_base_id: str | None = None,
        embedding_dimensions: int = 1024,
        min_score: float | None = None,
        **shared: Unpack[OwnStoreArguments],
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            vector_store_type="PGVECTOR",
            knowledge_base_id=knowledge_base_id,
            embedding_dimensions=embedding_dimensions,
            min_score=min_score,
            **shared,
        )
        self._check_form("host", host, _HOST, "the host name of an RDS endpoint")
        self._check_form("resource_id", resource_id, _RESOURCE, "db-..., cluster-... or prx-...")
        self._check_form(
            "user", user, _USER, "1 to 63 letters, digits and _ . -, beginning with a letter or _"
        )
        check_text(self, "database", database, _MAX_NAME)
        check_text(self, "schema", schema, _MAX_NAME)
        if not cdk.Token.is_unresolved(port):
            check_range(self, "port", port, 1, 65535)
        self._database_user = f"{resource_id}/{user}"
        self._layer = self._certificates_layer(certificates)
        self._connection = {
            "host": host,
            "port": port,
            "database": database,
            "user": user,
            "schema": schema,
            "sslRootCert": f"/opt/{_FOLDER}/{_BUNDLE}",
        }

    def store_rights(self) -> Sequence[Right]:
        """Return the right to connect as this user; the database decides what the user may read."""
        user = cdk.Stack.of(self).format_arn(
            service="rds-db",
            resource="dbuser",
            resource_name=self._database_user,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        return (Right(actions=("rds-db:connect",), resources=(user,)),)

    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), **self._connection}

    def retrieval_tool(self) -> RetrievalTool:
        """Return Stackroom's own tool with the packages and certificates for PostgreSQL."""
        return RetrievalTool(packages=PACKAGES, layers=(self._layer,))

    def _check_form(self, argument: str, value: Any, form: re.Pattern[str], allowed: str) -> None:
        check_text(self, argument, value)
        if not cdk.Token.is_unresolved(value) and not form.fullmatch(value):
            raise InvalidArgument(self, argument, value, allowed)

    def _certificates_layer(self, certificates: Any) -> lambda_.LayerVersion:
        check_text(self, "certificates", certificates)
        path = Path(certificates)
        if not path.is_file() or b"BEGIN CERTIFICATE" not in path.read_bytes():
            allowed = "a PEM file of certificates, such as AWS publishes for RDS"
            raise InvalidArgument(self, "certificates", certificates, allowed)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / _FOLDER).mkdir()
            shutil.copyfile(path, Path(folder) / _FOLDER / _BUNDLE)
            # The asset is staged here, so that the folder can be deleted.
            return lambda_.LayerVersion(
                self,
                "Certificates",
                code=lambda_.Code.from_asset(folder),
                description="The certificates that databases of RDS are verified by",
            )
