"""An index of S3 Vectors as a knowledge base: what is exported, what it takes, what is refused."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3

from stackroom_constructs import (
    BedrockKnowledgeBase,
    InvalidArgument,
    KnowledgeBaseCreation,
    Reranking,
    VectorIndexKnowledgeBase,
)
from tests.constructs.test_bedrock_knowledge_base import statements

ARN = "arn:aws:s3vectors:us-east-1:123456789012:bucket/parts/index/chunks"
_MODELS = "arn:{partition}:bedrock:{region}::foundation-model/"
TITAN = {
    "Action": "bedrock:InvokeModel",
    "Resource": f"{_MODELS}amazon.titan-embed-text-v2:0",
}
SEARCHING = {
    "Action": ["s3vectors:QueryVectors", "s3vectors:GetVectors", "s3vectors:GetIndex"],
    "Resource": ARN,
}


def of_parts(stack: cdk.Stack, **arguments: Any) -> VectorIndexKnowledgeBase:
    needed = {"index_arn": ARN, "tenancy": "shared"}
    return VectorIndexKnowledgeBase(stack, "Parts", **{**needed, **arguments})


def made(stack: cdk.Stack, name: str = "Handbook", **arguments: Any) -> BedrockKnowledgeBase:
    bucket = s3.Bucket.from_bucket_name(stack, f"{name}Documents", "documents-of-somebody")
    create = KnowledgeBaseCreation(
        bucket=bucket, **({"dimensions": 256} | arguments.pop("creation", {}))
    )
    return BedrockKnowledgeBase(stack, name, create=create, **arguments)


def test_it_may_search_exactly_its_index_and_ask_exactly_its_model(stack: cdk.Stack) -> None:
    assert statements(stack, of_parts(stack)) == [SEARCHING, TITAN]


def test_a_guardrail_and_a_reranking_model_are_asked_by_the_agent(stack: cdk.Stack) -> None:
    guarded = of_parts(stack, guardrail_id="gr123", reranking=Reranking(model="amazon.rerank-v1:0"))

    guardrail = "arn:{partition}:bedrock:{region}:{account}:guardrail/gr123"
    assert statements(stack, guarded) == [
        SEARCHING,
        TITAN,
        {"Action": "bedrock:ApplyGuardrail", "Resource": guardrail},
        {"Action": "bedrock:Rerank", "Resource": "*"},
        {"Action": "bedrock:InvokeModel", "Resource": f"{_MODELS}amazon.rerank-v1:0"},
    ]


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("index_arn", "chunks", "arn:aws:s3vectors:"),
        ("index_arn", ARN.removesuffix("/index/chunks"), "arn:aws:s3vectors:"),
        ("index_arn", f"{ARN}*", "arn:aws:s3vectors:"),
        ("source_key", "s" * 64, "at most 63 characters"),
        ("tenancy", "tenant", "one of shared, user"),
        ("tenant_key", "k" * 101, "at most 100 characters"),
        ("tenant_key", "x-amz-bedrock-kb-data-source-id", "not x-amz-bedrock..."),
        ("embedding_dimensions", 768, "one of 256, 512, 1024"),
        ("reranking", "amazon.rerank-v1:0", "a Reranking"),
        ("retrieval_filter", {"stringContains": {"key": "a", "value": "b"}}, "S3 Vectors"),
    ],
)
def test_an_error_names_the_argument_and_what_is_allowed(
    stack: cdk.Stack, argument: str, value: Any, allowed: str
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        of_parts(stack, **{argument: value})

    assert str(raised.value).startswith(f"Stack/Parts: {argument} ")
    assert allowed in str(raised.value)


def test_what_retrieve_alone_tells_a_reranking_model_is_refused(stack: cdk.Stack) -> None:
    chosen = Reranking(model="amazon.rerank-v1:0", fields_to_include=("title",))

    with pytest.raises(InvalidArgument, match=r"reranking\.fields_to_include \('title',\)"):
        of_parts(stack, reranking=chosen)


def test_the_index_of_a_knowledge_base_that_is_made_is_searched_as_that_is(
    stack: cdk.Stack,
) -> None:
    handbook = made(
        stack,
        number_of_results=9,
        enable_acl=True,
        acl_metadata_field="readers",
        retrieval_filter={"equals": {"key": "lang", "value": "en"}},
        guardrail_id="gr123",
        min_score=0.25,
    )

    direct = VectorIndexKnowledgeBase.of(handbook, tenancy="user")

    told = {**handbook.export_configuration(), "vectorStoreType": "S3_VECTORS_DIRECT"}
    exported = direct.export_configuration()
    assert handbook.created is not None
    assert handbook.created.index is not None
    assert {name: exported.get(name) for name in told} == told
    assert {name: exported[name] for name in exported if name not in told} == {
        "tenancy": "user",
        "tenantKey": "user_id",
        "embeddingModel": "amazon.titan-embed-text-v2:0",
        "embeddingDimensions": 256,
        "indexArn": handbook.created.index.attr_index_arn,
        "textKey": "AMAZON_BEDROCK_TEXT",
        "sourceKey": "x-amz-bedrock-kb-source-uri",
    }


def test_what_has_no_index_of_its_own_making_can_not_be_searched_in_it(stack: cdk.Stack) -> None:
    existing = BedrockKnowledgeBase(stack, "Existing", knowledge_base_id="ABCDE12345")
    managed = made(stack, "Managed", vector_store_type="MANAGED", creation={"dimensions": 1024})
    foreign = made(
        stack, "Foreign", creation={"embedding_model": "cohere.embed-v4:0", "dimensions": 1536}
    )

    for each in (existing, managed, "Handbook"):
        with pytest.raises(InvalidArgument, match="made with S3_VECTORS, by `create`"):
            VectorIndexKnowledgeBase.of(each, tenancy="shared")  # type: ignore[arg-type]  # one is none
    with pytest.raises(InvalidArgument, match=r"embedding_model 'cohere\.embed-v4:0' must be"):
        VectorIndexKnowledgeBase.of(foreign, tenancy="shared")
