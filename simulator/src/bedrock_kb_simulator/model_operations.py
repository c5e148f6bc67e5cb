"""Which part of the simulator answers which operation of bedrock-runtime."""

from collections.abc import Mapping

from bedrock_kb_simulator.attachments import Attachments
from bedrock_kb_simulator.components import Components
from bedrock_kb_simulator.conversation import Conversations
from bedrock_kb_simulator.dispatch import Handler
from bedrock_kb_simulator.extraction import Extraction
from bedrock_kb_simulator.guardrail_application import GuardrailApplication
from bedrock_kb_simulator.models import Models
from bedrock_kb_simulator.requests import Requests
from bedrock_kb_simulator.screening import Screening
from bedrock_kb_simulator.speaking import Speaking
from bedrock_kb_simulator.stand_in import StandIn


def model_handlers(
    components: Components, screening: Screening, extraction: Extraction
) -> Mapping[str, Handler]:
    """Models, and guardrails by themselves."""
    conversations = Conversations(
        screening=screening,
        speaking=Speaking(
            scripts=components.scripts,
            stand_in=StandIn(extraction=extraction),
            model=components.model,
        ),
        requests=Requests(attachments=Attachments(parser=components.parser)),
    )
    application = GuardrailApplication(screening=screening, arns=components.arns)
    return {
        "bedrock-runtime.ApplyGuardrail": application.apply,
        "bedrock-runtime.Converse": conversations.answer,
        "bedrock-runtime.ConverseStream": conversations.stream,
        "bedrock-runtime.InvokeModel": Models(embedder=components.embedder).invoke,
    }
