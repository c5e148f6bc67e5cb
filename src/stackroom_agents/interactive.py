"""
An agent that people talk to, which streams its answer as the model writes it.

It is the process of an interactive agent, as AgentCore Runtime calls it: HTTP on port 8080.

    POST /invocations    {"prompt": "..."}, answered by server-sent events
    GET  /ping           {"status": "Healthy"}

    data: {"text": "Probation lasts "}
    data: {"text": "four months."}
    data: {"done": true}     or, if it fails:  {"error": "...", "errorType": "..."}

A refusal is such a stream of one event, too: the runtime turns every status but 2xx into 424 and
drops the body [Boise-State-Development/agentcore-public-stack, PR 1009].

https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-http-protocol-contract.html

The runtime's authorizer has checked the token, and passes it on if its header is allowed. It checks
neither `token_use` nor that there is a user, so the token is verified here like in the gateway's
interceptor (stackroom.access.tokens), and is the only source of the caller's identity.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-header-allowlist.html
"""

import asyncio
import json
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import uvicorn
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import ValidationError as NotAQuestion
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from strands import Agent
from strands.models import Model
from strands.types.content import ContentBlock, Message

from stackroom.access.identity import Caller, is_session_id
from stackroom.access.tokens import TokenVerifier, bearer_token, published_keys
from stackroom.access.tool import encodable
from stackroom.app.function_settings import JsonList
from stackroom.errors import (
    AgentUnfinished,
    IssuerUnavailable,
    MalformedEvent,
    StackroomError,
    TokenRefused,
)
from stackroom_agents import observability
from stackroom_agents.agent_errors import AgentBroke
from stackroom_agents.agent_sessions import AgentSessions
from stackroom_agents.batch.definition_settings import DefinitionSettings
from stackroom_agents.batch.event_agent import bedrock_model, defined
from stackroom_agents.batch.event_conversation import raise_anew, text_of, texts
from stackroom_agents.batch.run_limits import TURNS, ToolCalls
from stackroom_agents.observability import tell_breakage
from stackroom_agents.thread_safe_clients import client_of
from stackroom_agents.tool_context import GROUPS, SESSION_ID, USER_ID

SECONDS = 600  # of a turn, as a batch agent's function has


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """
    Answers users' questions. A process keeps nothing of a session, so one may serve many users.
    """

    model: Model
    system_prompt: str
    tools: Sequence[Any]
    sessions: AgentSessions

    async def answer(self, question: str, caller: Caller, session_id: str) -> AsyncIterator[str]:
        """
        Yield the model's texts, in pieces.

        A turn that fails, or whose client leaves, is not remembered, since a model can't continue
        half a turn. Raises the errors of `EventConversation.answer`.
        """
        calls = ToolCalls(threading.Event())
        try:
            async with asyncio.timeout(SECONDS):
                agent = await self._agent(caller, session_id, calls)
                async for piece in self._stream(agent, question, caller, calls):
                    yield piece
                kept = json.dumps(_remembered(agent.messages)).encode()
                await asyncio.to_thread(self.sessions.write, caller.user_id, session_id, kept)
        except TimeoutError:
            raise AgentUnfinished(f"it was not done within {SECONDS} seconds") from None
        finally:
            calls.stop.set()  # for tools that a client who left has no use for

    async def _agent(self, caller: Caller, session_id: str, calls: ToolCalls) -> Agent:
        kept = await asyncio.to_thread(self.sessions.read, caller.user_id, session_id)
        return Agent(
            model=self.model,
            messages=json.loads(kept) if kept else [],
            system_prompt=self.system_prompt,
            tools=list(self.tools),
            callback_handler=None,  # the default prints what the model says
            hooks=[calls],
            retry_strategy=None,  # boto3 has tried again; who asked may do so later
        )

    async def _stream(
        self, agent: Agent, question: str, caller: Caller, calls: ToolCalls
    ) -> AsyncIterator[str]:
        events = agent.stream_async(
            question,
            invocation_state={
                USER_ID: caller.user_id,
                GROUPS: list(caller.groups),
                SESSION_ID: caller.session_id,
            },
            limits={"turns": TURNS},
            cancel_signal=calls.stop,
        )
        try:
            async for event in events:
                if "data" in event:
                    yield event["data"]
                elif "result" in event:
                    text_of(event["result"], calls)
        except Exception as error:
            raise_anew(error)


def _remembered(messages: Sequence[Message]) -> list[Message]:
    """
    Return the questions and answers, without the tools' results.

    Each turn searches again, since a document may be gone, or no longer be this user's to read.
    """
    kept: list[Message] = []
    for each in messages:
        blocks: list[ContentBlock] = [{"text": text} for text in texts(each) if text.strip()]
        if kept and kept[-1]["role"] == each["role"]:  # a tool was called between
            kept[-1]["content"].extend(blocks)
        elif blocks:
            kept.append({"role": each["role"], "content": blocks})
    return kept


SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
logger = logging.getLogger(__name__)


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prompt: Annotated[str, StringConstraints(pattern=r"\S")]


@dataclass(frozen=True, kw_only=True)
class Process:
    conversation: Conversation
    verifier: TokenVerifier

    def app(self) -> Starlette:
        routes = [
            Route("/invocations", self._invoked, methods=["POST"]),
            Route("/ping", _ping),
        ]
        return Starlette(routes=routes)

    async def _invoked(self, request: Request) -> Response:
        try:
            token = bearer_token(request.headers.getlist("authorization"))
            caller = (await asyncio.to_thread(self.verifier.read, token)).caller
            session_id = request.headers.get(SESSION_HEADER, "")
            if not is_session_id(session_id):
                raise MalformedEvent("the session's id must be 33 to 128 letters, digits, . _ -")
            prompt = _prompt(await request.body())
        except (TokenRefused, MalformedEvent, IssuerUnavailable) as error:
            return _stream([_event(_failure(error))])
        return _stream(self._events(prompt, caller, session_id))

    async def _events(self, prompt: str, caller: Caller, session_id: str) -> AsyncIterator[str]:
        started, outcome = time.perf_counter(), "success"
        try:
            async for piece in self.conversation.answer(prompt, caller, session_id):
                yield _event({"text": piece})
            yield _event({"done": True})
        except StackroomError as error:
            outcome = type(error).__name__
            yield _event(_failure(error))
        except Exception as error:
            outcome = AgentBroke.__name__
            tell_breakage(logger, "the agent broke", error)
            yield _event(_failure(AgentBroke(type(error).__name__)))
        took = round((time.perf_counter() - started) * 1000)
        logger.info("answered", extra={"outcome": outcome, "latency_ms": took})


def _stream(events: AsyncIterator[str] | Iterable[str]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream")


async def _ping(_request: Request) -> Response:
    return JSONResponse({"status": "Healthy"})


def _prompt(body: bytes) -> str:
    try:
        return _Question.model_validate_json(body).prompt
    except NotAQuestion:
        raise MalformedEvent('the body must be {"prompt": text}, and the text not blank') from None


def _failure(error: StackroomError) -> dict[str, object]:
    return {"error": str(error), "errorType": type(error).__name__}


def _event(fields: Mapping[str, object]) -> str:
    return f"data: {json.dumps(encodable(fields), ensure_ascii=False)}\n\n"


# As AgentCore Runtime calls it.
_HOST, _PORT = "0.0.0.0", 8080  # noqa: S104 - inside a microVM that nobody else can reach
_OURS = {"stackroom", "stackroom_agents"}


class InteractiveSettings(DefinitionSettings):
    """
    The settings of an interactive agent: the issuer of its tokens, and where sessions are kept.
    """

    sessions_bucket: str
    identity_issuer: str
    identity_jwks_url: str
    identity_client_ids: JsonList


def interactive_agent(
    environ: Mapping[str, str], *, model_of: Callable[[str], Model] | None = None
) -> Process:
    """
    Return the process, with the prompt and tools read from S3. Raises the errors of `batch_agent`.
    """
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
            keys=published_keys(settings.identity_jwks_url),
            issuer=settings.identity_issuer,
            client_ids=settings.identity_client_ids,
        ),
    )


def serve(
    host: str = _HOST, port: int = _PORT, *, model_of: Callable[[str], Model] | None = None
) -> None:
    """Serve until SIGTERM. Raises the errors of `interactive_agent`, for the runtime's log."""
    for name in _OURS:
        logging.getLogger(name)  # there is none of a package before somebody asks
    copy_config_to_registered_loggers(Logger(), include=_OURS)
    observability.silence_library_loggers()
    app = interactive_agent(os.environ, model_of=model_of).app()
    uvicorn.run(app, host=host, port=port, log_level="warning")


def _model(model_id: str) -> Model:
    return bedrock_model(model_id, streaming=True)


if __name__ == "__main__":  # python -m stackroom_agents.interactive HOST PORT
    serve(sys.argv[1], int(sys.argv[2]))
