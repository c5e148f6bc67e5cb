"""
The pool of knowledge bases: indexes, chunking and parsing; tests/constructs covers their creation.
"""

import json
from typing import Any

import boto3
import pytest

from infra.bundling import SERVICES
from infra.deployment import _LANGUAGES
from stackroom_constructs.created_knowledge_base import in_cloudformation
from tests.infra.assembly import KEPT, Assembly
from tests.infra.synthesis import NOVA, deployment

STACK = "knowledge-base"
SEARCH_INDEX = "Custom::SearchIndex"
TITAN = "arn:aws:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0"


@pytest.fixture
def hierarchical() -> Assembly:
    return deployment("hierarchical")


def test_retained_resources_keep_their_logical_ids(customised: Assembly) -> None:
    # CloudFormation treats another id as another resource: it would create a new knowledge base,
    # and
    # fail on its name. Changing these ids breaks every deployed stack.
    retained = {
        each.logical_id: each.type
        for each in customised.all(STACK)
        if each.raw.get("DeletionPolicy") == KEPT and not each.type.startswith("Custom::")
    }

    assert retained == {
        "Vectors": "AWS::S3Vectors::VectorBucket",
        "VectorsPolicy": "AWS::S3Vectors::VectorBucketPolicy",
        "Index1": "AWS::S3Vectors::Index",
        "Role13A5C70C1": "AWS::IAM::Role",
        "KnowledgeBase1": "AWS::Bedrock::KnowledgeBase",
        "SharedDataSource1": "AWS::Bedrock::DataSource",
        "Index2": "AWS::S3Vectors::Index",
        "Role291939BC6": "AWS::IAM::Role",
        "KnowledgeBase2": "AWS::Bedrock::KnowledgeBase",
        "SharedDataSource2": "AWS::Bedrock::DataSource",
    }


def test_search_index_function_prepares_each_index_of_the_pool(
    assembly: Assembly, customised: Assembly
) -> None:
    made = assembly.one(STACK, SEARCH_INDEX)
    function = assembly.one(STACK, "AWS::Lambda::Function")
    policy = assembly.one(STACK, "AWS::IAM::Policy", "SearchIndexFunction")
    of_others = [each.properties for each in customised.all(STACK, SEARCH_INDEX)]

    assert made.properties["ServiceToken"].endswith(":function:stackroom-search-index")
    assert made.properties["IndexArn"].endswith("/index/Index1")
    assert made.properties["Language"] == "en"
    assert made.raw["DeletionPolicy"] == KEPT
    assert assembly.outputs(STACK)["SearchByWords"] == f"{made.logical_id}.State"
    assert policy.logical_id in function.raw["DependsOn"]  # the rights exist before the first call
    # CloudFormation invokes it asynchronously, and Lambda invokes it again if it failed.
    assert 2 * function.properties["Timeout"] <= int(made.properties["ServiceTimeout"])
    assert [(each["IndexArn"].rpartition("/")[2], each["Language"]) for each in of_others] == [
        ("Index1", "none"),
        ("Index2", "none"),
    ]
    text = json.dumps(customised.template(STACK))
    assert text.count("s3vectors:UpdateMetadataConfiguration") == 1  # one statement, both indexes


def test_languages_are_those_of_s3_vectors() -> None:
    client: Any = boto3.client(
        "s3vectors",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )

    known = client.meta.service_model.shape_for("LanguageCode").enum

    assert set(_LANGUAGES) == {*known, "none"}
    assert "s3vectors" in SERVICES


def test_catalogs_data_sources_ingest_like_the_shared_one(
    hierarchical: Assembly, customised: Assembly
) -> None:
    for each, strategy in ((hierarchical, "HIERARCHICAL"), (customised, "FIXED_SIZE")):
        source = each.all(STACK, "AWS::Bedrock::DataSource")[0].properties
        ingestion = json.loads(each.variables("ingest")["VECTOR_INGESTION"])

        assert ingestion["chunkingConfiguration"]["chunkingStrategy"] == strategy
        assert in_cloudformation(ingestion) == source["VectorIngestionConfiguration"]

    ingestion = json.loads(hierarchical.variables("ingest")["VECTOR_INGESTION"])
    assert ingestion["chunkingConfiguration"]["hierarchicalChunkingConfiguration"] == {
        "levelConfigurations": [{"maxTokens": 2000}, {"maxTokens": 200}],
        "overlapTokens": 40,
    }


def test_parsing_model_is_granted_and_allows_pdfs_without_text(
    assembly: Assembly, customised: Assembly, hierarchical: Assembly
) -> None:
    role = hierarchical.one(STACK, "AWS::IAM::Role", "Role1").properties
    ingestion = json.loads(hierarchical.variables("ingest")["VECTOR_INGESTION"])

    [policy] = role["Policies"]
    [invoke] = [
        each
        for each in policy["PolicyDocument"]["Statement"]
        if each["Action"] == "bedrock:InvokeModel"
    ]

    reads = f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA}"
    parsing = ingestion["parsingConfiguration"]["bedrockFoundationModelConfiguration"]
    assert parsing == {"modelArn": reads}
    assert set(invoke["Resource"]) == {reads, TITAN}
    assert hierarchical.variables("inspect")["PARSES_IMAGES"] == "true"
    for each in (assembly, customised):
        assert "PARSES_IMAGES" not in each.variables("inspect")
