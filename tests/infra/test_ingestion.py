"""How documents are cut and read, as the context says: told to Bedrock and to functions."""

import json

import pytest

from stackroom_constructs.ingestion import in_cloudformation
from tests.infra.assembly import Assembly
from tests.infra.synthesis import NOVA, deployment


@pytest.fixture
def hierarchical() -> Assembly:
    return deployment("hierarchical")


def test_by_default_nothing_is_said_of_chunks(assembly: Assembly) -> None:
    source = assembly.one("knowledge-base", "AWS::Bedrock::DataSource").properties

    assert "VectorIngestionConfiguration" not in source
    assert "VECTOR_INGESTION" not in assembly.variables("ingest")
    assert "PARSES_IMAGES" not in assembly.variables("inspect")


def test_a_bar_holds_for_the_chunks_that_it_was_measured_with(
    assembly: Assembly, hierarchical: Assembly
) -> None:
    by_default, with_others = (
        each.variables("retrieve")["RETRIEVE_CALIBRATION"] for each in (assembly, hierarchical)
    )

    assert (by_default, with_others) == ("titan-v2-english", "none")


def test_catalogs_own_data_sources_are_as_the_shared_one(hierarchical: Assembly) -> None:
    source = hierarchical.one("knowledge-base", "AWS::Bedrock::DataSource").properties

    told = json.loads(hierarchical.variables("ingest")["VECTOR_INGESTION"])

    assert in_cloudformation(told) == source["VectorIngestionConfiguration"]
    assert told == {
        "chunkingConfiguration": {
            "chunkingStrategy": "HIERARCHICAL",
            "hierarchicalChunkingConfiguration": {
                "levelConfigurations": [{"maxTokens": 2000}, {"maxTokens": 200}],
                "overlapTokens": 40,
            },
        },
        "parsingConfiguration": {
            "parsingStrategy": "BEDROCK_FOUNDATION_MODEL",
            "bedrockFoundationModelConfiguration": {
                "modelArn": f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA}"
            },
        },
    }


def test_where_pictures_are_read_a_pdf_needs_no_text(hierarchical: Assembly) -> None:
    assert hierarchical.variables("inspect")["PARSES_IMAGES"] == "true"


def test_the_knowledge_bases_may_ask_the_model_that_reads(hierarchical: Assembly) -> None:
    role = hierarchical.one("knowledge-base", "AWS::IAM::Role", "Role1").properties

    [policy] = role["Policies"]
    [invoke] = [
        each
        for each in policy["PolicyDocument"]["Statement"]
        if each["Action"] == "bedrock:InvokeModel"
    ]

    assert set(invoke["Resource"]) == {
        f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA}",
        "arn:aws:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0",
    }


def test_chunks_of_one_size_are_as_large_as_was_said(otherwise: Assembly) -> None:
    told = json.loads(otherwise.variables("ingest")["VECTOR_INGESTION"])

    assert told == {
        "chunkingConfiguration": {
            "chunkingStrategy": "FIXED_SIZE",
            "fixedSizeChunkingConfiguration": {"maxTokens": 500, "overlapPercentage": 10},
        }
    }
    assert "PARSES_IMAGES" not in otherwise.variables("inspect")
