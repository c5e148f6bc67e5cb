"""
Models that take part in Bedrock's `Retrieve`: one that reranks, one that makes a filter.

Limits are those of the API model of bedrock-agent-runtime (botocore 1.44.5), checked here so that a
wrong choice is told when it is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

AttributeType = Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]

MOST_RESULTS = 100  # of numberOfResults and numberOfRerankedResults
_MOST_ATTRIBUTES = 25
_LONGEST_KEY = 256
_LONGEST_DESCRIPTION = 1024
_MOST_FIELDS = 100


@dataclass(frozen=True, kw_only=True)
class Reranking:
    """
    A reranking model of Bedrock's, which reads question and passage together.

    It reads what the search found and leaves the `number_of_reranked_results` best of that (1-100,
    never more than were asked for); None leaves their number to Bedrock. Of a document's attributes
    it reads those in `fields_to_include`, or all but those in `fields_to_exclude` (one of the two),
    or with `reads_attributes` all; else what Bedrock does by default, which AWS doesn't tell.
    `model_fields` go to the model as they are. Raises ValueError for what Bedrock doesn't take.
    """

    model_arn: str
    number_of_reranked_results: int | None = None
    reads_attributes: bool = False
    fields_to_include: Sequence[str] = ()
    fields_to_exclude: Sequence[str] = ()
    model_fields: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        _check_arn("a reranking model", self.model_arn)
        count = self.number_of_reranked_results
        if count is not None and not 1 <= count <= MOST_RESULTS:
            raise ValueError(
                f"number_of_reranked_results is {count}, 1 to {MOST_RESULTS} are taken"
            )
        if self.fields_to_include and self.fields_to_exclude:
            raise ValueError("fields_to_include and fields_to_exclude: only one can be given")
        if len(self.fields_to_include or self.fields_to_exclude) > _MOST_FIELDS:
            raise ValueError(f"at most {_MOST_FIELDS} fields can be included or excluded")

    def configuration(self, limit: int) -> dict[str, Any]:
        """For an answer of at most `limit` passages."""
        model: dict[str, Any] = {"modelArn": self.model_arn}
        if self.model_fields:
            model["additionalModelRequestFields"] = dict(self.model_fields)
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


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """An attribute of documents, told to the model that makes a filter. Raises ValueError."""

    key: str  # 1-256 characters
    type: AttributeType
    description: str  # 1-1,024 characters: what it means, and which values there are

    def __post_init__(self) -> None:
        if not 1 <= len(self.key) <= _LONGEST_KEY:
            raise ValueError(f"an attribute's key must have 1 to {_LONGEST_KEY} characters")
        if self.type not in get_args(AttributeType):
            types = ", ".join(get_args(AttributeType))
            raise ValueError(f"the type of {self.key!r} is {self.type!r}, possible are {types}")
        if not 1 <= len(self.description) <= _LONGEST_DESCRIPTION:
            raise ValueError(
                f"the description of {self.key!r} must have 1 to {_LONGEST_DESCRIPTION} characters"
            )


@dataclass(frozen=True, kw_only=True)
class ImplicitFilter:
    """
    A model that makes a filter of the question, over 1 to 25 attributes. Raises ValueError.

    It narrows what is found, beside the other filters. It is no protection: a model decides.
    """

    model_arn: str
    attributes: Sequence[Attribute]

    def __post_init__(self) -> None:
        _check_arn("the model of an implicit filter", self.model_arn)
        if not 1 <= len(self.attributes) <= _MOST_ATTRIBUTES:
            count = len(self.attributes)
            raise ValueError(f"{count} attributes, 1 to {_MOST_ATTRIBUTES} are taken")

    @property
    def configuration(self) -> dict[str, Any]:
        attributes = [
            {"key": each.key, "type": each.type, "description": each.description}
            for each in self.attributes
        ]
        return {"modelArn": self.model_arn, "metadataAttributes": attributes}


def _check_arn(what: str, arn: str) -> None:
    if not arn.strip():
        raise ValueError(f"{what} needs an ARN")
