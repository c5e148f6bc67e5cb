"""mcp-remote and the TypeScript SDK, unmodified, signing in at the gateway by themselves."""

import asyncio
import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.clients.clients import NPM
from tests.clients.environments import installed
from tests.gateway.browser import a_browser
from tests.gateway.flow import Flow
from tests.gateway.serving import TOOL, RunningGateway, a_call, serving, wait_until

_SCRIPT = Path(__file__).with_name("typescript-client.mjs")
_REMOTE_LINK = re.compile(r"^http\S+/authorize\?\S+", re.MULTILINE)


def through_mcp_remote(
    gateway: RunningGateway, home: Path, *arguments: str, user: str
) -> tuple[int, list[str], list[str]]:
    """
    How often mcp-remote sent the person to sign in, the tools that it listed, and who asked: once,
    and once more when the access token of the first call had expired.
    """
    links = []
    reading, writing = os.pipe()
    with os.fdopen(reading) as printed, os.fdopen(writing, "w") as log:

        def follow() -> None:
            for line in printed:
                if found := _REMOTE_LINK.search(line):
                    links.append(found[0])
                    with a_browser() as browser:
                        back = browser.submit(browser.open(found[0]), user=user)
                        assert browser.http.get(back.headers["location"]).status_code == 200

        person = threading.Thread(target=follow)
        person.start()
        command = installed(NPM.name) / "node_modules" / ".bin" / "mcp-remote"
        server = StdioServerParameters(
            command=str(command),
            args=[gateway.url, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(home), "BROWSER": "true"},
        )

        async def called() -> tuple[list[str], list[str]]:
            async with Client(stdio_client(server, log)) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
                first = await client.call_tool(TOOL, {"query": "hi"})
                await asyncio.to_thread(wait_until, lambda: is_refused(gateway, home))
                answers: list[Any] = [first, await client.call_tool(TOOL, {"query": "hi"})]
                seen = [json.loads(answer.content[0].text) for answer in answers]
                return tools, [headers(each)["x-user-sub"] for each in seen]

        try:
            tools, users = asyncio.run(called())
        finally:
            log.close()
            person.join()
    return len(links), tools, users


def kept_by_mcp_remote(home: Path) -> dict[str, Any]:
    [path] = home.rglob("*_tokens.json")
    return dict(json.loads(path.read_text("utf-8")))


def is_refused(gateway: RunningGateway, home: Path) -> bool:
    token = kept_by_mcp_remote(home)["access_token"]
    return gateway.post(a_call(query="hi"), token=token).status_code == 401


def headers(seen: dict[str, Any]) -> dict[str, str]:
    return dict(seen["custom"]["bedrockAgentCorePropagatedHeaders"])


@pytest.mark.processes
def test_mcp_remote_signs_in_by_itself_and_refreshes_what_has_expired(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(tmp_path / "gateway", access_token_seconds=2) as gateway:
        signed_in = through_mcp_remote(gateway, home, user="dave")
        token = kept_by_mcp_remote(home)["refresh_token"]
        again = through_mcp_remote(gateway, home, user="erin")

    assert signed_in == (1, [TOOL], ["dave", "dave"])
    assert again == (0, [TOOL], ["dave", "dave"])
    assert kept_by_mcp_remote(home)["refresh_token"] != token


def test_typescript_sdk_client_refreshes_an_expired_token_by_itself(
    gateway: RunningGateway,
) -> None:
    tokens = Flow(gateway=gateway).tokens("frank", "staff")
    expired = gateway.issuer.mint("frank", lifetime_seconds=-60)
    given = {"url": gateway.url, "tool": TOOL, "client": {"client_id": CLIENT_ID}}

    run = subprocess.run(
        ["node", "--input-type=module", "--eval", _SCRIPT.read_text("utf-8")],
        cwd=installed(NPM.name),  # where it finds what it imports
        input=json.dumps({**given, "tokens": {**tokens, "access_token": expired}}),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    seen = headers(json.loads(told["text"]))
    assert (seen["x-user-sub"], seen["x-user-groups"]) == ("frank", "staff")
    assert told["tokens"]["refresh_token"] != tokens["refresh_token"]
