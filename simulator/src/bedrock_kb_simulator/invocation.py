"""
bedrock-runtime's InvokeModel: Titan's embeddings, and Claude and Nova in their families' words.

Claude and Nova answer as they do in Converse: rule invoke.as-converse.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from moto.core.utils import get_service_model

from bedrock_kb_simulator import anthropic_messages, nova_messages
from bedrock_kb_simulator.conversation import Conversations
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.models import TITAN, Models
from bedrock_kb_simulator.rules import NOT_SIMULATED
from bedrock_kb_simulator.validation import validate

_NOVA = re.compile(r"amazon\.nova-(?!canvas|reel|sonic|2-sonic|2-multimodal)")
_HIDDEN = "application-inference-profile/"
_UNSIMULATED = (
    "guardrailIdentifier",
    "guardrailVersion",
    "performanceConfigLatency",
    "requestMetadata",
    "serviceTier",
)


@dataclass(frozen=True, kw_only=True)
class Invocations:
    models: Models
    conversations: Conversations

    def invoke(self, parameters: Parameters) -> Parameters:
        model, body = parameters["modelId"], parameters.get("body") or b"{}"
        if model.rpartition("/")[2] == TITAN:
            return self.models.invoke(parameters)
        for member in _UNSIMULATED:
            if parameters.get(member):
                raise NOT_SIMULATED.broken(what=f"{member} of InvokeModel")
        if parameters.get("trace", "DISABLED") != "DISABLED":
            raise NOT_SIMULATED.broken(what="traces of guardrails")
        family = _family(model, body)
        asked = family.asked(model, body)
        validate(_converse(), asked)
        answer = family.told(model, self.conversations.answer(asked))
        return {"body": json.dumps(answer).encode(), "contentType": "application/json"}


def _family(model: str, body: bytes) -> ModuleType:
    """What hides behind an application inference profile is told by the body."""
    is_anthropic = "anthropic.claude" in model
    if _HIDDEN in model:
        is_anthropic = b'"anthropic_version"' in body
    if is_anthropic:
        return anthropic_messages
    if _HIDDEN in model or _NOVA.search(model):
        return nova_messages
    raise NOT_SIMULATED.broken(what=f"InvokeModel of {model}: {TITAN}, Claude and Nova alone")


@cache
def _converse() -> Any:
    return get_service_model("bedrock-runtime").operation_model("Converse").input_shape
