"""
Who speaks for a model: a script, if one was given for it (`scripts`); else a language model, if one
is configured (`model_endpoint`); else the stand-in, which extracts and says so (`stand_in`).
"""

from dataclasses import dataclass

from bedrock_kb_simulator.chat_completions import MalformedToolUse
from bedrock_kb_simulator.messages import Conversation, Reply
from bedrock_kb_simulator.model_endpoint import (
    EndpointBusy,
    EndpointFailed,
    EndpointSlow,
    ModelEndpoint,
)
from bedrock_kb_simulator.rules import (
    CONVERSE_MODEL_ERROR,
    CONVERSE_THROTTLED,
    CONVERSE_TIMEOUT,
    TOOL_MALFORMED,
)
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.stand_in import StandIn


@dataclass(frozen=True, kw_only=True)
class Speaking:
    scripts: Scripts
    stand_in: StandIn
    model: ModelEndpoint | None

    def reply(self, conversation: Conversation) -> Reply:
        """Raises ServiceError."""
        scripted = self.scripts.reply(conversation)
        if scripted is not None:
            return scripted
        if self.model is None:
            return self.stand_in.reply(conversation)
        try:
            return self.model.complete(conversation)
        except MalformedToolUse:
            raise TOOL_MALFORMED.broken() from None
        except EndpointBusy:
            raise CONVERSE_THROTTLED.broken() from None
        except EndpointSlow as failure:
            raise CONVERSE_TIMEOUT.broken(problem=failure) from None
        except EndpointFailed as failure:
            raise CONVERSE_MODEL_ERROR.broken(problem=failure) from None
