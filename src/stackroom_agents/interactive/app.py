"""
The process of an interactive agent, as AgentCore Runtime calls it: HTTP on port 8080.

    POST /invocations    {"prompt": "..."}, answered by server-sent events
    GET  /ping           {"status": "Healthy"}

    data: {"text": "Probation lasts "}
    data: {"text": "four months."}
    data: {"done": true}     or, where it ends otherwise:  {"error": "...", "errorType": "..."}

https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-http-protocol-contract.html

The runtime's authorizer has checked the token, and hands it on where its header is allowed. It
checks no `token_use`, and whether there is a user, so the token is verified here as the gateway's
interceptor does it (stackroom.gateway.tokens), and nothing else says who asks.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-header-allowlist.html
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import ValidationError as NotAQuestion
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from stackroom.errors import (
    AgentBroke,
    IssuerUnavailable,
    MalformedEvent,
    StackroomError,
    TokenRefused,
)
from stackroom.gateway.plain_text import encodable
from stackroom.gateway.tokens import TokenVerifier, bearer_token
from stackroom.identity import Caller, is_session_id
from stackroom_agents.interactive.conversation import Conversation
from stackroom_agents.observability import tell_breakage

SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
_STATUS: Mapping[type[StackroomError], int] = {
    TokenRefused: 401,
    MalformedEvent: 400,
    IssuerUnavailable: 503,
}
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
            caller = await asyncio.to_thread(self.verifier.verify, token)
            session_id = request.headers.get(SESSION_HEADER, "")
            if not is_session_id(session_id):
                raise MalformedEvent("the session's id must be 33 to 128 letters, digits, . _ -")
            prompt = _prompt(await request.body())
        except (TokenRefused, MalformedEvent, IssuerUnavailable) as error:
            return JSONResponse(_failure(error), _STATUS[type(error)])
        events = self._events(prompt, caller, session_id)
        return StreamingResponse(events, media_type="text/event-stream")

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


async def _ping(_request: Request) -> Response:
    return JSONResponse({"status": "Healthy"})


def _prompt(body: bytes) -> str:
    try:
        return _Question.model_validate_json(body).prompt
    except NotAQuestion:
        raise MalformedEvent('the body must be {"prompt": text}, and the text not blank') from None


def _failure(error: StackroomError) -> dict[str, object]:
    return {"error": str(error), "errorType": type(error).__name__}


def _event(told: Mapping[str, object]) -> str:
    return f"data: {json.dumps(encodable(told), ensure_ascii=False)}\n\n"
