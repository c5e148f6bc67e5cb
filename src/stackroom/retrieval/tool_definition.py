"""
The tools that agents see: their names, descriptions and arguments, each stated once.

The gateway's target reads the schemas from infra/tool_schemas/, which
`python -m stackroom.retrieval.tool_definition`
prints. It takes nothing but type, properties, required, items and description, so an argument's
limits stand in its description, and the same text answers a call that ignores them.
https://docs.aws.amazon.com/bedrock-agentcore-control/latest/APIReference/API_SchemaDefinition.html
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import ErrorDetails

from stackroom import tenancy
from stackroom.errors import ValidationError

_SCHEMA_KEYS = ("type", "properties", "required", "items", "description")


class Arguments(BaseModel):
    """Base of a tool's arguments; what is missing, null or empty takes the default."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _drop_absent(cls, given: Any) -> Any:
        # A tool schema can't say "optional", and models fill in what they have no value for.
        if not isinstance(given, Mapping):
            raise ValueError("the arguments must be an object")
        return {
            name: value
            for name, value in given.items()
            if value is not None and not (isinstance(value, str) and not value.strip())
        }


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[ArgumentsT]):
    name: str
    description: str
    arguments: type[ArgumentsT]

    def parse(self, given: object) -> ArgumentsT:
        """Raises ValidationError naming each wrong argument and what is allowed."""
        try:
            return self.arguments.model_validate(given)
        except pydantic.ValidationError as error:
            problems = (self._problem(detail) for detail in error.errors(include_url=False))
            raise ValidationError("; ".join(problems)) from None  # pydantic's repeats the input

    def definition(self) -> dict[str, object]:
        """As `toolSchema.inlinePayload` of a gateway target has it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": _reduced(self.arguments.model_json_schema()),
        }

    def _problem(self, detail: ErrorDetails) -> str:
        message = detail["msg"].removeprefix("Value error, ")
        if not detail["loc"]:
            return message
        argument = str(detail["loc"][0])[:100]
        field = self.arguments.model_fields.get(argument)
        if field is None:
            known = ", ".join(self.arguments.model_fields)
            return f"{argument}: no such argument. Allowed: {known}"
        return f"{argument}: {message}. Allowed: {field.description}"


def _reduced(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema in the words that the gateway knows."""
    # An optional argument is "its type or null"; the gateway has no null, leaving it out is enough.
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    assert len(options) <= 1, "an argument has one type"
    merged = {**schema, **(options[0] if options else {})}
    reduced = {key: merged[key] for key in _SCHEMA_KEYS if key in merged}
    if "properties" in reduced:
        reduced["properties"] = {
            name: _reduced(member) for name, member in reduced["properties"].items()
        }
    if "items" in reduced:
        reduced["items"] = _reduced(reduced["items"])
    return reduced


def _not_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


_Number = BeforeValidator(_not_boolean)  # pydantic would take true for 1
_Id = Annotated[str, Field(max_length=100)]


class RetrieveArguments(Arguments):
    query: str = Field(
        min_length=1,
        max_length=1000,  # "User query size" in the Bedrock quotas
        description="What to look for, in plain language: text of 1 to 1,000 characters.",
    )
    top_k: Annotated[int, _Number] = Field(
        default=5,
        ge=1,
        le=20,
        description="How many passages to return at most: an integer from 1 to 20, by default 5.",
    )
    min_score: Annotated[float, _Number] | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Leave out passages that score less: a number from 0 to 1.",
    )
    filter: Annotated[
        tenancy.Conditions,
        PlainValidator(tenancy.conditions),
        WithJsonSchema({"type": "object"}),
    ] = Field(
        default=(),
        description=(
            "Only passages of documents with this metadata: an object of at most"
            f" {tenancy.MAX_KEYS} keys, all of which must match, each with a text, number or"
            f" boolean, or a list of at most {tenancy.MAX_VALUES} of them, any of which may match."
            " Not user_id, catalog_id or x-amz-bedrock keys."
        ),
    )
    catalog_id: _Id | None = Field(
        default=None,
        description="Search this catalog only: an id such as cat-1a2b; by default all catalogs.",
    )
    knowledge_base_id: _Id | None = Field(
        default=None,
        description="Search this knowledge base only: its id; by default all of them.",
    )
    max_tokens: Annotated[int, _Number] | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Return at most about this many tokens of text: an integer from 1 to 100,000.",
    )


KNOWLEDGE_BASE_RETRIEVE = Tool(
    name="knowledge_base_retrieve",
    description=(
        "Search the signed-in user's documents by meaning. Returns the best passages with file,"
        " page and relevance score, to answer from and to cite."
    ),
    arguments=RetrieveArguments,
)

# By the file in infra/tool_schemas/, which is one gateway target.
TARGETS: Mapping[str, tuple[Tool[Any], ...]] = {"knowledge": (KNOWLEDGE_BASE_RETRIEVE,)}


def schema_file(target: str) -> str:
    """The text of infra/tool_schemas/{target}.json."""
    return json.dumps([tool.definition() for tool in TARGETS[target]], indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_file(sys.argv[1]))
