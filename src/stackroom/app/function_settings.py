"""The settings of functions, read from the environment and validated together."""

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from stackroom.aws.bedrock.answer_prompt import checked
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.vector_ingestion_settings import VectorIngestion
from stackroom.aws.redis.redis_url import RedisUrl
from stackroom.model.records import PoolMember
from stackroom.runs.capacity import CAPACITIES, Limits, capacity_of
from stackroom.search.budget import DEFAULT_BUDGET, MOST_TOKENS, Budget, Priority


class SettingMissing(LookupError):
    """A use case needs a variable that this function doesn't read."""

    def __init__(self, name: str, settings: "Settings") -> None:
        super().__init__(f"{name.upper()} is no variable of {type(settings).__name__}")


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _members(value: Any) -> Any:
    """
    Return the members of a list. It may be shortened: common fields once, with the `ids` of each
    knowledge base and its data source, and `indexes`: the ARN of them all, to which the member's
    number is added. A function's variables have 4 KB together.
    """
    parsed = _from_json(value)
    if not isinstance(parsed, dict):
        return parsed
    common = {key: parsed[key] for key in parsed if key not in ("ids", "indexes")}
    members = []
    for number, ids in enumerate(parsed["ids"], 1):
        knowledge_base_id, data_source_id = ids.split("/")
        index = f"{parsed['indexes']}{number}" if "indexes" in parsed else None
        members.append(
            {
                **common,
                "knowledge_base_id": knowledge_base_id,
                "data_source_id": data_source_id,
                "index": index,
            }
        )
    return members


def _of_known_types(pool: tuple[PoolMember, ...]) -> tuple[PoolMember, ...]:
    for member in pool:
        if member.type not in CAPACITIES:
            # Not a secret, unlike other settings, so that operators see the mistake.
            allowed = ", ".join(map(repr, CAPACITIES))
            raise ValueError(f"a knowledge base of type {member.type!r}; allowed: {allowed}")
    return pool


Pool = Annotated[tuple[PoolMember, ...], BeforeValidator(_members), AfterValidator(_of_known_types)]
JsonList = Annotated[tuple[str, ...], BeforeValidator(_from_json)]


class Settings(BaseModel):
    """
    Base of a function's configuration: a field `kb_docs_bucket` is the variable `KB_DOCS_BUCKET`.

    Raises pydantic's ValidationError naming the missing or wrong variables, never their values.
    """

    # A function uses one of these models, so the others are not built.
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, defer_build=True)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        known = {
            name: environ[name.upper()] for name in cls.model_fields if name.upper() in environ
        }
        return cls.model_validate(known)

    def need(self, name: str) -> Any:
        """
        Return the field. Raises SettingMissing, naming the variable, if this model has no such
        field.
        """
        if name not in type(self).model_fields:
            raise SettingMissing(name, self)
        return getattr(self, name)


class DocumentSettings(Settings):
    """Settings of functions that work on catalogs and their documents."""

    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str


class LimitSettings(Settings):
    """The account's limits for concurrent ingestion."""

    admission_jobs: int = 5
    admission_direct_calls: int = 10
    admission_seconds_between_starts: float = 10.0

    @property
    def limits(self) -> Limits:
        return Limits(
            jobs=self.admission_jobs,
            direct_calls=self.admission_direct_calls,
            seconds_between_starts=self.admission_seconds_between_starts,
            jobs_in_one={each.knowledge_base_id: capacity_of(each).jobs for each in self._pool},
        )

    @property
    def _pool(self) -> tuple[PoolMember, ...]:
        """Return the pool, which is empty for a function that doesn't know it."""
        pool: tuple[PoolMember, ...] = getattr(self, "kb_pool", ())
        return pool


class AdmissionSettings(LimitSettings):
    """Settings of functions that use the grants of knowledge bases."""

    kb_pool: Pool


class DataSourceSettings(Settings):
    """
    Settings of the function that creates the catalogs' own data sources.

    The value is JSON of the API's vectorIngestionConfiguration; without it Bedrock uses its default
    parsing and chunking. A MANAGED knowledge base in the pool needs the account of the documents'
    bucket.
    """

    vector_ingestion: Annotated[VectorIngestion | None, BeforeValidator(_from_json)] = None
    kb_docs_owner: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")] | None = None

    @model_validator(mode="after")
    def _knows_the_owner(self) -> Self:
        pool: tuple[PoolMember, ...] = getattr(self, "kb_pool", ())
        if any(each.is_managed for each in pool) and self.kb_docs_owner is None:
            raise ValueError("KB_DOCS_OWNER goes with a knowledge base of type 'MANAGED'")
        return self


class FittingSettings(Settings):
    """The default budget of functions that show passages to a model."""

    retrieve_max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = DEFAULT_BUDGET.max_tokens
    retrieve_prioritize_by: Priority = DEFAULT_BUDGET.prioritize_by

    @property
    def budget(self) -> Budget:
        return Budget(
            max_tokens=self.retrieve_max_tokens, prioritize_by=self.retrieve_prioritize_by
        )


class GuardrailSettings(Settings):
    """The guardrail of functions that show passages to a caller or answer from them."""

    guardrail_id: str | None = None
    guardrail_version: str | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.guardrail_id is None) != (self.guardrail_version is None):
            raise ValueError("GUARDRAIL_ID and GUARDRAIL_VERSION go together")
        return self

    @property
    def guardrail(self) -> Guardrail | None:
        if self.guardrail_id is None or self.guardrail_version is None:
            return None
        return Guardrail(id=self.guardrail_id, version=self.guardrail_version)


class SearchSettings(Settings):
    """
    Settings of functions that search for a caller.

    Model and dimensions are those with which the documents were embedded. Passages that score less
    than the minimum are left out. Without a reranking model, passages are not reranked. Vectors of
    questions are cached at the URL, or else in the process.
    """

    retrieve_first_page: int = 1
    retrieve_via: Literal["s3vectors", "bedrock"] = "bedrock"
    retrieve_least_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    rerank_model_arn: str | None = None
    embedding_model: str = "amazon.titan-embed-text-v2:0"
    embedding_dimensions: int = 1024
    redis_url: RedisUrl = None


class AnswerSettings(GuardrailSettings):
    """
    Settings of functions that have a model answer; the ARN may be an inference profile's.

    The prompt is a template as in aws/bedrock/answer_prompt.py, which has the default.
    """

    answer_model_arn: Annotated[str, StringConstraints(pattern=r"^arn:[a-z-]+:bedrock:")]
    answer_prompt: Annotated[str, AfterValidator(checked)] | None = None


class RetrieveSettings(DocumentSettings, FittingSettings, GuardrailSettings, SearchSettings):
    """Settings of the function `retrieve`, and of functions that search as it does."""

    kb_pool: Pool
    retrieve_sharing: Literal["off", "on"] = "off"


class CatalogToolsSettings(
    AdmissionSettings, AnswerSettings, DocumentSettings, FittingSettings, SearchSettings
):
    """Settings of the function `catalog_tools`, and of functions with the same use cases."""

    state_machine_arn: str
    ingest_speed: float = 1.0
