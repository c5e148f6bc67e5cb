"""An app with a stack for each way to create a knowledge base."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm

from stackroom_constructs import (
    BedrockKnowledgeBase,
    ImplicitFilter,
    KnowledgeBaseCreation,
    MetadataAttribute,
    OpenSearchServerlessStore,
    RdsStore,
    Reranking,
)

CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"


def make_all(app: cdk.App) -> None:
    of_defaults(cdk.Stack(app, "made-defaults"), reader=cdk.Stack(app, "made-reader"))
    others = cdk.Stack(app, "made-others")
    bucket = documents(others)
    for name, create in {
        "Hierarchical": KnowledgeBaseCreation(
            bucket=bucket, prefix="papers/", chunking="hierarchical", index_name="papers"
        ),
        "Semantic": KnowledgeBaseCreation(bucket=bucket, chunking="semantic", max_tokens=500),
        "Whole": KnowledgeBaseCreation(bucket=bucket, chunking="none", data_source_type="CUSTOM"),
        "Plain": KnowledgeBaseCreation(bucket=bucket, chunking="default"),
        "Automated": KnowledgeBaseCreation(bucket=bucket, parsing="bedrock_data_automation"),
        "Read": KnowledgeBaseCreation(
            bucket=bucket,
            parsing="foundation_model",
            parsing_model=f"eu.{CLAUDE}",
            parsing_prompt="Write down everything.",
        ),
    }.items():
        BedrockKnowledgeBase(others, name, create=create)
    with_stores(cdk.Stack(app, "made-stores"))
    with_models(cdk.Stack(app, "made-models"))


def documents(stack: cdk.Stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "Documents", "documents-of-somebody")


def of_defaults(stack: cdk.Stack, *, reader: cdk.Stack) -> None:
    """Create the defaults; `reader` is another stack that refers to them."""
    made = BedrockKnowledgeBase(
        stack,
        "Handbook",
        create=KnowledgeBaseCreation(bucket=documents(stack), prefix="handbook/"),
        enable_acl=True,
    )
    cdk.CfnOutput(stack, "Id", value=made.knowledge_base_id)
    cdk.CfnOutput(stack, "Arn", value=made.knowledge_base_arn)
    cdk.CfnOutput(stack, "Source", value=made.data_source_id)
    ssm.StringParameter(reader, "Read", string_value=made.knowledge_base_arn)


def with_stores(stack: cdk.Stack) -> None:
    bucket = documents(stack)
    BedrockKnowledgeBase(
        stack,
        "Collection",
        name="in-a-collection",
        vector_store_type="OPENSEARCH_SERVERLESS",
        create=KnowledgeBaseCreation(
            bucket=bucket,
            store=OpenSearchServerlessStore(
                collection_arn="arn:aws:aoss:us-east-1:123456789012:collection/abcdefghij0123456789",
                index_name="chunks",
            ),
        ),
    )
    BedrockKnowledgeBase(
        stack,
        "Table",
        vector_store_type="RDS",
        create=KnowledgeBaseCreation(
            bucket=bucket,
            chunking="hierarchical",
            parent_tokens=8192,
            store=RdsStore(
                cluster_arn="arn:aws:rds:us-east-1:123456789012:cluster:documents",
                secret_arn="arn:aws:secretsmanager:us-east-1:123456789012:secret:documents-abcdef",
                database_name="documents",
                table_name="bedrock_chunks",
                custom_metadata_field="attributes",
            ),
        ),
    )
    for name, create in {
        "ManagedOfTitan": KnowledgeBaseCreation(bucket=bucket, prefix="handbook/"),
        "Managed": KnowledgeBaseCreation(
            bucket=bucket,
            data_source_type="CUSTOM",
            embedding_model="managed",
            removal_policy=cdk.RemovalPolicy.DESTROY,
        ),
    }.items():
        BedrockKnowledgeBase(stack, name, vector_store_type="MANAGED", create=create)


def with_models(stack: cdk.Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    bucket = s3.Bucket.from_bucket_attributes(
        stack, "Documents", bucket_name="documents-of-somebody", encryption_key=key
    )
    BedrockKnowledgeBase(
        stack,
        "Ranked",
        create=KnowledgeBaseCreation(bucket=bucket, dimensions=256),
        reranking=Reranking(model="amazon.rerank-v1:0"),
        implicit_filter=ImplicitFilter(
            model=CLAUDE,
            attributes=(MetadataAttribute(key="year", type="NUMBER", description="Of issue."),),
        ),
    )
