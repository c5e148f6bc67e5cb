"""
The stand-in for AgentCore Runtime, which runs `InteractiveAgent`s.

It adds `AWS::BedrockAgentCore::Runtime` to CloudFormation, and answers InvokeAgentRuntime in front
of ministack:

    POST /runtimes/{ARN, encoded}/invocations    Authorization: Bearer ..., the session's id

stackroom_local.ministack.agent_invocations answers. It is imported at the first question, because
that takes half a second, which a start of the local mode should not wait for.
"""

import json
import re
import secrets
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from bedrock_kb_simulator.access_keys import write_private
from stackroom_local.state import ACCOUNT, REGION

if TYPE_CHECKING:
    from stackroom_local.ministack.agent_invocations import Invocations

TYPE = "AWS::BedrockAgentCore::Runtime"
_ENTRY_POINT = "stackroom_interactive_agent.py"  # of an InteractiveAgent, and nobody else's
_INVOKED = re.compile(r"/runtimes/(?:arn:[^/]+:runtime/)?(?P<id>[\w-]+)/invocations")


class Runtimes:
    """An ASGI application. It accepts tokens of `issuer_url`, whose key is below `state`."""

    def __init__(self, app: ASGIApp, state: Path, issuer_url: str) -> None:
        self._app = app
        self._state = state
        self._issuer_url = issuer_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = None
        if scope["type"] == "http" and scope["method"] == "POST":  # a PUT may be of an object
            match = _INVOKED.fullmatch(scope["path"])
        if match is None:
            await self._app(scope, receive, send)
            return
        response = await self._invocations.answer(match["id"], Request(scope, receive))
        await response(scope, receive, send)

    def forget(self, id_: str) -> None:
        """Delete a runtime: its process ends, and its log stays, as in AWS."""
        for kind in ("json", "config"):
            (folder_in(self._state) / f"{id_}.{kind}").unlink(missing_ok=True)
        if "_invocations" in self.__dict__:  # somebody has asked
            self._invocations.forget(id_)

    @cached_property
    def _invocations(self) -> "Invocations":
        # Imported here, as said above.
        from stackroom_local.ministack.agent_invocations import Invocations  # noqa: PLC0415

        return Invocations.of(self._state, folder_in(self._state), self._issuer_url)


def folder_in(state: Path) -> Path:
    return state / "runtimes"


def install(state: Path, runtimes: Runtimes) -> None:
    from ministack.services.cloudformation import provisioners  # noqa: PLC0415 - ministack's alone

    folder = folder_in(state)
    folder.mkdir(exist_ok=True)

    def put(id_: str, properties: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        artifact = properties.get("AgentRuntimeArtifact", {})
        entry = artifact.get("CodeConfiguration", {}).get("EntryPoint")
        if entry != [_ENTRY_POINT]:
            raise ValueError(f"{TYPE}: InteractiveAgents alone are run here, not {artifact}")
        write_private(folder / f"{id_}.json", json.dumps(properties).encode())
        arn = f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT}:runtime/{id_}"
        return id_, {"AgentRuntimeId": id_, "AgentRuntimeArn": arn, "Status": "READY"}

    def create(_id: str, properties: dict[str, Any], _stack: str) -> tuple[str, dict[str, str]]:
        return put(f"{properties['AgentRuntimeName']}-{secrets.token_hex(5)}", properties)

    def delete(physical_id: str, _properties: dict[str, Any]) -> None:
        runtimes.forget(physical_id)

    provisioners._RESOURCE_HANDLERS[TYPE] = {
        "create": create,
        "update": lambda physical_id, _old, new, _stack: put(physical_id, new),
        "delete": delete,
    }
