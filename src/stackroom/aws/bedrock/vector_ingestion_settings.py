"""
VECTOR_INGESTION: how Bedrock parses and chunks the documents of the catalogs' own data sources.

The members, their ranges and which go together are those of the API model's
VectorIngestionConfiguration [bedrock-agent, botocore 1.44.5], except for those that Stackroom
doesn't set: transformations, context enrichment, and the parsers of managed knowledge bases. None
of it can change once a data source is made [API reference: UpdateDataSource; CloudFormation:
AWS::Bedrock::DataSource].
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

Tokens = Annotated[int, Field(ge=1, le=8192)]


class _Member(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        alias_generator=to_camel,
        defer_build=True,  # most functions that import this don't use it
    )


class _FixedSize(_Member):
    max_tokens: Tokens
    overlap_percentage: Annotated[int, Field(ge=1, le=99)]


class _Level(_Member):
    max_tokens: Tokens


class _Hierarchical(_Member):
    level_configurations: Annotated[list[_Level], Field(min_length=2, max_length=2)]
    overlap_tokens: Annotated[int, Field(ge=1)]


class _Semantic(_Member):
    max_tokens: Tokens
    buffer_size: Annotated[int, Field(ge=0, le=1)]
    breakpoint_percentile_threshold: Annotated[int, Field(ge=50, le=99)]


class _Chunking(_Member):
    chunking_strategy: Literal["FIXED_SIZE", "HIERARCHICAL", "SEMANTIC", "NONE"]
    fixed_size_chunking_configuration: _FixedSize | None = None
    hierarchical_chunking_configuration: _Hierarchical | None = None
    semantic_chunking_configuration: _Semantic | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        given = {
            "FIXED_SIZE": self.fixed_size_chunking_configuration,
            "HIERARCHICAL": self.hierarchical_chunking_configuration,
            "SEMANTIC": self.semantic_chunking_configuration,
        }
        needed = {self.chunking_strategy} & {"HIERARCHICAL", "SEMANTIC"}
        there = {strategy for strategy, configuration in given.items() if configuration}
        if not needed <= there <= {self.chunking_strategy}:
            raise ValueError(f"{self.chunking_strategy} goes with its own configuration alone")
        return self


class _Prompt(_Member):
    parsing_prompt_text: Annotated[str, StringConstraints(min_length=1, max_length=10_000)]


class _ByModel(_Member):
    model_arn: Annotated[str, StringConstraints(min_length=1, max_length=2048)]
    parsing_prompt: _Prompt | None = None
    parsing_modality: Literal["MULTIMODAL"] | None = None


class _ByAutomation(_Member):
    parsing_modality: Literal["MULTIMODAL"] | None = None


class _Parsing(_Member):
    parsing_strategy: Literal["BEDROCK_FOUNDATION_MODEL", "BEDROCK_DATA_AUTOMATION"]
    bedrock_foundation_model_configuration: _ByModel | None = None
    bedrock_data_automation_configuration: _ByAutomation | None = None

    @model_validator(mode="after")
    def _names_a_model(self) -> Self:
        by_model = self.parsing_strategy == "BEDROCK_FOUNDATION_MODEL"
        if by_model != (self.bedrock_foundation_model_configuration is not None):
            raise ValueError(
                "bedrockFoundationModelConfiguration goes with BEDROCK_FOUNDATION_MODEL, and that"
                " with it"
            )
        return self


class VectorIngestion(_Member):
    """The configuration as CreateDataSource takes it, with at least one of both members."""

    chunking_configuration: _Chunking | None = None
    parsing_configuration: _Parsing | None = None

    @model_validator(mode="after")
    def _is_something(self) -> Self:
        if self.chunking_configuration is None and self.parsing_configuration is None:
            raise ValueError("give chunkingConfiguration, parsingConfiguration, or no variable")
        return self

    def as_request(self) -> dict[str, Any]:
        """Return the member vectorIngestionConfiguration of CreateDataSource."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
