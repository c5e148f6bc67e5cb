import json
from pathlib import Path
from typing import Any

import pytest

from infra.app import build_app
from stackroom_constructs.ingestion import in_cloudformation
from tests.infra.assembly import Assembly

NOVA = "amazon.nova-lite-v1:0"


@pytest.fixture(scope="module")
def hierarchical(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Two levels of chunks, and a model that reads pictures."""
    return synthesised(
        tmp_path_factory.mktemp("hierarchical"),
        chunking="hierarchical",
        chunk_tokens="2000,200",
        chunk_overlap="40",
        parsing="foundation_model",
        parsing_model=NOVA,
        retrieve_via="bedrock",
    )


def synthesised(directory: Path, **context: object) -> Assembly:
    build_app(str(directory), context).synth()
    return Assembly(directory)


def variables(assembly: Assembly, function: str) -> dict[str, Any]:
    found: dict[str, Any] = assembly.one("pipeline", "AWS::Lambda::Function", function).properties
    return found["Environment"]["Variables"]  # type: ignore[no-any-return]


def test_by_default_nothing_is_said_of_chunks(assembly: Assembly) -> None:
    source = assembly.one("knowledge-base", "AWS::Bedrock::DataSource").properties

    assert "VectorIngestionConfiguration" not in source
    assert "VECTOR_INGESTION" not in variables(assembly, "Ingest")
    assert "PARSES_IMAGES" not in variables(assembly, "Inspect")


def test_a_bar_holds_for_the_chunks_that_it_was_measured_with(
    assembly: Assembly, hierarchical: Assembly
) -> None:
    function = ("gateway", "AWS::Lambda::Function", "Retrieve")
    by_default, with_others = (
        each.one(*function).properties["Environment"]["Variables"]["RETRIEVE_CALIBRATION"]
        for each in (assembly, hierarchical)
    )

    assert (by_default, with_others) == ("titan-v2-english", "none")


def test_catalogs_own_data_sources_are_as_the_shared_one(hierarchical: Assembly) -> None:
    source = hierarchical.one("knowledge-base", "AWS::Bedrock::DataSource").properties

    told = json.loads(variables(hierarchical, "Ingest")["VECTOR_INGESTION"])

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
    assert variables(hierarchical, "Inspect")["PARSES_IMAGES"] == "true"


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


def test_chunks_of_one_size_are_as_large_as_was_said(tmp_path: Path) -> None:
    fixed = synthesised(tmp_path, chunking="fixed", chunk_tokens="500", chunk_overlap="10")

    told = json.loads(variables(fixed, "Ingest")["VECTOR_INGESTION"])

    assert told == {
        "chunkingConfiguration": {
            "chunkingStrategy": "FIXED_SIZE",
            "fixedSizeChunkingConfiguration": {"maxTokens": 500, "overlapPercentage": 10},
        }
    }
    assert "PARSES_IMAGES" not in variables(fixed, "Inspect")
