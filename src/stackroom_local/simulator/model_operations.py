"""Which part of the simulator answers which operation of bedrock-runtime."""

from collections.abc import Mapping

from stackroom_local.simulator.attachments import Attachments
from stackroom_local.simulator.components import Components
from stackroom_local.simulator.conversation import Conversations
from stackroom_local.simulator.dispatch import Handler
from stackroom_local.simulator.extraction import Extraction
from stackroom_local.simulator.guardrail_application import GuardrailApplication
from stackroom_local.simulator.invocation import Invocations
from stackroom_local.simulator.models import Models
from stackroom_local.simulator.requests import Requests
from stackroom_local.simulator.screening import Screening
from stackroom_local.simulator.speaking import Speaking
from stackroom_local.simulator.stand_in import StandIn


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
    invocations = Invocations(
        models=Models(embedder=components.embedder), conversations=conversations
    )
    application = GuardrailApplication(screening=screening, arns=components.arns)
    return {
        "bedrock-runtime.ApplyGuardrail": application.apply,
        "bedrock-runtime.Converse": conversations.answer,
        "bedrock-runtime.ConverseStream": conversations.stream,
        "bedrock-runtime.InvokeModel": invocations.invoke,
    }
