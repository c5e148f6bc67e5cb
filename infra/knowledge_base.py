"""
The pool of Bedrock knowledge bases, each with an S3 Vectors index, or MANAGED without one.

For MANAGED knowledge bases Bedrock stores the vectors itself, and there is no index, bucket or
function. The shared data source of each knowledge base is created here, so that no catalog can take
its slot; the product creates the others, one per catalog at its first ingestion. Nothing is deleted
with the stack, since an index is the result of paid work.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from infra.customer_key import encrypted_with
from infra.deployment import Deployment
from infra.pool_type import require_managed_region
from infra.search_index import SearchIndexes
from infra.vector_bucket_policy import guard_vectors
from stackroom_constructs import BedrockKnowledgeBase, KnowledgeBaseCreation
from stackroom_constructs.bedrock_knowledge_base import Store
from stackroom_constructs.bedrock_model import BedrockModel
from stackroom_constructs.created_knowledge_base import CreatedKnowledgeBase
from stackroom_constructs.knowledge_base_creation import MANAGED_MODEL

_MODEL = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = 1024  # the model's default and maximum


@dataclass(frozen=True)
class PoolMember:
    knowledge_base_id: str
    knowledge_base_arn: str
    data_source_id: str  # of the shared CUSTOM data source
    index_arn: str | None  # None for a MANAGED knowledge base


class KnowledgeBaseStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        documents: s3.IBucket,
        key: kms.IKey | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._key = key
        self._documents = documents
        numbers = range(1, deployment.pool_size + 1)
        if deployment.is_managed:
            require_managed_region(self)
            self.pool = [self._managed_member(number) for number in numbers]
        else:
            bucket = self._vectors()
            self._bucket_arn = vectors = bucket.attr_vector_bucket_arn
            made = [self._member(number, vectors) for number in numbers]
            self.pool = [member for member, _ in made]
            guard_vectors(bucket, deployment=deployment, service_roles=[role for _, role in made])
            SearchIndexes(
                self,
                "SearchIndex",
                deployment=deployment,
                bucket_arn=vectors,
                index_arns=dict(zip(map(self._name, numbers), self.index_arns, strict=True)),
            )
        cdk.CfnOutput(self, "KnowledgeBasePool", value=self.pool_json)

    @property
    def pool_json(self) -> str:
        """
        The variable `KB_POOL`: the pool's ids and indexes.

        It is short, because a function's variables have 4 KB in total, and it isn't made with
        `to_json_string`, which would nest every reference in a JSON string of its own.
        """
        own = self._deployment.catalog_data_sources
        pool: dict[str, object] = {
            "ids": [f"{each.knowledge_base_id}/{each.data_source_id}" for each in self.pool]
        }
        if self._deployment.is_managed:
            pool["type"] = "MANAGED"
        else:
            pool["indexes"] = f"{self._bucket_arn}/index/{self._deployment.project}-"
        if own != "custom":
            pool["catalog_data_sources"] = own
        return json.dumps(pool, separators=(",", ":"))

    @property
    def knowledge_base_arns(self) -> list[str]:
        return [member.knowledge_base_arn for member in self.pool]

    @property
    def index_arns(self) -> list[str]:
        """The ARNs of the indexes; empty if the pool is MANAGED."""
        return [member.index_arn for member in self.pool if member.index_arn is not None]

    @property
    def embedding_model_arn(self) -> str:
        return BedrockModel.of(_MODEL).arn(self)

    @property
    def embedding_environment(self) -> dict[str, str]:
        """The variables that name the embedding model; empty if Bedrock chooses it."""
        if self._deployment.is_managed:
            return {}
        return {"EMBEDDING_MODEL": _MODEL, "EMBEDDING_DIMENSIONS": str(_DIMENSIONS)}

    @property
    def data_source_environment(self) -> dict[str, str]:
        """
        The variables for creating data sources: a MANAGED connector needs its bucket's account.
        """
        return {"KB_DOCS_OWNER": self.account} if self._deployment.is_managed else {}

    def _vectors(self) -> s3vectors.CfnVectorBucket:
        vectors = s3vectors.CfnVectorBucket(
            self,
            "Vectors",
            vector_bucket_name=self._deployment.bucket_name("vectors"),
            encryption_configuration=encrypted_with(self._key),
        )
        vectors.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        return vectors

    def _managed_member(self, number: int) -> PoolMember:
        """
        Create a member with the embedding model that Bedrock chooses, which is the default.

        https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-create.html
        """
        member = self._create_member(number, "MANAGED", embedding_model=MANAGED_MODEL)
        return _pool_member(member, number, index_arn=None)

    def _member(self, number: int, vector_bucket_arn: str) -> tuple[PoolMember, iam.Role]:
        member = self._create_member(
            number,
            "S3_VECTORS",
            embedding_model=_MODEL,
            dimensions=_DIMENSIONS,
            vector_bucket_arn=vector_bucket_arn,
            index_name=self._name(number),
            vector_key=self._key,
        )
        assert member.created is not None, "the knowledge base has `create`"
        index = member.created.index
        assert index is not None, "its store is S3 Vectors"
        index.override_logical_id(f"Index{number}")
        made = _pool_member(member, number, index_arn=index.attr_index_arn)
        return made, member.created.role

    def _create_member(self, number: int, store: Store, **chosen: Any) -> BedrockKnowledgeBase:
        """
        Create a knowledge base with the shared data source, for catalogs without one of their own.

        Documents enter it by direct ingestion. Chunking and parsing can't be changed later.
        """
        return BedrockKnowledgeBase(
            self,
            f"Member{number}",
            name=self._name(number),
            description=f"Member {number} of the pool of {self._deployment.project}.",
            vector_store_type=store,
            create=KnowledgeBaseCreation(
                bucket=self._documents,
                data_source_type="CUSTOM",
                data_source_name="shared",  # a catalog's own ends with the catalog's id
                data_source_description="Documents of catalogs without a data source of their own.",
                readable_objects=self._deployment.document_arns(self, "*"),
                **self._deployment.ingestion.arguments,
                **chosen,
            ),
        )

    def _name(self, number: int) -> str:
        return f"{self._deployment.project}-{number}"


def _pool_member(member: BedrockKnowledgeBase, number: int, *, index_arn: str | None) -> PoolMember:
    assert member.created is not None, "the knowledge base has `create`"
    _keep_ids(member.created, number)
    return PoolMember(
        knowledge_base_id=member.knowledge_base_id,
        knowledge_base_arn=member.knowledge_base_arn,
        data_source_id=member.data_source_id,
        index_arn=index_arn,
    )


def _keep_ids(made: CreatedKnowledgeBase, number: int) -> None:
    """
    Keep the logical ids of stacks deployed before a construct created these resources.

    CloudFormation would treat a resource with another id as another resource, and create it next to
    the one that is retained.
    """
    role = made.role.node.default_child
    assert isinstance(role, cdk.CfnResource), "a role is one resource"
    path = f"Role{number}/Resource"  # the CDK derives the id from it and the start of its hash
    shortened = hashlib.md5(path.encode(), usedforsecurity=False).hexdigest()[:8].upper()
    role.override_logical_id(f"Role{number}{shortened}")
    made.knowledge_base.override_logical_id(f"KnowledgeBase{number}")
    made.data_source.override_logical_id(f"SharedDataSource{number}")
