import json
import re
from pathlib import Path

from infra.app import build_app
from stackroom.model import CatalogDataSources, PoolMember
from tests.infra.assembly import Assembly


def test_a_knowledge_base_keeps_titan_vectors_in_its_own_index(assembly: Assembly) -> None:
    knowledge_base = assembly.one("knowledge-base", "AWS::Bedrock::KnowledgeBase").properties
    index = assembly.one("knowledge-base", "AWS::S3Vectors::Index").properties

    vectors = knowledge_base["KnowledgeBaseConfiguration"]["VectorKnowledgeBaseConfiguration"]
    embedding = vectors["EmbeddingModelConfiguration"]["BedrockEmbeddingModelConfiguration"]

    assert embedding["Dimensions"] == index["Dimension"] == 1024
    assert vectors["EmbeddingModelArn"].endswith("::foundation-model/amazon.titan-embed-text-v2:0")
    assert (index["DataType"], index["DistanceMetric"]) == ("float32", "cosine")
    assert knowledge_base["StorageConfiguration"] == {
        "Type": "S3_VECTORS",
        "S3VectorsConfiguration": {"IndexArn": "arn:aws:s3vectors:{region}:{account}:index/Index1"},
    }


def test_a_knowledge_base_carries_the_tag_by_which_an_mcp_server_finds_it(
    assembly: Assembly,
) -> None:
    knowledge_base = assembly.one("knowledge-base", "AWS::Bedrock::KnowledgeBase").properties

    assert knowledge_base["Tags"] == {"mcp-multirag-kb": "true"}


def test_bedrocks_long_metadata_is_not_filterable(assembly: Assembly) -> None:
    index = assembly.one("knowledge-base", "AWS::S3Vectors::Index").properties

    assert index["MetadataConfiguration"] == {
        "NonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]
    }


def test_a_knowledge_base_comes_after_its_role_and_index_and_goes_before_them(
    assembly: Assembly,
) -> None:
    knowledge_base = assembly.one("knowledge-base", "AWS::Bedrock::KnowledgeBase")
    role = assembly.one("knowledge-base", "AWS::IAM::Role", "Role1")
    index = assembly.one("knowledge-base", "AWS::S3Vectors::Index")

    assert {role.logical_id, index.logical_id} <= set(knowledge_base.raw["DependsOn"])
    assert "Policies" in role.properties


def test_the_shared_data_source_takes_documents_directly_and_its_vectors_along(
    assembly: Assembly,
) -> None:
    source = assembly.one("knowledge-base", "AWS::Bedrock::DataSource").properties

    assert source == {
        "KnowledgeBaseId": "KnowledgeBase1.KnowledgeBaseId",
        "Name": "shared",
        "Description": "Documents of catalogs without a data source of their own.",
        "DataSourceConfiguration": {"Type": "CUSTOM"},
        "DataDeletionPolicy": "DELETE",
    }


def test_the_shared_data_source_goes_before_the_role_and_index_that_its_deletion_needs(
    assembly: Assembly,
) -> None:
    source = assembly.one("knowledge-base", "AWS::Bedrock::DataSource")
    role = assembly.one("knowledge-base", "AWS::IAM::Role", "Role1")
    index = assembly.one("knowledge-base", "AWS::S3Vectors::Index")

    assert {role.logical_id, index.logical_id} <= set(source.raw["DependsOn"])


def test_only_bedrock_on_behalf_of_this_account_takes_the_role(assembly: Assembly) -> None:
    role = assembly.one("knowledge-base", "AWS::IAM::Role", "Role1").properties

    [trust] = role["AssumeRolePolicyDocument"]["Statement"]

    assert trust["Principal"] == {"Service": "bedrock.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "{account}"},
        "ArnLike": {"aws:SourceArn": "arn:aws:bedrock:{region}:{account}:knowledge-base/*"},
    }


def test_the_pool_says_what_catalogs_get_there_where_that_is_no_default(tmp_path: Path) -> None:
    build_app(str(tmp_path), {"catalog_data_sources": "s3"}).synth()
    [ingest] = [
        each.properties["Environment"]["Variables"]
        for each in Assembly(tmp_path).all("pipeline", "AWS::Lambda::Function")
        if each.properties["FunctionName"] == "stackroom-ingest"
    ]

    [member] = [PoolMember.model_validate(each) for each in json.loads(ingest["KB_POOL"])]

    assert member.catalog_data_sources is CatalogDataSources.S3


def test_retained_resources_keep_the_ids_that_deployed_stacks_know(tmp_path: Path) -> None:
    # Another id is another resource to CloudFormation: it would make a new knowledge base, and fail
    # on its name. Whoever changes these ids breaks every deployed stack.
    build_app(str(tmp_path), {"knowledge_base_pool_size": 2}).synth()
    written = Assembly(tmp_path)

    retained = {
        each.logical_id: each.type
        for each in written.all("knowledge-base")
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


def test_the_role_of_a_knowledge_base_may_what_it_always_could(assembly: Assembly) -> None:
    role = assembly.one("knowledge-base", "AWS::IAM::Role", "Role1").properties
    here = {"StringEquals": {"aws:ResourceAccount": "{account}"}}

    [policy] = role["Policies"]

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


def test_a_larger_pool_has_an_index_and_a_legal_name_each(tmp_path: Path) -> None:
    app = build_app(str(tmp_path), {"knowledge_base_pool_size": 3, "project": "docs"})
    app.synth()
    written = Assembly(tmp_path, "docs")

    pool = written.all("knowledge-base", "AWS::Bedrock::KnowledgeBase")
    shared = written.all("knowledge-base", "AWS::Bedrock::DataSource")

    names = [each.properties["Name"] for each in pool]
    indexes = {
        each.properties["StorageConfiguration"]["S3VectorsConfiguration"]["IndexArn"]
        for each in pool
    }
    assert names == ["docs-1", "docs-2", "docs-3"]
    assert len(indexes) == 3
    assert len({each.properties["KnowledgeBaseId"] for each in shared}) == 3
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_CreateKnowledgeBase.html
    assert all(re.fullmatch(r"([0-9a-zA-Z][_-]?){1,100}", name) for name in names)
