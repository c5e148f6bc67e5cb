"""
The pool of Bedrock knowledge bases, each with an S3 Vectors index of its own.

Data sources are not here: the product makes one per catalog at its first ingestion. Nothing is
deleted with the stack, since an index is the result of paid work.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from infra.acknowledgments import accept_wildcard
from infra.deployment import Deployment

_MODEL = "amazon.titan-embed-text-v2:0"
_DIMENSION = 1024  # Titan V2's default and largest

# Bedrock's own keys outgrow the 2 KB of filterable metadata; can't be changed after creation.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
_NOT_FILTERABLE = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]


@dataclass(frozen=True)
class PoolMember:
    knowledge_base_id: str
    knowledge_base_arn: str
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
                    "data_source_id": None,  # the shared CUSTOM source, once there is one
                    "index": member.index_arn,
                }
                for member in self.pool
            ]
        )

    @property
    def knowledge_base_arns(self) -> list[str]:
        return [member.knowledge_base_arn for member in self.pool]

    def _member(self, number: int) -> PoolMember:
        name = f"{self._deployment.project}-{number}"
        index = self._index(number, name)
        role = self._role(number, index)
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
        return PoolMember(
            knowledge_base_id=knowledge_base.attr_knowledge_base_id,
            knowledge_base_arn=knowledge_base.attr_knowledge_base_arn,
            index_arn=index.attr_index_arn,
        )

    def _index(self, number: int, name: str) -> s3vectors.CfnIndex:
        index = s3vectors.CfnIndex(
            self,
            f"Index{number}",
            vector_bucket_arn=self._vectors.attr_vector_bucket_arn,
            index_name=name,
            data_type="float32",
            dimension=_DIMENSION,
            distance_metric="cosine",
            metadata_configuration=s3vectors.CfnIndex.MetadataConfigurationProperty(
                non_filterable_metadata_keys=_NOT_FILTERABLE
            ),
        )
        index.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        return index

    def _role(self, number: int, index: s3vectors.CfnIndex) -> iam.Role:
        """Retained with its knowledge base, which is dead without it."""
        caller = {
            "StringEquals": {"aws:SourceAccount": self.account},
            "ArnLike": {
                "aws:SourceArn": self.format_arn(
                    service="bedrock", resource="knowledge-base", resource_name="*"
                )
            },
        }
        role = iam.Role(
            self,
            f"Role{number}",
            assumed_by=iam.ServicePrincipal("bedrock.amazonaws.com", conditions=caller),
            # Inline, so that the rights exist as soon as the role does.
            inline_policies={"Ingestion": self._rights(index)},
        )
        role.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        accept_wildcard(
            role,
            self._deployment.document_arns(self, "*"),
            because="A data source reads any key below its prefix, and prefixes come and go with"
            " catalogs; it only reads, and only in this account's bucket.",
        )
        return role

    def _rights(self, index: s3vectors.CfnIndex) -> iam.PolicyDocument:
        own_bucket = {"StringEquals": {"aws:ResourceAccount": self.account}}
        return iam.PolicyDocument(
            statements=[
                _may(["bedrock:InvokeModel"], self._model_arn()),
                _may(["s3:ListBucket"], self._documents.bucket_arn, own_bucket),
                _may(["s3:GetObject"], self._deployment.document_arns(self, "*"), own_bucket),
                _may(
                    [
                        "s3vectors:PutVectors",
                        "s3vectors:GetVectors",
                        "s3vectors:DeleteVectors",
                        "s3vectors:QueryVectors",
                        "s3vectors:GetIndex",
                    ],
                    index.attr_index_arn,
                ),
            ]
        )

    def _model_arn(self) -> str:
        return self.format_arn(
            service="bedrock", account="", resource="foundation-model", resource_name=_MODEL
        )


def _may(
    actions: list[str], resource: str, conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=actions, resources=[resource], conditions=conditions)


def _embedding(
    model_arn: str,
) -> bedrock.CfnKnowledgeBase.VectorKnowledgeBaseConfigurationProperty:
    kb = bedrock.CfnKnowledgeBase
    return kb.VectorKnowledgeBaseConfigurationProperty(
        embedding_model_arn=model_arn,
        embedding_model_configuration=kb.EmbeddingModelConfigurationProperty(
            bedrock_embedding_model_configuration=kb.BedrockEmbeddingModelConfigurationProperty(
                dimensions=_DIMENSION, embedding_data_type="FLOAT32"
            )
        ),
    )
