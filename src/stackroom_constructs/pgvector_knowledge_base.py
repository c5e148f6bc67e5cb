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

from stackroom_constructs.argument_checks import InvalidArgument, check_range, check_said
from stackroom_constructs.base_knowledge_base import RetrievalTool
from stackroom_constructs.bedrock_model import Right
from stackroom_constructs.own_store_knowledge_base import OwnStoreArguments, OwnStoreKnowledgeBase

# What the tool imports to search it: of Stackroom's extra `pgvector`.
PACKAGES = ("pgvector>=0.5", "psycopg[binary,pool]>=3.3")
# Where a layer's files lie is /opt.
# https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html
_FOLDER, _BUNDLE = "rds", "global-bundle.pem"
_LONGEST_NAME = 63  # of an identifier [PostgreSQL: Identifiers and Key Words]
_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
# Of an instance, a cluster, a proxy.
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.IAMPolicy.html
_RESOURCE = re.compile(r"(db|cluster|prx)-[A-Za-z0-9]+")
# It stands in an ARN, where a sign of more would name more users.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")


class PgvectorKnowledgeBase(OwnStoreKnowledgeBase):
    """
    Tables of PostgreSQL in RDS or Aurora that the agent searches itself.

        PgvectorKnowledgeBase(
            stack, "Handbook", tenancy="user",
            host="db.cluster-abc.us-east-1.rds.amazonaws.com", resource_id="cluster-ABCDEF",
            database="knowledge", user="agent", certificates="global-bundle.pem",
        )

    `stackroom load` makes the tables and fills them; docs/pgvector.md tells how. The database must
    have IAM authentication, and the agent's function must reach it: give the agent the `network` of
    the database. Meaning and words both count, unless override_search_type is SEMANTIC.

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
        self._check_form("host", host, _HOST, "the name of one host, as RDS tells an endpoint's")
        self._check_form("resource_id", resource_id, _RESOURCE, "db-..., cluster-... or prx-...")
        self._check_form(
            "user", user, _USER, "1 to 63 letters, digits and _ . -, beginning with a letter or _"
        )
        check_said(self, "database", database, _LONGEST_NAME)
        check_said(self, "schema", schema, _LONGEST_NAME)
        if not cdk.Token.is_unresolved(port):
            check_range(self, "port", port, 1, 65535)
        self._database_user = f"{resource_id}/{user}"
        self._layer = self._layer_of(certificates)
        self._connection = {
            "host": host,
            "port": port,
            "database": database,
            "user": user,
            "schema": schema,
            "sslRootCert": f"/opt/{_FOLDER}/{_BUNDLE}",
        }

    def store_rights(self) -> Sequence[Right]:
        """To connect as this one user; what they may read is the database's to say."""
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
        """Stackroom's own, with what it reaches PostgreSQL by."""
        return RetrievalTool(packages=PACKAGES, layers=(self._layer,))

    def _check_form(self, argument: str, value: Any, form: re.Pattern[str], allowed: str) -> None:
        check_said(self, argument, value)
        if not cdk.Token.is_unresolved(value) and not form.fullmatch(value):
            raise InvalidArgument(self, argument, value, allowed)

    def _layer_of(self, certificates: Any) -> lambda_.LayerVersion:
        check_said(self, "certificates", certificates)
        path = Path(certificates)
        if not path.is_file() or b"BEGIN CERTIFICATE" not in path.read_bytes():
            allowed = "a file of certificates in PEM, as AWS publishes for RDS"
            raise InvalidArgument(self, "certificates", certificates, allowed)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / _FOLDER).mkdir()
            shutil.copyfile(path, Path(folder) / _FOLDER / _BUNDLE)
            # Staged while it is made, so that the folder may go.
            return lambda_.LayerVersion(
                self,
                "Certificates",
                code=lambda_.Code.from_asset(folder),
                description="The certificates that databases of RDS are verified by",
            )
