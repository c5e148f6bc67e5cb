"""The environment variables of an agent's definition, and of a batch agent."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, model_validator

from stackroom_agents.registry import KnowledgeBaseSettings, flag

_Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Tool(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ToolAsset(_Tool):
    """An asset in S3: a .py file, or a zip of them."""

    # N815: as the variable has them
    bucketName: _Filled  # noqa: N815
    key: _Filled
    isFile: bool = False  # noqa: N815
    isZipArchive: bool = False  # noqa: N815

    @model_validator(mode="after")
    def _is_one_of_both(self) -> "ToolAsset":
        if self.isFile == self.isZipArchive:
            raise ValueError("exactly one of isFile and isZipArchive must be true")
        return self


class ToolModule(_Tool):
    """A module that can be imported in the function, by its dotted name."""

    module: _Filled


def _tools(value: Any) -> Any:
    """Choose each tool's model by its fields, so that an error is about the one that was meant."""
    try:
        given = json.loads(value) if isinstance(value, str) else value
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(given, list):
        raise ValueError("must be a JSON array")
    return tuple(
        ToolModule.model_validate(each)
        if isinstance(each, dict) and "module" in each
        else ToolAsset.model_validate(each)
        for each in given
    )


class DefinitionSettings(KnowledgeBaseSettings):
    """The settings of every agent: the prompt asset, the model and the tools."""

    system_prompt_s3_bucket_name: _Filled
    system_prompt_s3_key: _Filled
    model_id: _Filled
    tools_config: Annotated[tuple[ToolAsset | ToolModule, ...], BeforeValidator(_tools)] = ()


class BatchSettings(DefinitionSettings):
    """
    The settings of a batch agent.

    PROMPT goes before an event's content. EXPECT_JSON has the answer parsed. An event may name its
    user only with IDENTITY_FROM_EVENT. Without ANSWERS_QUEUE_URL, an SQS message's outcome is only
    whether it failed.
    """

    invoke_type: Literal["batch", "attach-directly"] = "batch"
    prompt: str = ""
    expect_json: Annotated[bool, flag("True")] = False
    identity_from_event: Annotated[bool, flag("true")] = False
    answers_queue_url: _Filled | None = None
