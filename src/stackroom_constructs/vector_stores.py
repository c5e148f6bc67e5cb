"""
Existing stores for the vectors of a created knowledge base, other than S3 Vectors.

Patterns: API model of bedrock-agent (botocore 1.44.5). Rights:
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from stackroom_constructs.argument_checks import check_text
from stackroom_constructs.bedrock_model import Right


@dataclass(frozen=True, kw_only=True)
class OpenSearchServerlessStore:
    """
    An existing index, which the collection's data access policy lets `.role` read and write.

    collection_arn, index_name: Its vector field must have the right dimensions.
    vector_field, text_field, metadata_field: Its fields.

    Raises InvalidArgument.
    """

    vector_store_type: ClassVar[str] = "OPENSEARCH_SERVERLESS"

    collection_arn: str
    index_name: str
    vector_field: str = "bedrock-knowledge-base-default-vector"
    text_field: str = "AMAZON_BEDROCK_TEXT"
    metadata_field: str = "AMAZON_BEDROCK_METADATA"

    def __post_init__(self) -> None:
        _check(self, "collection_arn", "index_name", longest=2048)
        _check(self, "vector_field", "text_field", "metadata_field", longest=2048)

    @property
    def configuration(self) -> dict[str, Any]:
        """`storageConfiguration` of CreateKnowledgeBase."""
        return {
            "type": self.vector_store_type,
            "opensearchServerlessConfiguration": {
                "collectionArn": self.collection_arn,
                "vectorIndexName": self.index_name,
                "fieldMapping": {
                    "vectorField": self.vector_field,
                    "textField": self.text_field,
                    "metadataField": self.metadata_field,
                },
            },
        }

    @property
    def rights(self) -> tuple[Right, ...]:
        """The service role's rights; the collection's data access policy grants the rest."""
        return (Right(actions=("aoss:APIAccessAll",), resources=(self.collection_arn,)),)


@dataclass(frozen=True, kw_only=True)
class RdsStore:
    """
    An existing table with pgvector in Aurora PostgreSQL, in the same account.

    cluster_arn, secret_arn: The Data API must be on; the secret has user and password.
    database_name, table_name: At most 63 characters; table with schema.
    primary_key_field, vector_field, text_field, metadata_field: Columns; key: uuid, metadata:
        json.
    custom_metadata_field: jsonb column of attributes; by default each has its own column.

    Raises InvalidArgument.
    """

    vector_store_type: ClassVar[str] = "RDS"

    cluster_arn: str
    secret_arn: str
    database_name: str
    table_name: str
    primary_key_field: str = "id"
    vector_field: str = "embedding"
    text_field: str = "chunks"
    metadata_field: str = "metadata"
    custom_metadata_field: str | None = None

    def __post_init__(self) -> None:
        _check(self, "cluster_arn", "secret_arn", longest=2048)
        _check(self, "database_name", "table_name", longest=63)
        _check(
            self, "primary_key_field", "vector_field", "text_field", "metadata_field", longest=63
        )
        if self.custom_metadata_field is not None:
            _check(self, "custom_metadata_field", longest=63)

    @property
    def configuration(self) -> dict[str, Any]:
        """`storageConfiguration` of CreateKnowledgeBase."""
        fields = {
            "primaryKeyField": self.primary_key_field,
            "vectorField": self.vector_field,
            "textField": self.text_field,
            "metadataField": self.metadata_field,
        }
        if self.custom_metadata_field is not None:
            fields["customMetadataField"] = self.custom_metadata_field
        return {
            "type": self.vector_store_type,
            "rdsConfiguration": {
                "resourceArn": self.cluster_arn,
                "credentialsSecretArn": self.secret_arn,
                "databaseName": self.database_name,
                "tableName": self.table_name,
                "fieldMapping": fields,
            },
        }

    @property
    def rights(self) -> tuple[Right, ...]:
        return (
            Right(actions=("rds:DescribeDBClusters",), resources=(self.cluster_arn,)),
            Right(
                actions=("rds-data:BatchExecuteStatement", "rds-data:ExecuteStatement"),
                resources=(self.cluster_arn,),
            ),
            Right(actions=("secretsmanager:GetSecretValue",), resources=(self.secret_arn,)),
        )


VectorStore = OpenSearchServerlessStore | RdsStore


def _check(store: VectorStore, *arguments: str, longest: int) -> None:
    for argument in arguments:
        check_text(type(store).__name__, argument, getattr(store, argument), longest)
