"""An index of S3 Vectors that the agent searches itself, whoever filled it."""

import re
from collections.abc import Sequence
from typing import Any, Self, Unpack

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, check_kind, check_text
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
_MAX_KEY = 63
# Bedrock's names for them in any index that it fills.
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

    It isn't limited to Retrieve's 20 calls a second, and if the index has text search on the text
    key, searches combine meaning and text. Bedrock or anybody else may fill the index.

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
        check_text(self, "index_arn", index_arn)
        if not cdk.Token.is_unresolved(index_arn) and not _INDEX.fullmatch(index_arn):
            allowed = "an ARN like arn:aws:s3vectors:{region}:{account}:bucket/{name}/index/{name}"
            raise InvalidArgument(self, "index_arn", index_arn, allowed)
        check_text(self, "text_key", text_key, _MAX_KEY)
        check_text(self, "source_key", source_key, _MAX_KEY)
        for argument in ("tenant_key", "acl_metadata_field"):
            name = shared.get(argument)
            if isinstance(name, str) and (name.startswith("$") or name == text_key):
                allowed = "a key that is not the text's and does not start with $"
                raise InvalidArgument(self, argument, name, allowed)
        self._index_arn = index_arn
        self._keys = {"textKey": text_key, "sourceKey": source_key}

    @classmethod
    def of(cls, knowledge_base: BedrockKnowledgeBase, *, tenancy: Tenancy) -> Self:
        """
        Return the index of a knowledge base that was created with S3_VECTORS.

        It has the same name, id, filter, groups, guardrail and minimum score, but not the
        reranking, which would differ. With the tenancy `user`, each document's sidecar names its
        one reader as `user_id`. Raises InvalidArgument for a knowledge base without such an index.
        """
        allowed = "a BedrockKnowledgeBase that `create` makes with S3_VECTORS"
        check_kind(cls.__name__, "knowledge_base", knowledge_base, BedrockKnowledgeBase, allowed)
        resources = knowledge_base.created
        if resources is None or resources.index is None:
            raise InvalidArgument(cls.__name__, "knowledge_base", knowledge_base, allowed)
        entry = knowledge_base.export_configuration()
        return cls(
            knowledge_base,
            "Direct",
            index_arn=resources.index.attr_index_arn,
            tenancy=tenancy,
            name=knowledge_base.name,
            knowledge_base_id=knowledge_base.knowledge_base_id,
            description=knowledge_base.description,
            number_of_results=entry["numberOfResults"],
            retrieval_filter=entry["retrievalFilter"],
            enable_acl=entry["enableAcl"],
            acl_metadata_field=entry["aclMetadataField"],
            embedding_model=resources.creation.embedding_model,
            embedding_dimensions=resources.creation.dimensions,
            min_score=entry.get("minScore"),
            guardrail_id=entry["guardrailId"],
            guardrail_version=entry["guardrailVersion"],
        )

    def store_rights(self) -> Sequence[Right]:
        """
        Return the rights to query; metadata, filters and text search also require GetVectors.

        https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_QueryVectors.html
        """
        actions = ("s3vectors:QueryVectors", "s3vectors:GetVectors", "s3vectors:GetIndex")
        return (Right(actions=actions, resources=(self._index_arn,)),)

    def export_configuration(self) -> dict[str, Any]:
        return {**super().export_configuration(), "indexArn": self._index_arn, **self._keys}
