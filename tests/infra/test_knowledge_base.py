"""The pool of knowledge bases; how one is made at all is shown by tests/constructs."""

import json

from stackroom.model import CatalogDataSources, PoolMember
from tests.infra.assembly import Assembly

STACK = "knowledge-base"


def test_a_knowledge_base_keeps_vectors_of_one_model_in_its_own_index(assembly: Assembly) -> None:
    knowledge_base = assembly.one(STACK, "AWS::Bedrock::KnowledgeBase").properties
    index = assembly.one(STACK, "AWS::S3Vectors::Index").properties

    vectors = knowledge_base["KnowledgeBaseConfiguration"]["VectorKnowledgeBaseConfiguration"]
    embedding = vectors["EmbeddingModelConfiguration"]["BedrockEmbeddingModelConfiguration"]

    assert embedding["Dimensions"] == index["Dimension"] == 1024
    assert vectors["EmbeddingModelArn"].endswith("::foundation-model/amazon.titan-embed-text-v2:0")
    assert knowledge_base["Tags"] == {"mcp-multirag-kb": "true"}
    assert index["MetadataConfiguration"] == {
        "NonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]
    }


def test_the_shared_data_source_takes_documents_directly_and_its_vectors_along(
    assembly: Assembly,
) -> None:
    source = assembly.one(STACK, "AWS::Bedrock::DataSource").properties

    assert source == {
        "KnowledgeBaseId": "KnowledgeBase1.KnowledgeBaseId",
        "Name": "shared",
        "Description": "Documents of catalogs without a data source of their own.",
        "DataSourceConfiguration": {"Type": "CUSTOM"},
        "DataDeletionPolicy": "DELETE",
    }


def test_only_bedrock_on_behalf_of_this_account_takes_the_role(assembly: Assembly) -> None:
    role = assembly.one(STACK, "AWS::IAM::Role", "Role1").properties

    [trust] = role["AssumeRolePolicyDocument"]["Statement"]

    assert trust["Principal"] == {"Service": "bedrock.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "{account}"},
        "ArnLike": {"aws:SourceArn": "arn:aws:bedrock:{region}:{account}:knowledge-base/*"},
    }


def test_a_role_embeds_reads_documents_of_this_account_and_fills_its_index(
    assembly: Assembly,
) -> None:
    role = assembly.one(STACK, "AWS::IAM::Role", "Role1").properties
    here = {"StringEquals": {"aws:ResourceAccount": "{account}"}}

    [policy] = role["Policies"]

    # Another name is another policy to CloudFormation, beside the one that is deployed.
    assert policy["PolicyName"] == "Ingestion"
    assert [
        (each["Action"], each["Resource"], each.get("Condition"))
        for each in policy["PolicyDocument"]["Statement"]
    ] == [
        (
            "bedrock:InvokeModel",
            "arn:aws:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0",
            None,
        ),
        ("s3:ListBucket", "arn:aws:s3:::stackroom-kb-docs-{account}-{region}", here),
        ("s3:GetObject", "arn:aws:s3:::stackroom-kb-docs-{account}-{region}/*", here),
        (
            [
                "s3vectors:DeleteVectors",
                "s3vectors:GetIndex",
                "s3vectors:GetVectors",
                "s3vectors:PutVectors",
                "s3vectors:QueryVectors",
            ],
            "arn:aws:s3vectors:{region}:{account}:index/Index1",
            None,
        ),
    ]


def test_the_pool_says_what_catalogs_get_there_where_that_is_no_default(
    assembly: Assembly, otherwise: Assembly
) -> None:
    of_default, *_ = json.loads(assembly.variables("ingest")["KB_POOL"])
    told = json.loads(otherwise.variables("ingest")["KB_POOL"])

    members = [PoolMember.model_validate(each) for each in told]

    assert [each.catalog_data_sources for each in members] == [CatalogDataSources.S3] * 2
    assert "catalog_data_sources" not in of_default


def test_retained_resources_keep_the_ids_that_deployed_stacks_know(otherwise: Assembly) -> None:
    # Another id is another resource to CloudFormation: it would make a new knowledge base, and fail
    # on its name. Whoever changes these ids breaks every deployed stack.
    retained = {
        each.logical_id: each.type
        for each in otherwise.all(STACK)
        if each.raw.get("DeletionPolicy") == "Retain" and not each.type.startswith("Custom::")
    }

    assert retained == {
        "Vectors": "AWS::S3Vectors::VectorBucket",
        "Index1": "AWS::S3Vectors::Index",
        "Role13A5C70C1": "AWS::IAM::Role",
        "KnowledgeBase1": "AWS::Bedrock::KnowledgeBase",
        "SharedDataSource1": "AWS::Bedrock::DataSource",
        "Index2": "AWS::S3Vectors::Index",
        "Role291939BC6": "AWS::IAM::Role",
        "KnowledgeBase2": "AWS::Bedrock::KnowledgeBase",
        "SharedDataSource2": "AWS::Bedrock::DataSource",
    }


def test_a_larger_pool_has_an_index_and_a_name_each(otherwise: Assembly) -> None:
    pool = otherwise.all(STACK, "AWS::Bedrock::KnowledgeBase")
    shared = otherwise.all(STACK, "AWS::Bedrock::DataSource")

    indexes = {
        each.properties["StorageConfiguration"]["S3VectorsConfiguration"]["IndexArn"]
        for each in pool
    }

    assert [each.properties["Name"] for each in pool] == ["docs-1", "docs-2"]
    assert len(indexes) == 2
    assert len({each.properties["KnowledgeBaseId"] for each in shared}) == 2
