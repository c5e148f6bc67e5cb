"""Starts the stand-in as a process of its own, the way the local mode does."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from stackroom_local.gateway.gateway_configuration import mcp_urls
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from stackroom_local.processes import free_ports

ROOT = Path(__file__).parents[2]
TOOL = "echo___say_it"
GATEWAY_ARN = "arn:aws:bedrock-agentcore:us-east-1:000000000000:gateway/stackroom-abc1234567"
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class RunningGateway:
    base: str
    data_dir: Path

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @property
    def issuer(self) -> Issuer:
        return Issuer.open(self.data_dir, url=f"{self.base}/issuer")

    @property
    def functions_log(self) -> str:
        return (self.data_dir / "functions.log").read_text()

    def post(
        self, message: Any, *, token: str | None = None, headers: Sequence[tuple[str, str]] = ()
    ) -> httpx2.Response:
        """One request as it is, with nothing that a client library would add or mend."""
        sent = [*ACCEPT.items(), ("Content-Type", "application/json"), *headers]
        if token is not None:
            sent.append(("Authorization", f"Bearer {token}"))
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return httpx2.post(self.url, content=content, headers=sent, timeout=120)

    def call(
        self, arguments: dict[str, Any], *, token: str, headers: Sequence[tuple[str, str]] = ()
    ) -> dict[str, Any]:
        """The result of a raw call of the echo tool."""
        response = self.post(a_call(**arguments), token=token, headers=headers)
        assert response.status_code == 200, response.text
        return dict(response.json()["result"])

    def echo(
        self, *, token: str, headers: Sequence[tuple[str, str]] = (), **arguments: Any
    ) -> dict[str, Any]:
        """Return the echo function's view of a call."""
        result = self.call(arguments, token=token, headers=headers)
        assert not result["isError"], result
        return dict(json.loads(result["content"][0]["text"]))


def a_call(**arguments: Any) -> dict[str, Any]:
    params = {"name": TOOL, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def a_configuration(base: str, **changes: Any) -> dict[str, Any]:
    issuer = f"{base}/issuer"
    return {
        "gateway_id": "stackroom-abc1234567",
        "allowed_client_ids": [CLIENT_ID],
        "issuer_url": issuer,
        "interceptor": "identity-interceptor",
        "targets": [a_target()],
        "policy_engine": an_engine(a_permit()),
        **changes,
    }


def an_engine(*statements: str) -> dict[str, Any]:
    policies = [
        {"policy_id": f"policy_{number}-local00000", "statement": statement}
        for number, statement in enumerate(statements, start=1)
    ]
    return {"gateway_arn": GATEWAY_ARN, "policies": policies}


def a_permit(tool: str = TOOL, when: str = 'principal.hasTag("username")') -> str:
    return f"permit({_scope(tool)}) when {{ {when} }};"


def a_prohibition(tool: str = TOOL, *, when: str) -> str:
    return f"forbid({_scope(tool)}) when {{ {when} }};"


def _scope(tool: str) -> str:
    return (
        f'principal is AgentCore::OAuthUser, action == AgentCore::Action::"{tool}", '
        f'resource == AgentCore::Gateway::"{GATEWAY_ARN}"'
    )


def a_target(name: str = "echo") -> dict[str, Any]:
    properties = {
        "query": {"type": "string", "description": "what to echo"},
        "times": {"type": "integer", "description": "how often"},
        "volume": {"type": "number", "description": "how loud"},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return {
        "name": name,
        "target_id": "TGT1234567",
        "allowed_request_headers": ["x-user-sub", "x-user-groups", "x-session-id"],
        "function": name,
        "tools": [{"name": "say_it", "description": "Echoes", "inputSchema": schema}],
    }


@contextmanager
def serving(data_dir: Path, *, origins: str = "", **changes: Any) -> Iterator[RunningGateway]:
    """`origins`: of pages that may call it, with spaces between; `changes` to its configuration."""
    port = free_ports(2)
    base, functions = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"
    data_dir.mkdir(parents=True, exist_ok=True)
    configuration = data_dir / "configuration.json"
    configuration.write_text(json.dumps(a_configuration(base, **changes)))
    arguments = [f"--port={port}", f"--config={configuration}", f"--data-dir={data_dir}"]
    arguments.append(f"--allow-origins={origins}")
    with ExitStack() as started:
        lambda_ = [sys.executable, "-m", "tests.gateway.functions_endpoint", str(port + 1)]
        variables = {**os.environ, "PYTHONUNBUFFERED": "1", **_identity(f"{base}/issuer")}
        started.enter_context(_running(lambda_, variables, data_dir / "functions.log"))
        command = [sys.executable, "-m", "stackroom_local.gateway", *arguments]
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")
        aws = {"AWS_ENDPOINT_URL": functions, "AWS_DEFAULT_REGION": "us-east-1", **keys}
        log = data_dir / "gateway.log"
        process = started.enter_context(_running(command, {**os.environ, **aws}, log))
        _await_start(base, process, log)
        yield RunningGateway(base, data_dir)


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], log: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=120)


def _identity(issuer: str) -> dict[str, str]:
    """The variables of the interceptor."""
    return {
        "IDENTITY_ISSUER": issuer,
        "IDENTITY_JWKS_URL": f"{issuer}/.well-known/jwks.json",
        "IDENTITY_CLIENT_IDS": json.dumps([CLIENT_ID]),
        "IDENTITY_AUDIENCES": json.dumps(mcp_urls(urlsplit(issuer).port or 0)),
    }


def _await_start(base: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            httpx2.get(f"{base}/issuer/.well-known/openid-configuration").raise_for_status()
        except httpx2.HTTPError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the gateway did not start: {log.read_text()}")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)
