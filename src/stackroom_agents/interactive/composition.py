"""An interactive agent, made of the environment and served."""

import logging
import os
import sys
from collections.abc import Callable, Mapping

import uvicorn
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from strands.models import Model

from stackroom.aws.s3.agent_sessions import AgentSessions
from stackroom.gateway.tokens import PublishedKeys, TokenVerifier
from stackroom.wiring.function_settings import JsonList
from stackroom_agents import observability
from stackroom_agents.batch.composition import bedrock_model, defined
from stackroom_agents.batch.settings import DefinitionSettings
from stackroom_agents.configuration import client_of
from stackroom_agents.interactive.app import Process
from stackroom_agents.interactive.conversation import Conversation

# As AgentCore Runtime calls it: see interactive.app.
_HOST, _PORT = "0.0.0.0", 8080  # noqa: S104 - inside a microVM that nobody else can reach
_OURS = {"stackroom", "stackroom_agents"}


class InteractiveSettings(DefinitionSettings):
    """Of whom tokens are, and where sessions are kept."""

    sessions_bucket: str
    identity_issuer: str
    identity_jwks_url: str
    identity_client_ids: JsonList


def interactive_agent(
    environ: Mapping[str, str], *, model_of: Callable[[str], Model] | None = None
) -> Process:
    """Reads the prompt and the tools from S3. Raises what `batch_agent` does."""
    made = defined(InteractiveSettings, environ)
    settings = made.settings
    return Process(
        conversation=Conversation(
            model=(model_of or _model)(settings.model_id),
            system_prompt=made.system_prompt,
            tools=made.tools,
            sessions=AgentSessions(client=client_of("s3"), bucket=settings.sessions_bucket),
        ),
        verifier=TokenVerifier(
            keys=PublishedKeys(settings.identity_jwks_url),
            issuer=settings.identity_issuer,
            client_ids=settings.identity_client_ids,
        ),
    )


def serve(
    host: str = _HOST, port: int = _PORT, *, model_of: Callable[[str], Model] | None = None
) -> None:
    """Until SIGTERM. Raises what `interactive_agent` does: the runtime's log tells of it."""
    for name in _OURS:
        logging.getLogger(name)  # there is none of a package before somebody asks
    copy_config_to_registered_loggers(Logger(), include=_OURS)
    observability.hush()
    app = interactive_agent(os.environ, model_of=model_of).app()
    uvicorn.run(app, host=host, port=port, log_level="warning")


def _model(model_id: str) -> Model:
    return bedrock_model(model_id, streaming=True)


if __name__ == "__main__":  # python -m stackroom_agents.interactive.composition HOST PORT
    serve(sys.argv[1], int(sys.argv[2]))
