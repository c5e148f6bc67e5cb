"""
InvokeAgentRuntime in the local mode (stackroom_local.ministack.agent_runtimes).

The gateway stand-in's authorizer checks the token, with the local issuer in Cognito's place. The
agent's process is started at the first question, from this project and with the runtime's role, and
answers unbuffered. One process serves all sessions, where AWS has a microVM for each, so only the
agent's own code keeps them apart here.

https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-http-protocol-contract.html
"""

import asyncio
import json
import logging
import os
import runpy
import subprocess
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from bedrock_kb_simulator.access_keys import RootKey, write_private
from stackroom_local.gateway.authorizer import Authorizer, Unauthorized
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from stackroom_local.processes import HOST, free_ports
from stackroom_local.state import REGION

_SESSION = "x-amzn-bedrock-agentcore-runtime-session-id"
# 33 to 256 characters [SessionType in the API model of bedrock-agentcore].
_SESSIONS = range(33, 257)
# "Please make sure that initialization completes in 30s", says the 424 of a runtime that doesn't:
# https://github.com/awslabs/fullstack-solution-template-for-agentcore/issues/93
_START_SECONDS = 30.0
_ALWAYS = ("content-type", "accept", _SESSION)  # what reaches a process unasked
_NOT_INHERITED = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class InvocationRefused(Exception):
    """A refusal of the runtime's own, in the JSON of AWS's errors."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.response = JSONResponse({"message": message}, status, headers)


@dataclass
class Runtime:
    """A runtime's process, from the first question on."""

    id: str
    properties: Mapping[str, Any]
    folder: Path
    issuer: Issuer
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    process: "subprocess.Popen[bytes] | None" = None
    url: str = ""

    async def address(self) -> str:
        """
        Return the address of its process, which it starts. Raises InvocationRefused if it doesn't
        start.
        """
        async with self.lock:
            if self.process is None or self.process.poll() is not None:
                self._start()
                await self._answering()
            return self.url

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def headers(self, request: Request, session: str) -> dict[str, str]:
        configured = self.properties.get("RequestHeaderConfiguration", {})
        allowed = [each.lower() for each in configured.get("RequestHeaderAllowlist", ())]
        sent = {name: request.headers[name] for name in request.headers}
        return {name: sent[name] for name in (*_ALWAYS, *allowed) if name in sent} | {
            _SESSION: session
        }

    def _start(self) -> None:
        port = free_ports(1)
        self.url = f"http://{HOST}:{port}"
        with (self.folder / f"{self.id}.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "stackroom_local.ministack.agent_invocations",
                    HOST,
                    str(port),
                ],
                env=self._environment(),
                stdin=subprocess.PIPE,  # ends it when we die, which closes this
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _environment(self) -> dict[str, str]:
        key = RootKey.of_environment()
        config = self.folder / f"{self.id}.config"
        profiles = (
            f"[profile local]\naws_access_key_id = {key.access_key_id}\n"
            f"aws_secret_access_key = {key.secret_access_key}\nregion = {REGION}\n"
            f"[profile runtime]\nrole_arn = {self.properties['RoleArn']}\nsource_profile = local\n"
        )
        write_private(config, profiles.encode())
        inherited = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
        return {
            **inherited,
            **self.properties.get("EnvironmentVariables", {}),
            "AWS_CONFIG_FILE": str(config),
            "AWS_PROFILE": "runtime",
            "IDENTITY_ISSUER": self.issuer.url,
            "IDENTITY_JWKS_URL": f"{self.issuer.url}/.well-known/jwks.json",
            "IDENTITY_CLIENT_IDS": json.dumps([CLIENT_ID]),
        }

    async def _answering(self) -> None:
        assert self.process is not None, "it was started"
        async with httpx.AsyncClient() as client:
            with suppress(TimeoutError):
                async with asyncio.timeout(_START_SECONDS):
                    while self.process.poll() is None:
                        with suppress(httpx.TransportError):
                            if (await client.get(f"{self.url}/ping")).is_success:
                                return
                        await asyncio.sleep(0.05)
        self.stop()
        raise InvocationRefused(424, f"the agent didn't start, see {self.folder}/{self.id}.log")


@dataclass(kw_only=True)
class Invocations:
    """Invocations of agents. `folder` has what was deployed, by each runtime's id."""

    folder: Path
    issuer: Issuer
    authorizer: Authorizer
    client: httpx.AsyncClient
    runtimes: dict[str, Runtime] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Path, folder: Path, issuer_url: str) -> Self:
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of each request
        issuer = Issuer.open(state / "gateway", url=issuer_url)
        return cls(
            folder=folder,
            issuer=issuer,
            authorizer=Authorizer(issuer=issuer, allowed_client_ids=[CLIENT_ID]),
            client=httpx.AsyncClient(timeout=None),  # noqa: S113 - a model takes its time
        )

    async def answer(self, id_: str, request: Request) -> Response:
        try:
            return await self._answer(id_, request)
        except InvocationRefused as refused:
            return refused.response

    def forget(self, id_: str) -> None:
        if (known := self.runtimes.pop(id_, None)) is not None:
            known.stop()

    async def _answer(self, id_: str, request: Request) -> Response:
        try:
            self.authorizer.check(request.headers)
        except Unauthorized as error:  # 401 of a runtime also where a gateway answers 403
            raise InvocationRefused(401, str(error), **{"WWW-Authenticate": "Bearer"}) from error
        session = request.headers.get(_SESSION, str(uuid.uuid4()))
        if len(session) not in _SESSIONS:
            raise InvocationRefused(400, "runtimeSessionId: must have 33 to 256 characters")
        runtime = self._runtime(id_)
        forwarded = self.client.build_request(
            "POST",
            f"{await runtime.address()}/invocations",
            headers=runtime.headers(request, session),
            content=await request.body(),
        )
        try:
            answer = await self.client.send(forwarded, stream=True)
        except httpx.TransportError as error:  # it died over the question, or before it
            problem = f"the agent broke off, see {self.folder}/{id_}.log"
            raise InvocationRefused(424, problem) from error
        if not answer.is_success:
            # The runtime answers 424 and drops the body of every status but 2xx
            # [Boise-State-Development/agentcore-public-stack, PR 1009].
            await answer.aclose()
            problem = f"the agent answered {answer.status_code}, see {self.folder}/{id_}.log"
            raise InvocationRefused(424, problem)

        async def passed_on() -> AsyncIterator[bytes]:
            try:
                async for chunk in answer.aiter_raw():
                    yield chunk
            finally:
                await answer.aclose()

        headers = {"content-type": answer.headers["content-type"], _SESSION: session}
        return StreamingResponse(passed_on(), answer.status_code, headers)

    def _runtime(self, id_: str) -> Runtime:
        try:
            properties = json.loads((self.folder / f"{id_}.json").read_bytes())
        except OSError:  # there is none, or none could be called so
            raise InvocationRefused(404, f"no agent runtime {id_!r}") from None
        known = self.runtimes.get(id_)
        if known is None or known.properties != properties:  # it was deployed anew
            if known is not None:
                known.stop()
            known = Runtime(id_, properties, self.folder, self.issuer)
            self.runtimes[id_] = known
        return known


def _exit_with_parent() -> None:
    while os.read(0, 1):  # not by sys.stdin, which a thread that waits holds until the very end
        pass
    os._exit(0)


if __name__ == "__main__":  # the agent's process, which knows nothing of the local mode
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    runpy.run_module("stackroom_agents.interactive", run_name="__main__")
