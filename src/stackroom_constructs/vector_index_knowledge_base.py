"""An index of S3 Vectors that the agent searches itself, whoever filled it."""

import re
from collections.abc import Sequence
from typing import Any, Self, Unpack

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, check_kind, check_said
from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase
from stackroom_constructs.bedrock_model import Right
from stackroom_constructs.own_store_knowledge_base import (
    OwnStoreArguments,
    OwnStoreKnowledgeBase,
    Tenancy,
)

# IndexArn and MetadataKey in the API model of s3vectors, botocore 1.44.5.
_INDEX = re.compile(
    r"arn:aws[-a-z0-9]*:s3vectors:[a-z0-9-]+:[0-9]{12}:bucket/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
    r"/index/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
)
_LONGEST_KEY = 63
# What Bedrock calls them in any index that it fills.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
_TEXT = "AMAZON_BEDROCK_TEXT"
_SOURCE = "x-amz-bedrock-kb-source-uri"


class VectorIndexKnowledgeBase(OwnStoreKnowledgeBase):
    """
    An index of S3 Vectors that the agent searches itself.

        VectorIndexKnowledgeBase(
            stack, "Parts", index_arn=index.attr_index_arn, tenancy="shared", text_key="text"
        )
        VectorIndexKnowledgeBase.of(handbook, tenancy="shared")

    It is not under Retrieve's 20 calls a second, and where the index has text search on the text
    key, words count beside meaning. The index may be one that Bedrock fills, or anybody's.

    index_arn: In the same account and region.
    text_key, source_key: Metadata keys of the text (vectors without it are skipped) and its source.
    min_score: Leave out passages that score less, 0 to 1: the cosine, or 1 / (1 + distance).

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        index_arn: str,
        text_key: str = _TEXT,
        source_key: str = _SOURCE,
        knowledge_base_id: str | None = None,
        embedding_dimensions: int = 1024,
        min_score: float | None = None,
        **shared: Unpack[OwnStoreArguments],
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            vector_store_type="S3_VECTORS_DIRECT",
            knowledge_base_id=knowledge_base_id,
            embedding_dimensions=embedding_dimensions,
            min_score=min_score,
            **shared,
        )
        check_said(self, "index_arn", index_arn)
        if not cdk.Token.is_unresolved(index_arn) and not _INDEX.fullmatch(index_arn):
            allowed = "an ARN like arn:aws:s3vectors:{region}:{account}:bucket/{name}/index/{name}"
            raise InvalidArgument(self, "index_arn", index_arn, allowed)
        check_said(self, "text_key", text_key, _LONGEST_KEY)
        check_said(self, "source_key", source_key, _LONGEST_KEY)
        for argument in ("tenant_key", "acl_metadata_field"):
            name = shared.get(argument)
            if isinstance(name, str) and (name.startswith("$") or name == text_key):
                allowed = "a key that isn't the text's and doesn't begin with $"
                raise InvalidArgument(self, argument, name, allowed)
        self._index_arn = index_arn
        self._keys = {"textKey": text_key, "sourceKey": source_key}

    @classmethod
    def of(cls, knowledge_base: BedrockKnowledgeBase, *, tenancy: Tenancy) -> Self:
        """
        The index of a knowledge base that is made with S3_VECTORS, under its name and id, with its
        filter, groups, guardrail and least score; but for its reranking, which would be another.

        Of `user` each document's sidecar names its one reader as `user_id`. Raises InvalidArgument
        for a knowledge base without such an index.
        """
        allowed = "a BedrockKnowledgeBase that is made with S3_VECTORS, by `create`"
        check_kind(cls.__name__, "knowledge_base", knowledge_base, BedrockKnowledgeBase, allowed)
        made = knowledge_base.created
        if made is None or made.index is None:
            raise InvalidArgument(cls.__name__, "knowledge_base", knowledge_base, allowed)
        told = knowledge_base.export_configuration()
        return cls(
            knowledge_base,
            "Direct",
            index_arn=made.index.attr_index_arn,
            tenancy=tenancy,
            name=knowledge_base.name,
            knowledge_base_id=knowledge_base.knowledge_base_id,
            description=knowledge_base.description,
            number_of_results=told["numberOfResults"],
            retrieval_filter=told["retrievalFilter"],
            enable_acl=told["enableAcl"],
            acl_metadata_field=told["aclMetadataField"],
            embedding_model=made.creation.embedding_model,
            embedding_dimensions=made.creation.dimensions,
            min_score=told.get("minScore"),
            guardrail_id=told["guardrailId"],
            guardrail_version=told["guardrailVersion"],
        )

    def store_rights(self) -> Sequence[Right]:
        """
        A query that asks for metadata, filters by it or searches text needs GetVectors, too.
        https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_QueryVectors.html
        """
        actions = ("s3vectors:QueryVectors", "s3vectors:GetVectors", "s3vectors:GetIndex")
        return (Right(actions=actions, resources=(self._index_arn,)),)

    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), "indexArn": self._index_arn, **self._keys}
