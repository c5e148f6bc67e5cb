"""Created knowledge bases: their index, data source and role, in every store."""

from typing import Any

from simulator.tests.world import NON_FILTERABLE
from tests.infra.assembly import KEPT, Assembly, as_list
from tests.infra.rules import rule_violations, unknown_values

BUCKET = "arn:aws:s3:::documents-of-somebody"
TITAN = "arn:aws:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0"


def source(created: Assembly, stack: str, name: str) -> dict[str, Any]:
    return created.one(stack, "AWS::Bedrock::DataSource", f"{name}DataSource").properties


def rights(created: Assembly, stack: str, name: str) -> dict[str, Any]:
    """Return the service role's rights: ARNs by action."""
    role = created.one(stack, "AWS::IAM::Role", f"{name}Role").properties
    [policy] = role["Policies"]
    return {
        action: each["Resource"]
        for each in policy["PolicyDocument"]["Statement"]
        for action in as_list(each["Action"])
    }


def chunking(created: Assembly, name: str) -> dict[str, Any]:
    found: dict[str, Any] = source(created, "others", name)["VectorIngestionConfiguration"]
    return found["ChunkingConfiguration"]  # type: ignore[no-any-return]


def test_created_knowledge_base_has_an_index_in_its_own_bucket(created: Assembly) -> None:
    index = created.one("defaults", "AWS::S3Vectors::Index")
    bucket = created.one("defaults", "AWS::S3Vectors::VectorBucket").logical_id
    made = created.one("defaults", "AWS::Bedrock::KnowledgeBase").properties

    properties = index.properties
    stored = made["StorageConfiguration"]["S3VectorsConfiguration"]

    assert properties["VectorBucketArn"].endswith(f":bucket/{bucket}")
    assert (properties["Dimension"], properties["DistanceMetric"]) == (1024, "cosine")
    # Bedrock's own keys, which may hold more than filterable metadata allows.
    assert properties["MetadataConfiguration"] == {"NonFilterableMetadataKeys": NON_FILTERABLE}
    assert stored["IndexArn"].endswith(f":bucket/{bucket}/index/{index.logical_id}")
    assert made["Description"] == "The knowledge base Handbook."


def test_created_knowledge_bases_have_the_tag_for_the_mcp_server(created: Assembly) -> None:
    tags = [
        base.properties["Tags"]
        for stack in ("defaults", "others", "stores")
        for base in created.all(stack, "AWS::Bedrock::KnowledgeBase")
    ]

    assert len(tags) > 5
    assert all(each["mcp-multirag-kb"] == "true" for each in tags)


def test_created_base_reads_below_its_prefix_and_may_fill_its_index(
    created: Assembly,
) -> None:
    found = source(created, "defaults", "Handbook")
    [index] = created.all("defaults", "AWS::S3Vectors::Index")
    filled = f"{index.properties['VectorBucketArn']}/index/{index.logical_id}"

    assert found["DataSourceConfiguration"] == {
        "Type": "S3",
        "S3Configuration": {"BucketArn": BUCKET, "InclusionPrefixes": ["handbook/"]},
    }
    assert found["VectorIngestionConfiguration"] == {
        "ChunkingConfiguration": {
            "ChunkingStrategy": "FIXED_SIZE",
            "FixedSizeChunkingConfiguration": {"MaxTokens": 300, "OverlapPercentage": 20},
        }
    }
    assert (found["Name"], found["DataDeletionPolicy"]) == ("documents", "DELETE")
    on_vectors = ("Delete", "Get", "List", "Put", "Query")
    assert rights(created, "defaults", "Handbook") == {
        "bedrock:InvokeModel": TITAN,
        "s3:ListBucket": BUCKET,
        "s3:GetObject": f"{BUCKET}/handbook/*",
        "s3vectors:GetIndex": filled,
        **{f"s3vectors:{does}Vectors": filled for does in on_vectors},
    }


def test_created_base_is_retained_by_default_and_depends_on_role_and_index(
    created: Assembly,
) -> None:
    synthesise_once = {each.raw["DeletionPolicy"] for each in created.all("defaults")}
    gone = [
        each.raw["DeletionPolicy"]
        for each in created.all("stores")
        if each.logical_id.startswith("Managed") and "OfTitan" not in each.logical_id
    ]
    role = created.one("defaults", "AWS::IAM::Role")
    index = created.one("defaults", "AWS::S3Vectors::Index")

    assert (synthesise_once, gone) == ({KEPT}, ["Delete"] * 3)
    for each in ("AWS::Bedrock::KnowledgeBase", "AWS::Bedrock::DataSource"):
        needed = created.one("defaults", each).raw["DependsOn"]
        assert {role.logical_id, index.logical_id} <= set(needed)


def test_chunking_is_configured_and_hierarchical_adds_a_warning(
    created: Assembly,
) -> None:
    assert chunking(created, "Hierarchical") == {
        "ChunkingStrategy": "HIERARCHICAL",
        "HierarchicalChunkingConfiguration": {
            "LevelConfigurations": [{"MaxTokens": 1500}, {"MaxTokens": 300}],
            "OverlapTokens": 60,
        },
    }
    assert chunking(created, "Semantic") == {
        "ChunkingStrategy": "SEMANTIC",
        "SemanticChunkingConfiguration": {
            "MaxTokens": 500,
            "BufferSize": 0,
            "BreakpointPercentileThreshold": 95,
        },
    }
    assert chunking(created, "Whole") == {"ChunkingStrategy": "NONE"}
    assert "VectorIngestionConfiguration" not in source(created, "others", "Plain")
    assert source(created, "others", "Whole")["DataSourceConfiguration"] == {"Type": "CUSTOM"}
    warnings = "".join(
        path.read_text("utf-8") for path in created.directory.glob("*.metadata.json")
    )
    assert warnings.count("stackroom:hierarchical-chunks") == 1  # none for the RDS table


def test_data_automation_needs_its_project_and_profile(created: Assembly) -> None:
    found = source(created, "others", "Automated")["VectorIngestionConfiguration"]
    allowed = rights(created, "others", "Automated")

    assert found["ParsingConfiguration"] == {"ParsingStrategy": "BEDROCK_DATA_AUTOMATION"}
    assert allowed["bedrock:InvokeDataAutomationAsync"] == [
        "arn:aws:bedrock:{region}:aws:data-automation-project/public-rag-default",
        "arn:aws:bedrock:*:{account}:data-automation-profile/*.data-automation-v1",
    ]
    assert allowed["bedrock:GetDataAutomationStatus"] == (
        "arn:aws:bedrock:{region}:{account}:data-automation-invocation/*"
    )


def test_parsing_model_is_invoked_through_its_profile(created: Assembly) -> None:
    found = source(created, "others", "Read")["VectorIngestionConfiguration"][
        "ParsingConfiguration"
    ]
    allowed = rights(created, "others", "Read")

    profile = (
        "arn:aws:bedrock:{region}:{account}:inference-profile/"
        "eu.anthropic.claude-haiku-4-5-20251001-v1:0"
    )
    assert found == {
        "ParsingStrategy": "BEDROCK_FOUNDATION_MODEL",
        "BedrockFoundationModelConfiguration": {
            "ModelArn": profile,
            "ParsingPrompt": {"ParsingPromptText": "Write down everything."},
        },
    }
    assert allowed["bedrock:GetInferenceProfile"] == profile


def test_created_knowledge_bases_use_the_named_collection_and_table(created: Assembly) -> None:
    collection, table = (
        created.one("stores", "AWS::Bedrock::KnowledgeBase", name).properties
        for name in ("Collection", "Table")
    )
    of_collection, of_table = (rights(created, "stores", name) for name in ("Collection", "Table"))

    stored = collection["StorageConfiguration"]
    assert collection["Name"] == "in-a-collection"
    assert stored["Type"] == "OPENSEARCH_SERVERLESS"
    assert stored["OpensearchServerlessConfiguration"]["VectorIndexName"] == "chunks"
    assert stored["OpensearchServerlessConfiguration"]["FieldMapping"] == {
        "VectorField": "bedrock-knowledge-base-default-vector",
        "TextField": "AMAZON_BEDROCK_TEXT",
        "MetadataField": "AMAZON_BEDROCK_METADATA",
    }
    assert of_collection["aoss:APIAccessAll"].endswith(":collection/abcdefghij0123456789")
    assert not [action for action in of_collection if action.startswith("s3vectors:")]
    rds = table["StorageConfiguration"]["RdsConfiguration"]
    assert rds["FieldMapping"] == {
        "PrimaryKeyField": "id",
        "VectorField": "embedding",
        "TextField": "chunks",
        "MetadataField": "metadata",
        "CustomMetadataField": "attributes",
    }
    for action in ("rds-data:ExecuteStatement", "rds:DescribeDBClusters"):
        assert of_table[action] == rds["ResourceArn"]
    assert of_table["secretsmanager:GetSecretValue"] == rds["CredentialsSecretArn"]


def test_managed_knowledge_base_has_a_connector_and_no_store(created: Assembly) -> None:
    made = created.one("stores", "AWS::Bedrock::KnowledgeBase", "ManagedOfTitan").properties
    found = source(created, "stores", "ManagedOfTitan")

    assert made["KnowledgeBaseConfiguration"] == {
        "Type": "MANAGED",
        "ManagedKnowledgeBaseConfiguration": {
            "EmbeddingModelType": "CUSTOM",
            "EmbeddingModelArn": TITAN,
            "EmbeddingModelConfiguration": {
                "BedrockEmbeddingModelConfiguration": {
                    "Dimensions": 1024,
                    "EmbeddingDataType": "FLOAT32",
                }
            },
        },
    }
    assert "StorageConfiguration" not in made
    assert found["DataSourceConfiguration"] == {
        "Type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        "ManagedKnowledgeBaseConnectorConfiguration": {
            "ConnectorParameters": {
                "type": "S3",
                "version": "1",
                "connectionConfiguration": {
                    "bucketName": "documents-of-somebody",
                    "bucketOwnerAccountId": "{account}",
                },
                "filterConfiguration": {"inclusionPrefixes": ["handbook/"]},
            },
            "DeletionProtectionConfiguration": {"DeletionProtectionStatus": "DISABLED"},
        },
    }
    assert found["VectorIngestionConfiguration"]["ChunkingConfiguration"]


def test_service_role_may_rerank_and_derive_filters(created: Assembly) -> None:
    allowed = rights(created, "models", "Ranked")
    role = created.one("models", "AWS::IAM::Role", "RankedRole").properties

    [policy] = role["Policies"]
    invoked = [
        each["Resource"]
        for each in policy["PolicyDocument"]["Statement"]
        if each["Action"] == "bedrock:InvokeModel"
    ]

    assert allowed["bedrock:Rerank"] == "*"
    assert allowed["kms:Decrypt"].endswith(".Arn")
    assert str(invoked).count("foundation-model/") == 3  # embeds, ranks, filters
    assert "amazon.rerank-v1:0" in str(invoked)


def test_created_templates_break_no_rule_and_name_no_unknown_action(
    created: Assembly,
) -> None:
    assert (rule_violations(created), unknown_values(created)) == ([], [])
