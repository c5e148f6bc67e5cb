"""
How a knowledge base of Bedrock is searched, beyond how many passages are asked for.

Ranges are those of `Retrieve` [API model of bedrock-agent-runtime, botocore 1.44.5].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from constructs import IConstruct

from stackroom_constructs.model import BedrockModel, Right
from stackroom_constructs.refusals import (
    InvalidArgument,
    check_choice,
    check_flag,
    check_range,
    check_said,
)

_TYPES = ("STRING", "NUMBER", "BOOLEAN", "STRING_LIST")
_MOST_ATTRIBUTES = 25
_MOST_FIELDS = 100  # FieldsForReranking


@dataclass(frozen=True, kw_only=True)
class Reranking:
    """
    A model that puts what was found in order, by how well it answers the question.

    At Retrieve it is the knowledge base's service role that asks the model, not the agent: with
    `knowledge_base_id` see to it that the role may `bedrock:Rerank` on `*` and
    `bedrock:InvokeModel` on the model; with `create` it may.
    https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html

    For a store that the agent searches itself it asks the model itself, and may. All but `model`
    and `number_of_results` are for Retrieve.

    model: its id, such as `amazon.rerank-v1:0` or `cohere.rerank-v3-5:0`.
    number_of_results: how many it leaves, 1 to 100. Default: as many as are asked for.
    reads_attributes: whether it reads all of a document's attributes beside the text. Default: off.
    fields_to_include: names of the attributes that it reads, at most 100. Default: none.
    fields_to_exclude: names of those that it doesn't read, of all. Only one of the two. Default:
        none.
    model_fields: what the model is told beside, as its maker has it. Default: nothing.

    Raises InvalidArgument.
    """

    model: str
    number_of_results: int | None = None
    reads_attributes: bool = False
    fields_to_include: tuple[str, ...] = ()
    fields_to_exclude: tuple[str, ...] = ()
    model_fields: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _model("Reranking", self.model)
        check_flag("Reranking", "reads_attributes", self.reads_attributes)
        for name in ("fields_to_include", "fields_to_exclude"):
            fields = getattr(self, name)
            if isinstance(fields, str) or len(fields) > _MOST_FIELDS:
                allowed = f"a tuple of at most {_MOST_FIELDS} names"
                raise InvalidArgument("Reranking", name, fields, allowed)
            for each in fields:
                check_said("Reranking", name, each)
        if self.fields_to_include and self.fields_to_exclude:
            allowed = "left out beside fields_to_include"
            raise InvalidArgument("Reranking", "fields_to_exclude", self.fields_to_exclude, allowed)
        if self.number_of_results is not None:
            check_range("Reranking", "number_of_results", self.number_of_results, 1, 100)

    @property
    def bedrock_model(self) -> BedrockModel:
        return BedrockModel.of(self.model)

    def configuration(self, scope: IConstruct) -> dict[str, Any]:
        chosen = {
            "numberOfRerankedResults": self.number_of_results,
            "readsAttributes": self.reads_attributes or None,
            "fieldsToInclude": list(self.fields_to_include) or None,
            "fieldsToExclude": list(self.fields_to_exclude) or None,
            "additionalModelRequestFields": dict(self.model_fields) if self.model_fields else None,
        }
        told = {name: each for name, each in chosen.items() if each is not None}
        return {"modelArn": self.bedrock_model.arn(scope), **told}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """
        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
        """
        because = "The action has no resource type; the model has, beside it."
        rerank = Right(actions=("bedrock:Rerank",), resources=("*",), because=because)
        return rerank, *self.bedrock_model.rights(scope)


@dataclass(frozen=True, kw_only=True)
class MetadataAttribute:
    """
    An attribute of documents that a model may make a filter of.

    key: its name, 1 to 256 characters.
    type: STRING, NUMBER, BOOLEAN or STRING_LIST.
    description: what it says of a document, for the model; 1 to 1,024 characters.

    Raises InvalidArgument.
    """

    key: str
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]
    description: str

    def __post_init__(self) -> None:
        check_said("MetadataAttribute", "key", self.key, 256)
        check_choice("MetadataAttribute", "type", self.type, _TYPES)
        check_said("MetadataAttribute", "description", self.description, 1024)


@dataclass(frozen=True, kw_only=True)
class ImplicitFilter:
    """
    A model that makes a filter of each question. Not for a MANAGED knowledge base.

    AWS doesn't say whether the caller asks the model or the knowledge base's service role: the
    agent may, and so may the role of a knowledge base made by `create`.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html

    model: its id; Anthropic's Claude models can.
    attributes: what it may filter by, 1 to 25.

    Raises InvalidArgument.
    """

    model: str
    attributes: tuple[MetadataAttribute, ...]

    def __post_init__(self) -> None:
        _model("ImplicitFilter", self.model)
        if not 1 <= len(self.attributes) <= _MOST_ATTRIBUTES:
            allowed = f"1 to {_MOST_ATTRIBUTES} attributes"
            raise InvalidArgument("ImplicitFilter", "attributes", self.attributes, allowed)

    @property
    def bedrock_model(self) -> BedrockModel:
        return BedrockModel.of(self.model)

    def configuration(self, scope: IConstruct) -> dict[str, Any]:
        return {
            "modelArn": self.bedrock_model.arn(scope),
            "metadataAttributes": [
                {"key": each.key, "type": each.type, "description": each.description}
                for each in self.attributes
            ],
        }


def _model(owner: str, model: str) -> None:
    try:
        BedrockModel.of(model)
    except ValueError as error:
        allowed = "the id of a foundation model, alone or behind an inference profile"
        raise InvalidArgument(owner, "model", model, allowed) from error
