"""VECTOR_INGESTION: what the function takes of it, CreateDataSource takes, and nothing else."""

import json
from typing import Any

import pytest
from botocore.session import get_session
from pydantic import ValidationError

from bedrock_kb_simulator import ingestion_settings
from bedrock_kb_simulator.dispatcher import validate
from bedrock_kb_simulator.service_errors import ServiceError
from functions.ingest.handler import IngestSettings
from stackroom.app.function_settings import DataSourceSettings

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"


def chunking(strategy: str, **configurations: Any) -> dict[str, Any]:
    return {"chunkingConfiguration": {"chunkingStrategy": strategy, **configurations}}


def fixed(tokens: int = 300, overlap: int = 20) -> dict[str, Any]:
    given = {"maxTokens": tokens, "overlapPercentage": overlap}
    return chunking("FIXED_SIZE", fixedSizeChunkingConfiguration=given)


def hierarchical(*levels: int, overlap: int = 60) -> dict[str, Any]:
    given = {"levelConfigurations": [{"maxTokens": each} for each in levels]}
    return chunking(
        "HIERARCHICAL", hierarchicalChunkingConfiguration={**given, "overlapTokens": overlap}
    )


def semantic(tokens: int = 300, buffer: int = 0, percentile: int = 95) -> dict[str, Any]:
    given = {
        "maxTokens": tokens,
        "bufferSize": buffer,
        "breakpointPercentileThreshold": percentile,
    }
    return chunking("SEMANTIC", semanticChunkingConfiguration=given)


def parsing(strategy: str, **configurations: Any) -> dict[str, Any]:
    return {"parsingConfiguration": {"parsingStrategy": strategy, **configurations}}


def by_model(**members: Any) -> dict[str, Any]:
    return parsing("BEDROCK_FOUNDATION_MODEL", bedrockFoundationModelConfiguration=members)


TAKEN = [
    fixed(8_192, 99),
    fixed(1, 1),
    chunking("FIXED_SIZE"),
    chunking("NONE"),
    hierarchical(1_500, 300),
    semantic(8_192, 1, 50),
    parsing("BEDROCK_DATA_AUTOMATION"),
    by_model(modelArn=MODEL, parsingPrompt={"parsingPromptText": "Read."}),
    {**hierarchical(1_500, 300), **by_model(modelArn=MODEL, parsingModality="MULTIMODAL")},
]
REFUSED = [
    fixed(8_193),
    fixed(300, 0),
    hierarchical(1_500),
    hierarchical(1_500, 300, 100),
    hierarchical(1_500, 300, overlap=0),
    semantic(buffer=2),
    semantic(percentile=49),
    chunking("SENTENCES"),
    chunking("SEMANTIC"),
    {"chunkingConfiguration": {**fixed()["chunkingConfiguration"], "chunkingStrategy": "NONE"}},
    {"chunkingConfiguration": {}},
    parsing("BEDROCK_FOUNDATION_MODEL"),
    by_model(),
    by_model(modelArn=MODEL, parsingPrompt={"parsingPromptText": ""}),
    by_model(modelArn=MODEL, parsingModality="SOUND"),
]


@pytest.mark.parametrize("ingestion", TAKEN, ids=str)
def test_accepted_ingestion_settings_are_valid_for_aws(ingestion: dict[str, Any]) -> None:
    settings = DataSourceSettings.from_env({"VECTOR_INGESTION": json.dumps(ingestion)})

    assert settings.vector_ingestion is not None
    assert settings.vector_ingestion.as_request() == ingestion
    assert _is_taken_by_aws(ingestion)


@pytest.mark.parametrize("ingestion", REFUSED, ids=str)
def test_ingestion_settings_that_aws_refuses_are_refused_at_start(
    ingestion: dict[str, Any],
) -> None:
    with pytest.raises(ValidationError, match="vector_ingestion"):
        DataSourceSettings.from_env({"VECTOR_INGESTION": json.dumps(ingestion)})
    assert not _is_taken_by_aws(ingestion)


def test_invalid_vector_ingestion_names_variable_and_member_not_value() -> None:
    for text in ("", "no json", "[]", "{}", '{"chunking": "NONE"}'):
        with pytest.raises(ValidationError, match="vector_ingestion"):
            DataSourceSettings.from_env({"VECTOR_INGESTION": text})
    # An error names the member and what is allowed, and no value.
    with pytest.raises(ValidationError) as caught:
        DataSourceSettings.from_env({"VECTOR_INGESTION": json.dumps(fixed(9_999))})
    told = str(caught.value)
    assert "fixedSizeChunkingConfiguration.maxTokens" in told
    assert "less than or equal to 8192" in told
    assert "9999" not in told


def test_without_vector_ingestion_bedrocks_defaults_apply() -> None:
    assert DataSourceSettings.from_env({}).vector_ingestion is None
    assert "vector_ingestion" in IngestSettings.model_fields


def _is_taken_by_aws(ingestion: dict[str, Any]) -> bool:
    """Return whether the API model's ranges and the simulator's rules accept it."""
    create = get_session().get_service_model("bedrock-agent").operation_model("CreateDataSource")
    assert create.input_shape is not None
    try:
        validate(create.input_shape.members["vectorIngestionConfiguration"], ingestion)
        ingestion_settings.check(ingestion)
    except ServiceError:
        return False
    return True
