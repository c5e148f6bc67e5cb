"""
The pool of Bedrock knowledge bases, each with an S3 Vectors index of its own.

Of a knowledge base's five data sources the shared one is made here, so that no catalog can take
its slot; the product makes the others, one per catalog at its first ingestion. Nothing is deleted
with the stack, since an index is the result of paid work.
"""

import json
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct, IConstruct

from infra.deployment import Deployment
from infra.knowledge_base_role import KnowledgeBaseRole
from infra.search_index import DIMENSION, SearchIndexes, vector_index

_MODEL = "amazon.titan-embed-text-v2:0"


@dataclass(frozen=True)
class PoolMember:
    knowledge_base_id: str
    knowledge_base_arn: str
    data_source_id: str  # of the shared CUSTOM data source
    index_arn: str


class KnowledgeBaseStack(cdk.Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, documents: s3.IBucket
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._documents = documents
        self._vectors = s3vectors.CfnVectorBucket(
            self,
            "Vectors",
            vector_bucket_name=deployment.bucket_name("vectors"),
            encryption_configuration=s3vectors.CfnVectorBucket.EncryptionConfigurationProperty(
                sse_type="AES256"
            ),
        )
        self._vectors.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        self.pool = [self._member(number) for number in range(1, deployment.pool_size + 1)]
        SearchIndexes(
            self,
            "SearchIndex",
            deployment=deployment,
            bucket_arn=self._vectors.attr_vector_bucket_arn,
            index_arns=self.index_arns,
        )

        cdk.CfnOutput(self, "VectorBucketArn", value=self._vectors.attr_vector_bucket_arn)
        cdk.CfnOutput(self, "KnowledgeBasePool", value=self.pool_json)

    @property
    def pool_json(self) -> str:
        """
        `KB_POOL`: what the functions know of the pool. Written by hand rather than with
        `to_json_string`, which would nest every reference in a JSON string of its own.
        """
        return json.dumps(
            [
                {
                    "knowledge_base_id": member.knowledge_base_id,
                    "data_source_id": member.data_source_id,
                    "index": member.index_arn,
                }
                for member in self.pool
            ]
        )

    @property
    def knowledge_base_arns(self) -> list[str]:
        return [member.knowledge_base_arn for member in self.pool]

    @property
    def index_arns(self) -> list[str]:
        return [member.index_arn for member in self.pool]

    @property
    def embedding_model_arn(self) -> str:
        return self._model_arn()

    @property
    def embedding_environment(self) -> dict[str, str]:
        """What documents are embedded with, for who embeds a question."""
        return {"EMBEDDING_MODEL": _MODEL, "EMBEDDING_DIMENSIONS": str(DIMENSION)}

    def _member(self, number: int) -> PoolMember:
        name = f"{self._deployment.project}-{number}"
        index = vector_index(self, number, name, self._vectors)
        role = KnowledgeBaseRole(
            self,
            f"Role{number}",
            deployment=self._deployment,
            documents=self._documents,
            model_arn=self._model_arn(),
            index_arn=index.attr_index_arn,
        )
        knowledge_base = self._knowledge_base(number, name, role=role, index=index)
        shared = self._shared_data_source(number, knowledge_base, needs=(role, index))
        return PoolMember(
            knowledge_base_id=knowledge_base.attr_knowledge_base_id,
            knowledge_base_arn=knowledge_base.attr_knowledge_base_arn,
            data_source_id=shared.attr_data_source_id,
            index_arn=index.attr_index_arn,
        )

    def _knowledge_base(
        self, number: int, name: str, *, role: iam.Role, index: s3vectors.CfnIndex
    ) -> bedrock.CfnKnowledgeBase:
        knowledge_base = bedrock.CfnKnowledgeBase(
            self,
            f"KnowledgeBase{number}",
            name=name,
            description=f"Member {number} of the pool of {self._deployment.project}.",
            role_arn=role.role_arn,
            knowledge_base_configuration=(
                bedrock.CfnKnowledgeBase.KnowledgeBaseConfigurationProperty(
                    type="VECTOR",
                    vector_knowledge_base_configuration=_embedding(self._model_arn()),
                )
            ),
            storage_configuration=bedrock.CfnKnowledgeBase.StorageConfigurationProperty(
                type="S3_VECTORS",
                # The ARN alone: with bucket and name beside it CloudFormation refuses.
                s3_vectors_configuration=bedrock.CfnKnowledgeBase.S3VectorsConfigurationProperty(
                    index_arn=index.attr_index_arn
                ),
            ),
        )
        # A knowledge base without its role's rights or its index can't delete its vectors any more.
        knowledge_base.node.add_dependency(role)
        knowledge_base.node.add_dependency(index)
        knowledge_base.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        return knowledge_base

    def _shared_data_source(
        self,
        number: int,
        knowledge_base: bedrock.CfnKnowledgeBase,
        *,
        needs: tuple[IConstruct, ...],
    ) -> bedrock.CfnDataSource:
        """
        Where catalogs live that got no data source of their own, by direct ingestion.

        Chunked by Bedrock's default, as the catalogs' own are; it can't be changed later.
        """
        source = bedrock.CfnDataSource(
            self,
            f"SharedDataSource{number}",
            knowledge_base_id=knowledge_base.attr_knowledge_base_id,
            name="shared",  # a catalog's own is called `ds-...`
            description="Documents of catalogs without a data source of their own.",
            # Vectors that outlived their data source would still be found.
            data_deletion_policy="DELETE",
            data_source_configuration=bedrock.CfnDataSource.DataSourceConfigurationProperty(
                type="CUSTOM"
            ),
        )
        # Without the role's rights or the index its deletion ends in DELETE_UNSUCCESSFUL.
        # https://docs.aws.amazon.com/bedrock/latest/userguide/kb-ds-delete.html
        for needed in needs:
            source.node.add_dependency(needed)
        source.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        return source

    def _model_arn(self) -> str:
        return self.format_arn(
            service="bedrock", account="", resource="foundation-model", resource_name=_MODEL
        )


def _embedding(
    model_arn: str,
) -> bedrock.CfnKnowledgeBase.VectorKnowledgeBaseConfigurationProperty:
    kb = bedrock.CfnKnowledgeBase
    return kb.VectorKnowledgeBaseConfigurationProperty(
        embedding_model_arn=model_arn,
        embedding_model_configuration=kb.EmbeddingModelConfigurationProperty(
            bedrock_embedding_model_configuration=kb.BedrockEmbeddingModelConfigurationProperty(
                dimensions=DIMENSION, embedding_data_type="FLOAT32"
            )
        ),
    )
