"""
The pool of Bedrock knowledge bases, each with an S3 Vectors index of its own.

Of a knowledge base's five data sources the shared one is made here, so that no catalog can take
its slot; the product makes the others, one per catalog at its first ingestion. Nothing is deleted
with the stack, since an index is the result of paid work.
"""

import hashlib
import json
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from infra.deployment import Deployment
from infra.search_index import SearchIndexes
from stackroom_constructs import BedrockKnowledgeBase, KnowledgeBaseCreation
from stackroom_constructs.created import CreatedKnowledgeBase
from stackroom_constructs.model import BedrockModel

_MODEL = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = 1024  # its default and largest


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
        return {"EMBEDDING_MODEL": _MODEL, "EMBEDDING_DIMENSIONS": str(_DIMENSIONS)}

    def _member(self, number: int) -> PoolMember:
        """
        Of its data sources the one made here is where catalogs live that got none of their own, by
        direct ingestion. All are cut and read as the deployment says; that can't be changed later.
        """
        name = f"{self._deployment.project}-{number}"
        member = BedrockKnowledgeBase(
            self,
            f"Member{number}",
            name=name,
            description=f"Member {number} of the pool of {self._deployment.project}.",
            create=KnowledgeBaseCreation(
                bucket=self._documents,
                data_source_type="CUSTOM",
                data_source_name="shared",  # a catalog's own is called `ds-...`
                data_source_description="Documents of catalogs without a data source of their own.",
                readable_objects=self._deployment.document_arns(self, "*"),
                embedding_model=_MODEL,
                dimensions=_DIMENSIONS,
                vector_bucket_arn=self._vectors.attr_vector_bucket_arn,
                index_name=name,
                **self._deployment.ingestion.arguments,
            ),
        )
        made = member.created
        assert made is not None, "it has `create`"
        assert made.index is not None, "its vectors are in S3 Vectors"
        _keep_ids(made, number)
        return PoolMember(
            knowledge_base_id=member.knowledge_base_id,
            knowledge_base_arn=member.knowledge_base_arn,
            data_source_id=member.data_source_id,
            index_arn=made.index.attr_index_arn,
        )

    def _model_arn(self) -> str:
        return BedrockModel.of(_MODEL).arn(self)


def _keep_ids(made: CreatedKnowledgeBase, number: int) -> None:
    """
    Under the ids that they have had in deployed stacks since before they were made in a construct:
    CloudFormation takes a resource with another id for another resource, and would make it anew
    beside the one that is kept.
    """
    role = made.role.node.default_child
    assert isinstance(role, cdk.CfnResource), "a role is one resource"
    path = f"Role{number}/Resource"  # the CDK makes an id of it, with the beginning of its hash
    shortened = hashlib.md5(path.encode(), usedforsecurity=False).hexdigest()[:8].upper()
    role.override_logical_id(f"Role{number}{shortened}")
    assert made.index is not None, "the pool's vectors are in S3 Vectors"
    made.index.override_logical_id(f"Index{number}")
    made.knowledge_base.override_logical_id(f"KnowledgeBase{number}")
    made.data_source.override_logical_id(f"SharedDataSource{number}")
