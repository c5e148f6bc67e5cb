"""An index of OpenSearch Serverless that the agent searches itself, whoever filled it."""

import re
from collections.abc import Sequence
from typing import Any, Unpack

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_opensearchserverless as aoss
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, check_text
from stackroom_constructs.base_knowledge_base import RetrievalTool
from stackroom_constructs.bedrock_model import Right
from stackroom_constructs.own_store_knowledge_base import OwnStoreArguments, OwnStoreKnowledgeBase

_COLLECTION = re.compile(r"arn:aws[-a-z0-9]*:aoss:[a-z0-9-]+:[0-9]{12}:collection/[a-z0-9]+")
# https://docs.aws.amazon.com/opensearch-service/latest/ServerlessAPIReference/API_CreateCollection.html
_NAME = re.compile(r"[a-z][a-z0-9-]{2,31}")
# A subset of OpenSearch's index names, without patterns for several indexes.
_INDEX = re.compile(r"[a-z0-9][a-z0-9._-]{0,254}")
_PACKAGES = ("opensearch-py>=3.2",)
_READING = ("aoss:DescribeIndex", "aoss:ReadDocument")


class OpenSearchKnowledgeBase(OwnStoreKnowledgeBase):
    """
    An index of OpenSearch Serverless that the agent searches itself.

        ledgers = OpenSearchKnowledgeBase(
            stack, "Ledgers", collection_arn=collection.attr_arn, collection_name="finance",
            collection_endpoint=collection.attr_collection_endpoint, tenancy="shared",
        )
        ledgers.allow_reading(agent.role)

    The collection has its own access policies besides IAM: `allow_reading` adds one for a role. The
    index may be anybody's, with vectors of length one, exact values of its attributes, and Faiss,
    which applies filters during the search (docs/opensearch.md).

    collection_arn, collection_name, collection_endpoint: In the same account and region.
    index_name, vector_field, text_field, metadata_field, source_key: Index and fields;
        `source_key` is an attribute.
    override_search_type: By default SEMANTIC.
    min_score: Leave out passages that score less, 0 to 1: (1 + cosine) / 2.

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        collection_arn: str,
        collection_name: str,
        collection_endpoint: str,
        index_name: str = "knowledge-base",
        vector_field: str = "vector",
        text_field: str = "text",
        metadata_field: str = "metadata",
        source_key: str = "source",
        knowledge_base_id: str | None = None,
        embedding_dimensions: int = 256,
        min_score: float | None = 0.55,
        **shared: Unpack[OwnStoreArguments],
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            vector_store_type="OPENSEARCH_SERVERLESS",
            knowledge_base_id=knowledge_base_id,
            embedding_dimensions=embedding_dimensions,
            min_score=min_score,
            **shared,
        )
        self._check("collection_arn", collection_arn, _COLLECTION, "an ARN of a collection")
        self._check("collection_name", collection_name, _NAME, "3 to 32 small letters, digits, -")
        self._check("index_name", index_name, _INDEX, "small letters, digits, . _ and -")
        check_text(self, "collection_endpoint", collection_endpoint)
        is_known = not cdk.Token.is_unresolved(collection_endpoint)
        if is_known and not collection_endpoint.startswith("https://"):
            allowed = "an address that begins with https://"
            raise InvalidArgument(self, "collection_endpoint", collection_endpoint, allowed)
        self._collection_arn = collection_arn
        self._index = f"index/{collection_name}/{index_name}"
        self._fields = {
            "indexName": index_name,
            "vectorField": vector_field,
            "textField": text_field,
            "metadataField": metadata_field,
            "sourceKey": source_key,
        }
        for member, value in self._fields.items():
            check_text(self, member, value)
        self._endpoint = collection_endpoint
        self._min_score = min_score

    def allow_reading(self, role: iam.IRole) -> aoss.CfnAccessPolicy:
        """Add a data access policy that lets the role read the index, and nothing else."""
        rule = {"ResourceType": "index", "Resource": [self._index], "Permission": list(_READING)}
        statement = {"Rules": [rule], "Principal": [role.role_arn]}
        scope = Construct(self, f"ReadBy{role.node.addr[-8:]}")
        name = cdk.Names.unique_resource_name(scope, max_length=32, separator="-")
        return aoss.CfnAccessPolicy(
            scope,
            "Policy",
            name=name.lower(),
            type="data",
            policy=cdk.Stack.of(self).to_json_string([statement]),
        )

    def retrieval_tool(self) -> RetrievalTool:
        return RetrievalTool(packages=_PACKAGES)

    def store_rights(self) -> Sequence[Right]:
        """Return IAM's part; `allow_reading` grants the rights in the collection."""
        return (Right(actions=("aoss:APIAccessAll",), resources=(self._collection_arn,)),)

    def export_configuration(self) -> dict[str, Any]:
        return {
            **super().export_configuration(),
            "collectionEndpoint": self._endpoint,
            **self._fields,
            # Explicit, because the agent has another default.
            "minScore": self._min_score,
        }

    def _check(self, argument: str, value: Any, pattern: re.Pattern[str], allowed: str) -> None:
        check_text(self, argument, value)
        if not cdk.Token.is_unresolved(value) and not pattern.fullmatch(value):
            raise InvalidArgument(self, argument, value, allowed)
