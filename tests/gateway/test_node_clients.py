"""MCP Inspector and the TypeScript SDK, unmodified, signing in at the gateway by themselves."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.clients.clients import CLIENTS, NPM
from tests.clients.environments import installed
from tests.gateway.browser import a_browser
from tests.gateway.flow import Flow
from tests.gateway.serving import ROOT, TOOL, RunningGateway

GUIDE = (ROOT / "docs" / "sign-in.md").read_text("utf-8")
_SCRIPT = Path(__file__).with_name("typescript-client.mjs")
_PACKAGE = "@modelcontextprotocol/inspector"
_VERSION = next(client.version for client in CLIENTS if client.package == _PACKAGE)
_LINK = re.compile(r"Please navigate to: (http\S+)")


@pytest.fixture
def terminal() -> Iterator[int]:
    """The Inspector asks a person to sign in only where it has a terminal."""
    ours, theirs = os.openpty()
    yield theirs
    os.close(theirs)
    os.close(ours)


# Any port, so that two may run at once.
_CALLBACK = ("--callback-url", "http://127.0.0.1:0/oauth/callback")
_ECHO = ("--method", "tools/call", "--tool-name", TOOL, "--tool-arg", "query=hi")


def inspect(
    home: Path, terminal: int, *arguments: str, user: str
) -> tuple[list[str], dict[str, Any]]:
    """
    Where the Inspector's command line sent the person, who signs in as `user` each time, and what
    it printed.
    """
    command = [str(installed(NPM.name) / "node_modules" / ".bin" / "mcp-inspector"), *arguments]
    with subprocess.Popen(
        command,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "NO_COLOR": "1",
            "MCP_AUTO_OPEN_ENABLED": "false",
            "MCP_INSPECTOR_SECRET_STORE": "file",  # not the keychain of whoever runs the tests
        },
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as inspector:
        assert inspector.stderr
        assert inspector.stdout
        told, links = [], []
        for line in inspector.stderr:
            told.append(line)
            if found := _LINK.search(line):
                links.append(found[1])
                with a_browser() as browser:
                    back = browser.submit(browser.open(found[1]), user=user)
                    assert browser.http.get(back.headers["location"]).status_code == 200
        answer = inspector.stdout.read()
    assert inspector.returncode == 0, "".join(told) + answer
    return links, json.loads(answer)


def headers(seen: dict[str, Any]) -> dict[str, str]:
    return dict(seen["custom"]["bedrockAgentCorePropagatedHeaders"])


def test_the_inspector_signs_in_by_itself_as_the_guide_has_it_and_stays_signed_in(
    gateway: RunningGateway, tmp_path: Path, terminal: int
) -> None:
    pinned = f"npx --yes {_PACKAGE}@{_VERSION} "
    [line] = re.findall(rf"^{pinned}(--cli .*[^\\\n])$", GUIDE, re.MULTILINE)
    told = shlex.split(line.replace("$STACKROOM_MCP_URL", gateway.url))

    links, listed = inspect(tmp_path, terminal, *told, *_CALLBACK, user="dave")
    no_links, echo = inspect(
        tmp_path, terminal, "--cli", gateway.url, *_CALLBACK, *_ECHO, user="erin"
    )

    assert len(links) == 1
    assert no_links == []
    assert [tool["name"] for tool in listed["tools"]] == [TOOL]
    assert headers(json.loads(echo["content"][0]["text"]))["x-user-sub"] == "dave"


def test_a_client_of_the_typescript_sdk_refreshes_an_expired_token_by_itself(
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
