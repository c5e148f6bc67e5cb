"""MCP Inspector and the TypeScript SDK, unmodified, signing in at the gateway by themselves."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.gateway import node
from tests.gateway.browser import a_browser, query
from tests.gateway.flow import Flow
from tests.gateway.serving import TOOL, RunningGateway

_LINK = re.compile(r"Please navigate to: (http\S+)")


@pytest.fixture
def terminal() -> Iterator[int]:
    """The Inspector asks a person to sign in only where it has a terminal."""
    ours, theirs = os.openpty()
    yield theirs
    os.close(theirs)
    os.close(ours)


def inspect(gateway: RunningGateway, home: Path, terminal: int, *, user: str) -> dict[str, Any]:
    """
    What the Inspector's command line makes of one call; `links` tells where it sent the person, who
    signs in as `user` each time.
    """
    command = [
        *(str(node.installed() / "node_modules" / ".bin" / "mcp-inspector"), "--cli", gateway.url),
        *("--transport", "http", "--callback-url", "http://127.0.0.1:0/oauth/callback"),
        *("--method", "tools/call", "--tool-name", TOOL, "--tool-arg", "query=hi"),
    ]
    with subprocess.Popen(
        command,
        env=node.environment(home),
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
    return {"links": links, "seen": json.loads(json.loads(answer)["content"][0]["text"])}


def typescript(gateway: RunningGateway, **given: Any) -> dict[str, Any]:
    run = subprocess.run(
        ["node", "typescript-client.mjs"],
        cwd=node.installed(),
        input=json.dumps({"url": gateway.url, "tool": TOOL, **given}),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def headers(seen: dict[str, Any]) -> dict[str, str]:
    return dict(seen["custom"]["bedrockAgentCorePropagatedHeaders"])


def test_the_inspector_signs_in_by_itself_and_stays_signed_in(
    gateway: RunningGateway, tmp_path: Path, terminal: int
) -> None:
    first = inspect(gateway, tmp_path, terminal, user="dave")
    second = inspect(gateway, tmp_path, terminal, user="erin")

    assert len(first["links"]) == 1
    assert second["links"] == []
    assert headers(first["seen"])["x-user-sub"] == "dave"
    assert headers(second["seen"]) == headers(first["seen"])


def test_a_client_of_the_typescript_sdk_knows_by_itself_where_to_send_the_person(
    gateway: RunningGateway,
) -> None:
    told = typescript(gateway)

    assert told["client"]["client_id"] == CLIENT_ID
    assert told["link"].startswith(f"{gateway.base}/issuer/authorize?")
    asked = query(told["link"])
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == gateway.url
    with a_browser() as browser:
        assert "user" in browser.open(told["link"]).fields


def test_a_client_of_the_typescript_sdk_refreshes_an_expired_token_by_itself(
    gateway: RunningGateway,
) -> None:
    tokens = Flow(gateway=gateway).tokens("frank", "staff")
    expired = gateway.issuer.mint("frank", lifetime_seconds=-60)

    told = typescript(
        gateway, client={"client_id": CLIENT_ID}, tokens={**tokens, "access_token": expired}
    )

    assert told["link"] is None
    assert headers(json.loads(told["text"]))["x-user-sub"] == "frank"
    assert headers(json.loads(told["text"]))["x-user-groups"] == "staff"
    assert told["tokens"]["refresh_token"] != tokens["refresh_token"]


def test_of_several_names_of_this_machine_a_client_may_use_any(gateway: RunningGateway) -> None:
    by_name = RunningGateway(
        gateway.base.replace("127.0.0.1", "localhost"), gateway.data_dir, gateway.process
    )

    told = typescript(by_name)

    assert query(told["link"])["resource"] == by_name.url
    with a_browser() as browser:
        assert "user" in browser.open(told["link"]).fields
