"""Amazon Nova's messages, as InvokeModel takes and answers them: Converse's, with few changes."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from bedrock_kb_simulator import bodies
from bedrock_kb_simulator.bodies import Part
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.rules import INVOKE_MALFORMED

_UNSIMULATED = ("reasoningConfig", "top_k", "topK")


class _Part(Part):
    model_config = ConfigDict(alias_generator=to_camel)


class _Inference(_Part):
    """Two settings have another name in the guide's older examples."""

    max_tokens: int | None = None
    older_max_tokens: Annotated[int | None, Field(alias="max_new_tokens")] = None
    temperature: float | None = None
    top_p: float | None = None
    older_top_p: Annotated[float | None, Field(alias="top_p")] = None
    stop_sequences: Sequence[str] | None = None


class _Message(_Part):
    role: Literal["user", "assistant"]
    content: Sequence[dict[str, Any]]


class _Body(_Part):
    schema_version: Literal["messages-v1"] = "messages-v1"
    messages: Sequence[_Message]
    system: Sequence[dict[str, Any]] = ()
    inference_config: _Inference = _Inference()
    tool_config: dict[str, Any] | None = None


def asked(model: str, body: bytes) -> Parameters:
    """Converse's parameters for it; raises ServiceError."""
    given = bodies.read(_Body, body, unsimulated=_UNSIMULATED)
    _refuse_documents(given.messages)
    inference = given.inference_config
    most, top_p = inference.max_tokens, inference.top_p
    named = {
        "maxTokens": inference.older_max_tokens if most is None else most,
        "temperature": inference.temperature,
        "topP": inference.older_top_p if top_p is None else top_p,
        "stopSequences": list(inference.stop_sequences or ()) or None,
    }
    return {
        "modelId": model,
        "messages": [{"role": each.role, "content": list(each.content)} for each in given.messages],
        "system": list(given.system),
        "inferenceConfig": {name: each for name, each in named.items() if each is not None},
        **({"toolConfig": given.tool_config} if given.tool_config else {}),
    }


def told(_model: str, answer: Parameters) -> dict[str, Any]:
    """The family's answer for Converse's."""
    usage = answer["usage"]
    return {
        "output": answer["output"],
        "stopReason": answer["stopReason"],
        "usage": {
            "inputTokens": usage["inputTokens"],
            "outputTokens": usage["outputTokens"],
            "totalTokens": usage["totalTokens"],
            "cacheReadInputTokenCount": 0,
            "cacheWriteInputTokenCount": 0,
        },
    }


def _refuse_documents(messages: Sequence[_Message]) -> None:
    """Which Converse alone takes, says the guide."""
    for number, message in enumerate(messages):
        for place, block in enumerate(message.content):
            if "document" in block:
                raise INVOKE_MALFORMED.broken(
                    at=f"#/messages/{number}/content/{place}",
                    problem="extraneous key [document] is not permitted",
                )
