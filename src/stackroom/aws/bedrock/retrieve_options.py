"""
Options of Bedrock's `Retrieve` for a knowledge base, the same for every question.

https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from stackroom.model.filters import Filter

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# Limits are those of the API model of bedrock-agent-runtime (botocore 1.44.5).
MOST_RESULTS = 100  # of numberOfResults and numberOfRerankedResults
Results = Annotated[int, Field(strict=True, ge=1, le=MOST_RESULTS)]
_Key = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
# The meaning of an attribute, and its values.
_Description = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1024)
]
_Fields = Annotated[tuple[Said, ...], Field(max_length=100)]


class Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True
    )


class OwnRerankingSettings(Entry):
    """Reranking by Bedrock's Rerank; the best `number_of_reranked_results` passages are kept."""

    model_arn: Said
    number_of_reranked_results: Results | None = None


class RerankingSettings(OwnRerankingSettings):
    """
    A reranking model of Bedrock's, which reads question and passage together.

    It reads what the search found and leaves the `number_of_reranked_results` best of that, never
    more than were asked for; None leaves their number to Bedrock. Of a document's attributes it
    reads those in `fields_to_include`, or all but those in `fields_to_exclude` (one of the two), or
    with `reads_attributes` all; else what Bedrock does by default, which AWS doesn't tell.
    """

    reads_attributes: Annotated[bool, Field(strict=True)] = False
    fields_to_include: _Fields = ()
    fields_to_exclude: _Fields = ()
    additional_model_request_fields: Mapping[str, Any] | None = None

    @model_validator(mode="after")
    def _includes_or_excludes(self) -> Self:
        if self.fields_to_include and self.fields_to_exclude:
            raise ValueError("fieldsToInclude and fieldsToExclude: only one can be given")
        return self

    def configuration(self, limit: int) -> dict[str, Any]:
        """Return the reranking configuration for an answer of at most `limit` passages."""
        model: dict[str, Any] = {"modelArn": self.model_arn}
        if self.additional_model_request_fields:
            model["additionalModelRequestFields"] = dict(self.additional_model_request_fields)
        chosen: dict[str, Any] = {"modelConfiguration": model}
        if self.number_of_reranked_results is not None:
            chosen["numberOfRerankedResults"] = min(limit, self.number_of_reranked_results)
        chosen |= self._attributes
        return {"type": "BEDROCK_RERANKING_MODEL", "bedrockRerankingConfiguration": chosen}

    @property
    def _attributes(self) -> dict[str, Any]:
        named = {
            "fieldsToInclude": self.fields_to_include,
            "fieldsToExclude": self.fields_to_exclude,
        }
        for member, fields in named.items():
            if fields:
                selected = {member: [{"fieldName": each} for each in fields]}
                mode = {"selectionMode": "SELECTIVE", "selectiveModeConfiguration": selected}
                return {"metadataConfiguration": mode}
        return {"metadataConfiguration": {"selectionMode": "ALL"}} if self.reads_attributes else {}


class _AttributeSettings(Entry):
    key: _Key
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]
    description: _Description


class ImplicitFilterSettings(Entry):
    """
    A model that makes a filter of the question, over these attributes of documents.

    It narrows the results further than the other filters. It protects nothing, because a model
    decides.
    """

    model_arn: Said
    metadata_attributes: Annotated[
        tuple[_AttributeSettings, ...], Field(min_length=1, max_length=25)
    ]

    @property
    def configuration(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


SearchType = Literal["HYBRID", "SEMANTIC"]


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions:
    """
    Options for searching a knowledge base; the defaults are Bedrock's.

    `search_type` None lets Bedrock choose; HYBRID is for stores with a filterable text field, which
    S3 Vectors has not. `fixed_filter` applies in addition to a search's own. `has_cosine_scores` is
    True if the scores of a semantic search are cosines, which holds for S3 Vectors; for other
    stores AWS doesn't document them.

    `is_managed` is for a MANAGED knowledge base, which is searched by managedSearchConfiguration:
    always hybrid, without implicit filter, and reranked by the service's own model unless
    `managed_reranking` is NONE or `reranking` names another.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-retrieve.html

    BedrockSettings checks which options go together.
    """

    search_type: SearchType | None = None
    fixed_filter: Filter | None = None
    reranking: RerankingSettings | None = None
    implicit_filter: ImplicitFilterSettings | None = None
    is_managed: bool = False
    managed_reranking: Literal["MANAGED", "NONE"] | None = None
    has_cosine_scores: bool = True

    @property
    def is_hybrid(self) -> bool:
        return self.is_managed or self.search_type == "HYBRID"

    @property
    def is_reranked(self) -> bool:
        """
        Return True only if reranking was asked for: whether a MANAGED knowledge base reranks by
        default depends on its embedding model.
        """
        return self.reranking is not None or self.managed_reranking == "MANAGED"

    @property
    def reports_similarity(self) -> bool:
        return self.has_cosine_scores and not self.is_hybrid and not self.is_reranked

    def configuration(self, limit: int, condition: Mapping[str, object] | None) -> dict[str, Any]:
        """Return the member `retrievalConfiguration` of a request for at most `limit` passages."""
        chosen: dict[str, Any] = {"numberOfResults": min(limit, MOST_RESULTS)}
        if condition is not None:
            chosen["filter"] = condition
        if self.reranking is not None:
            chosen["rerankingConfiguration"] = self.reranking.configuration(limit)
        if self.is_managed:
            model = "CUSTOM" if self.reranking else self.managed_reranking
            chosen |= {"rerankingModelType": model} if model else {}
            return {"managedSearchConfiguration": chosen}
        if self.search_type is not None:
            chosen["overrideSearchType"] = self.search_type
        if self.implicit_filter is not None:
            chosen["implicitFilterConfiguration"] = self.implicit_filter.configuration
        return {"vectorSearchConfiguration": chosen}
